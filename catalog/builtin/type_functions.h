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

// All zero for a type that is not listed.
const TypeFunctions& type_functions(Oid type);

}  // namespace pgsilo
