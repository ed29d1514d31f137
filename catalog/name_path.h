// Where a session looks for names without a schema. What they mean depends on this and on the
// version of the catalog, and on nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sql/types/type_oid.h"

namespace pgsilo {

struct NamePath {
  // Whether the path names the session's temporary schema; if not, that is searched first.
  enum class TemporaryPlace : uint8_t { implicit, named, named_first };

  std::vector<Oid> schemas;  // in order; pg_catalog is searched before unless it is among them
  TemporaryPlace temporary_place = TemporaryPlace::implicit;
  unsigned temporary_number = 0;  // 0: the session has made nothing temporarily yet

  // By hand, for each run of a statement asks.
  friend bool operator==(const NamePath& one, const NamePath& other) {
    if (one.temporary_number != other.temporary_number ||
        one.temporary_place != other.temporary_place || one.schemas.size() != other.schemas.size())
      return false;
    for (size_t i = 0; i < one.schemas.size(); ++i) {
      if (one.schemas[i] != other.schemas[i]) return false;
    }
    return true;
  }
};

}  // namespace pgsilo
