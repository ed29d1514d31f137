// Memory for direct I/O, at multiples of file_block_bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "base/file.h"

namespace pgsilo {

struct AlignedDelete {
  void operator()(char* bytes) const {
    ::operator delete[](bytes, std::align_val_t{file_block_bytes});
  }
};
using AlignedBytes = std::unique_ptr<char[], AlignedDelete>;

// Throws std::bad_alloc.
inline AlignedBytes allocate_aligned(size_t bytes) {
  return AlignedBytes(
      static_cast<char*>(::operator new[](bytes, std::align_val_t{file_block_bytes})));
}

}  // namespace pgsilo
