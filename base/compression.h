// lz4 in its block format: the compression of everything on disk. The compressed bytes say neither
// their length nor that of what they hold; whoever stores them does, and checks them by a checksum.
// Thread safety: plain functions; a Compressor belongs to one thread at a time. No allocation but
// in the constructor.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace pgsilo {

// Longer inputs are not compressed.
inline constexpr size_t max_compress_bytes = 0x7E000000;

class Compressor {
 public:
  // Throws std::bad_alloc: 16 KiB of working memory.
  Compressor();
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // Compresses `raw` into `to`, which must not overlap it. The bytes written, or 0: they would not
  // have fit into `to` (or there are too many). What is behind them in `to` is undefined. Giving up
  // early is cheap: `to` may be as short as what is worth the trouble.
  size_t compress(std::string_view raw, std::span<char> to);

 private:
  struct AlignedDelete {
    void operator()(char* bytes) const;
  };
  std::unique_ptr<char[], AlignedDelete> state_;
};

// Fills `raw` with what `compressed` holds, which is exactly raw.size() bytes. False: it is
// damaged, or holds more or fewer bytes; then `raw` is undefined. Reads and writes nothing outside
// of both, whatever the bytes are.
bool decompress(std::string_view compressed, std::span<char> raw);

}  // namespace pgsilo
