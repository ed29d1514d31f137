#include "catalog/reference_types.h"

#include <algorithm>
#include <iterator>

#include "catalog/builtin/builtin.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

// Types that one of PostgreSQL's B-tree operator families compares with each other.
bool is_of_one_family(Oid left, Oid right) {
  constexpr Oid families[][3] = {{type_oid::float4, type_oid::float8, type_oid::float8},
                                 {type_oid::date, type_oid::timestamp, type_oid::timestamptz}};
  auto contains = [](const Oid(&family)[3], Oid type) {
    return std::find(std::begin(family), std::end(family), type) != std::end(family);
  };
  return std::any_of(std::begin(families), std::end(families), [&](const Oid(&family)[3]) {
    return contains(family, left) && contains(family, right);
  });
}

}  // namespace

ReferenceTypes reference_types(Oid given_referring, Oid given_referenced) {
  // A domain is compared as the type beneath it.
  Oid referring = base_type_of(given_referring);
  Oid referenced = base_type_of(given_referenced);
  if (referring == referenced) return {};
  if (is_integer_type(referring) && is_integer_type(referenced))
    return {ReferenceConversion::integer};
  const BuiltinCast* cast = find_cast(referring, referenced);
  if (cast != nullptr && cast->context == CastContext::implicit) {
    if (cast->method == CastMethod::binary) return {};
    if (cast->method == CastMethod::function) return {ReferenceConversion::cast, cast->procedure};
  }
  return {is_of_one_family(referring, referenced) ? ReferenceConversion::unsupported
                                                  : ReferenceConversion::incompatible};
}

}  // namespace pgsilo
