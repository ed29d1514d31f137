// Blocks and records of the log from damaged disks: what is not whole is refused, nothing outside
// the bytes is read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "wal/layout/log_format.h"
#include "wal/log/block_payload.h"

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

pgsilo::PayloadReader payload_reader;

// Blocks whose checksum is right but that no writer made: the bytes claim to be a compressed
// payload, or anything else.
void open_claimed(std::string_view stored) {
  using pgsilo::log_format::block_header_bytes;
  std::string block(pgsilo::log_format::round_up(block_header_bytes + stored.size()), '\0');
  std::memcpy(block.data() + block_header_bytes, stored.data(), stored.size());
  pgsilo::BlockPlace place{};
  pgsilo::BlockHeader header;
  header.compression = pgsilo::BlockCompression::lz4;
  pgsilo::seal_block(block.data(), place, header, stored.size(), nullptr);
  auto opened = pgsilo::open_block(block, place);
  if (!opened) return;
  if (auto payload = payload_reader.read(*opened)) walk_records(*payload);
}

// What is compressed comes back.
void pack_and_read(std::string_view payload) {
  static pgsilo::PayloadPacker packer(pgsilo::log_format::max_block_bytes(SIZE_MAX));
  if (payload.size() > pgsilo::log_format::max_payload_bytes(SIZE_MAX)) return;
  size_t stored = packer.pack(payload, 0);
  if (stored == 0) return;
  pgsilo::BlockPlace place{};
  pgsilo::BlockHeader header;
  header.compression = pgsilo::BlockCompression::lz4;
  size_t bytes = pgsilo::seal_block(packer.block(), place, header, stored, nullptr);
  auto opened = pgsilo::open_block({packer.block(), bytes}, place);
  if (!opened || payload_reader.read(*opened) != payload) std::abort();
}

// No fuzzer guesses a checksum: the payload in a block that is sealed here comes back as it was,
// and not after one of its bytes has changed.
void seal_and_open(std::string_view payload) {
  using pgsilo::log_format::block_header_bytes;
  std::string block(pgsilo::log_format::round_up(block_header_bytes + payload.size()), '\0');
  std::memcpy(block.data() + block_header_bytes, payload.data(), payload.size());
  pgsilo::BlockPlace place{};
  pgsilo::BlockHeader header;
  size_t bytes = pgsilo::seal_block(block.data(), place, header, payload.size(), nullptr);
  if (bytes != block.size()) std::abort();
  auto opened = pgsilo::open_block(block, place);
  if (!opened || opened->stored != payload) std::abort();
  walk_records(opened->stored);
  size_t content = block_header_bytes + payload.size();  // the rest is padding, which says nothing
  size_t at = payload.empty() ? 0 : static_cast<unsigned char>(payload[0]) * size_t{251} % content;
  block[at] = static_cast<char>(block[at] ^ 0x10);
  if (pgsilo::open_block(block, place)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  walk_records(bytes);
  pgsilo::BlockPlace place{};
  if (auto block = pgsilo::open_block(bytes, place)) walk_records(block->stored);
  seal_and_open(bytes);
  open_claimed(bytes);
  pack_and_read(bytes);
  pgsilo::parse_segment_name(bytes);
  return 0;
}
