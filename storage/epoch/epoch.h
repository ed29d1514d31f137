// An epoch: the unit of group commit and of recovery (Silo section 4.1). Epoch 0 is before
// everything: no transaction commits in it, and it is complete and durable by definition.
#pragma once

#include <cstdint>

#include "base/strong_id.h"

namespace pgsilo {

using Epoch = StrongId<struct EpochTag, uint64_t>;

constexpr Epoch next(Epoch epoch) { return Epoch(epoch.value() + 1); }

}  // namespace pgsilo
