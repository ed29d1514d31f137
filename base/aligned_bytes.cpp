#include "base/aligned_bytes.h"

#include <sys/mman.h>

namespace pgsilo {

AlignedBytes allocate_aligned(size_t bytes) {
  bool huge = bytes >= huge_page_bytes;
  AlignedDelete release{std::align_val_t{huge ? huge_page_bytes : file_block_bytes}};
  AlignedBytes memory(static_cast<char*>(::operator new[](bytes, release.alignment)), release);
  // Advice: a kernel that does not follow it costs time only.
  if (huge)
    static_cast<void>(::madvise(memory.get(), bytes & ~(huge_page_bytes - 1), MADV_HUGEPAGE));
  return memory;
}

}  // namespace pgsilo
