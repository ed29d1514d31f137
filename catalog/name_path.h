// Where a session looks for names without a schema. What they mean depends on this and on the
// version of the catalog, and on nothing else.
#pragma once

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

  bool operator==(const NamePath&) const = default;
};

}  // namespace pgsilo
