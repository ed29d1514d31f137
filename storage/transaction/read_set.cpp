#include "storage/transaction/read_set.h"

namespace pgsilo {

void ReadSet::clear() {
  constexpr size_t ordinary = 4096;
  entries_.clear();
  kinds_ = 0;
  if (entries_.capacity() > ordinary) [[unlikely]]
    free_memory(entries_);
}

}  // namespace pgsilo
