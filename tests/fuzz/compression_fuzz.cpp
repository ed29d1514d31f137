// Compressed bytes from damaged disks: nothing outside is read or written, and what was compressed
// comes back as it was.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "base/compression.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  // As damage: the first two bytes choose the size that is expected.
  std::vector<char> raw(data[0] + size_t{256} * data[1]);
  static_cast<void>(pgsilo::decompress(bytes, raw));

  static pgsilo::Compressor compressor;
  std::vector<char> packed(bytes.size() + bytes.size() / 200 + 16);
  size_t packed_bytes = compressor.compress(bytes, packed);
  if (packed_bytes == 0) std::abort();
  std::vector<char> back(bytes.size());
  if (!pgsilo::decompress(std::string_view(packed.data(), packed_bytes), back)) std::abort();
  if (std::string_view(back.data(), back.size()) != bytes) std::abort();
  // A shorter room is kept to.
  std::vector<char> less(packed_bytes - 1);
  if (compressor.compress(bytes, less) != 0) std::abort();
  return 0;
}
