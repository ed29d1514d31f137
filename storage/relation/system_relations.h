// Which relations are the catalog's own. Recovery restores them first: their rows name the others
// that there are. Thread safety: constants.
#pragma once

#include "base/strong_id.h"

namespace pgsilo {

// As PostgreSQL's FirstNormalObjectId. Part of the format on disk.
inline constexpr RelationId first_user_relation(16384);

constexpr bool is_system_relation(RelationId id) {
  return id.value() < first_user_relation.value();
}

}  // namespace pgsilo
