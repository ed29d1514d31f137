// What pg_type and pg_opclass say of the built-in types beyond sql/types/type.h: OIDs of functions
// and operator classes. Thread safety: constant data.
#pragma once

#include "sql/types/type_oid.h"

namespace pgsilo {

struct TypeFunctions {
  Oid type;
  Oid input, output, receive, send;
  Oid modifier_in, modifier_out;
  Oid analyze, subscript;
  Oid operator_class;  // the default btree one, 0: none
};

// Of every enum: enum_in and its kin.
inline constexpr TypeFunctions enum_type_functions{invalid_oid, 3506, 3507, 3532, 3533,
                                                   0,           0,    0,    0,    0};

// All zero for a type that is not listed.
const TypeFunctions& type_functions(Oid type);

}  // namespace pgsilo
