// What a client is told when the server's memory is used up (base/memory_budget.h). Thread safety:
// the thread whose budget it is about.
#pragma once

#include <cstddef>

#include "base/memory_budget.h"
#include "sql/sql_error.h"

namespace pgsilo {

// 53200, with memory_limit as the reason.
SqlError memory_limit_error(MemoryPurpose purpose = MemoryPurpose::growth);
// Throws it unless `bytes` more may be allocated.
inline void require_memory(size_t bytes, MemoryPurpose purpose = MemoryPurpose::growth) {
  if (!memory_admits(bytes, purpose)) [[unlikely]]
    throw memory_limit_error(purpose);
}

}  // namespace pgsilo
