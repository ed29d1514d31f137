// Blocks and records of the log from damaged disks: what is not whole is refused, nothing outside
// the bytes is read.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wal/log/log_format.h"

namespace {

void walk_records(std::string_view bytes) {
  while (auto header = pgsilo::peek_record(bytes)) {
    if (header->bytes == 0 || header->bytes > bytes.size()) return;
    pgsilo::RecordReader reader(bytes.substr(0, header->bytes));
    size_t seen = 0;
    for (pgsilo::RedoEntry entry; reader.next(&entry);) {
      // Touches every byte that the entry claims.
      for (char byte : entry.key) seen += static_cast<unsigned char>(byte);
      for (char byte : entry.row) seen += static_cast<unsigned char>(byte);
    }
    if (seen == SIZE_MAX) return;
    bytes.remove_prefix(header->bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  walk_records(bytes);
  pgsilo::BlockPlace place{};
  if (auto block = pgsilo::open_block(bytes, place)) walk_records(block->payload);
  pgsilo::parse_segment_name(bytes);
  return 0;
}
