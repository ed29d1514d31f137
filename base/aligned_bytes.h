// Memory for direct I/O, at multiples of file_block_bytes. Where it is large it lies in huge pages
// if the kernel has some: the device is then told of few pieces instead of one for each 4096 bytes,
// and the kernel holds on to as many fewer pages for each read or write.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "base/file.h"

namespace pgsilo {

inline constexpr size_t huge_page_bytes = size_t{2} << 20;

struct AlignedDelete {
  std::align_val_t alignment{file_block_bytes};
  void operator()(char* bytes) const { ::operator delete[](bytes, alignment); }
};
using AlignedBytes = std::unique_ptr<char[], AlignedDelete>;

// Throws std::bad_alloc.
AlignedBytes allocate_aligned(size_t bytes);

}  // namespace pgsilo
