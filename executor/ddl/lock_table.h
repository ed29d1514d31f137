// LOCK TABLE.
// Thread safety: immutable.
#pragma once

#include "executor/utility_command.h"

namespace pgsilo {

std::unique_ptr<const UtilityCommand> make_lock_table(
    const std::shared_ptr<const PlannedStatement>& planned);

}  // namespace pgsilo
