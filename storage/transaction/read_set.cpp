#include "storage/transaction/read_set.h"

namespace pgsilo {

void ReadSet::clear() {
  constexpr size_t ordinary = 4096;
  if (entries_.capacity() > ordinary) entries_ = {};
  entries_.clear();
  kinds_ = 0;
}

}  // namespace pgsilo
