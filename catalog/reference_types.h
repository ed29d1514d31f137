// Which types may refer to which in a foreign key, and how a value of the referring column becomes
// one of the referenced column's type. Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "sql/types/type_oid.h"

namespace pgsilo {

enum class ReferenceConversion : uint8_t {
  none,          // the value is one of the other type as it is
  cast,          // by `procedure`
  integer,       // it may be too large for the other type: then no row has it
  unsupported,   // PostgreSQL compares the two without a cast
  incompatible,  // there is no such foreign key
};

struct ReferenceTypes {
  ReferenceConversion conversion = ReferenceConversion::none;
  Oid procedure = invalid_oid;
};

ReferenceTypes reference_types(Oid referring, Oid referenced);

}  // namespace pgsilo
