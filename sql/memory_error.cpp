#include "sql/memory_error.h"

namespace pgsilo {

SqlError memory_limit_error(MemoryPurpose purpose) {
  SqlError error(sqlstate::out_of_memory, "out of memory");
  if (const MemoryBudget* budget = MemoryBudget::current()) {
    const MemoryCeiling& ceiling = budget->ceiling();
    error.amend().detail =
        concat("The server uses ", ceiling.last_used_bytes() >> 20,
               " MB of memory; memory_limit is ", ceiling.limit_bytes() >> 20, " MB.");
    error.amend().hint = purpose == MemoryPurpose::growth
                             ? "DELETE, TRUNCATE and DROP give memory back."
                             : "Read or change fewer rows in one transaction, or use TRUNCATE.";
  }
  return error;
}

}  // namespace pgsilo
