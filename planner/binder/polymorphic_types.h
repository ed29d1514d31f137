// What anyelement, anycompatible and their kin stand for in a call. Thread safety: pure functions.
#pragma once

#include <optional>
#include <span>

#include "sql/types/type_oid.h"

namespace pgsilo {

// 0: no argument says it.
struct PolymorphicTypes {
  Oid element = invalid_oid;     // anyelement, anynonarray, anyenum
  Oid array = invalid_oid;       // anyarray
  Oid compatible = invalid_oid;  // anycompatible and anycompatiblenonarray: what all can become
};

// Nothing when the arguments do not fit together: then this is not the function that was meant.
std::optional<PolymorphicTypes> find_polymorphic_types(std::span<const Oid> actual,
                                                       std::span<const Oid> declared);

// Replaces polymorphic declared types by what they stand for and returns what `result` is.
Oid resolve_polymorphic_types(std::span<const Oid> actual, std::span<Oid> declared, Oid result);

}  // namespace pgsilo
