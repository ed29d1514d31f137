// Which relations a pass of recovery restores. The catalog's own come first; their rows name the
// others that there are, and what was dropped since, or never committed, takes no memory then.
// Thread safety: const after construction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "storage/relation/system_relations.h"
#include "wal/recovery/recovery_result.h"

namespace pgsilo {

class RestoredRelations {
 public:
  enum class Pass : uint8_t { system, user };

  static RestoredRelations of_system() { return RestoredRelations(Pass::system); }
  // After the system relations.
  static RestoredRelations of_users(const LiveRelations& live) {
    RestoredRelations relations(Pass::user);
    relations.all_ = !live;
    if (live) relations.live_ = live();
    return relations;
  }

  Pass pass() const { return pass_; }
  // Whether the pass is concerned with it, be it restored or left out.
  bool covers(RelationId id) const { return is_system_relation(id) == (pass_ == Pass::system); }
  bool contains(RelationId id) const {
    if (!covers(id)) return false;
    return pass_ == Pass::system || all_ || std::binary_search(live_.begin(), live_.end(), id);
  }

 private:
  explicit RestoredRelations(Pass pass) : pass_(pass) {}

  Pass pass_;
  bool all_ = true;
  std::vector<RelationId> live_;
};

}  // namespace pgsilo
