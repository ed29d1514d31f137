// pgsilo-dump-log over files of any bytes, and over whole blocks with any payload and any header:
// it goes over what is not whole and reads nothing outside of it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/file_simulated.h"
#include "wal/layout/log_format.h"
#include "wal/tool/log_dump.h"

namespace {

using namespace pgsilo;

// No fuzzer guesses a checksum. The first bytes say which piece of what the payload is.
std::string sealed(std::string_view bytes, const BlockPlace& place) {
  BlockHeader header;
  if (bytes.size() > 2 && bytes[0] % 2 != 0) {
    header.kind = BlockKind::piece;
    header.piece_offset = static_cast<unsigned char>(bytes[1]);
    header.piece_total = header.piece_offset + bytes.size() - static_cast<size_t>(bytes[2] & 1);
  }
  if (bytes.size() > 2 && bytes[0] % 4 >= 2) header.compression = BlockCompression::lz4;
  bytes.remove_prefix(std::min<size_t>(bytes.size(), 3));
  std::string block(log_format::round_up(log_format::block_header_bytes + bytes.size()), '\0');
  std::copy(bytes.begin(), bytes.end(), block.data() + log_format::block_header_bytes);
  seal_block(block.data(), place, header, bytes.size(), nullptr);
  return block;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static std::FILE* const out = std::fopen("/dev/null", "w");
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  size_t half = bytes.size() / 2;
  std::string content = sealed(bytes.substr(0, half), {.log = {}, .segment = 0, .offset = 0});
  content += sealed(bytes.substr(half), {.log = {}, .segment = 0, .offset = content.size()});
  content += bytes;
  content.resize(log_format::round_up(content.size()));
  SimulatedFileSystem disk(1);
  const std::string path = "/0000000000000000.segment";
  if (!replace_file(disk, path, content).ok()) std::abort();
  LogDump dump(disk, {.blocks = true}, out);
  if (!dump.dump_file(path).ok()) std::abort();
  dump.finish();
  return 0;
}
