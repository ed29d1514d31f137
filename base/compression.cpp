#include "base/compression.h"

#include <lz4.h>

#include <algorithm>
#include <new>

namespace pgsilo {
namespace {

constexpr std::align_val_t state_alignment{64};

}  // namespace

static_assert(max_compress_bytes == LZ4_MAX_INPUT_SIZE);

Compressor::Compressor()
    : state_(static_cast<char*>(
          ::operator new[](static_cast<size_t>(LZ4_sizeofState()), state_alignment))) {}

Compressor::~Compressor() = default;

void Compressor::AlignedDelete::operator()(char* bytes) const {
  ::operator delete[](bytes, state_alignment);
}

size_t Compressor::compress(std::string_view raw, std::span<char> to) {
  if (raw.size() > max_compress_bytes) return 0;
  constexpr int acceleration = 1;
  int room = static_cast<int>(std::min(to.size(), max_compress_bytes));
  int bytes = LZ4_compress_fast_extState(state_.get(), raw.data(), to.data(),
                                         static_cast<int>(raw.size()), room, acceleration);
  return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

bool decompress(std::string_view compressed, std::span<char> raw) {
  if (compressed.size() > max_compress_bytes || raw.size() > max_compress_bytes) return false;
  int bytes =
      LZ4_decompress_safe(compressed.data(), raw.data(), static_cast<int>(compressed.size()),
                          static_cast<int>(raw.size()));
  return bytes >= 0 && static_cast<size_t>(bytes) == raw.size();
}

}  // namespace pgsilo
