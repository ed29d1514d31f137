#include "planner/binder/polymorphic_types.h"

#include <vector>

#include "planner/binder/binding.h"
#include "planner/binder/coercion.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

bool is_array(Oid declared) {
  return declared == type_oid::anyarray || declared == type_oid::anycompatiblearray;
}

bool is_compatible_family(Oid declared) {
  return declared == type_oid::anycompatible || declared == type_oid::anycompatiblearray ||
         declared == type_oid::anycompatiblenonarray;
}

Oid array_over(Oid element) {
  const TypeInfo* info = find_type(element);
  if (info != nullptr && info->array != invalid_oid) return info->array;
  throw SqlError(sqlstate::undefined_object,
                 concat("could not find array type for data type ", type_name(element)));
}

// 0: not an array.
Oid element_of(Oid array) {
  const TypeInfo* info = find_type(base_type_of(array));
  return info != nullptr && info->category == 'A' ? info->element : invalid_oid;
}

bool is_enum(Oid type) {
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->typtype == 'e';
}

// Gathers what the arguments say; each returns false where they do not fit together.
class Gathering {
 public:
  bool add(Oid actual, Oid declared) {
    if (actual == type_oid::unknown) return true;
    if (declared == type_oid::anyarray) return keep(types.array, base_type_of(actual));
    if (!is_compatible_family(declared)) return keep(types.element, actual);
    if (!is_array(declared)) {
      compatible_.push_back(actual);
      return true;
    }
    Oid element = element_of(actual);
    compatible_.push_back(element);
    return element != invalid_oid;
  }

  bool finish() {
    if (types.array != invalid_oid && types.array != type_oid::anyarray) {
      Oid element = element_of(types.array);
      if (element == invalid_oid || !keep(types.element, element)) return false;
    }
    if (compatible_.empty()) return true;
    types.compatible = select_common_type(compatible_);
    return types.compatible != invalid_oid;
  }

  PolymorphicTypes types;

 private:
  static bool keep(Oid& known, Oid type) {
    if (known == invalid_oid) known = type;
    return known == type;
  }

  std::vector<Oid> compatible_;
};

Oid resolve(const PolymorphicTypes& types, Oid declared) {
  if (!is_polymorphic(declared)) return declared;
  if (is_compatible_family(declared)) {
    Oid common = types.compatible == invalid_oid ? Oid{type_oid::text} : types.compatible;
    return is_array(declared) ? array_over(common) : common;
  }
  if (is_array(declared) && types.array != invalid_oid) return types.array;
  if (types.element == invalid_oid) {
    throw SqlError(sqlstate::datatype_mismatch,
                   "could not determine polymorphic type because input has type unknown");
  }
  return is_array(declared) ? array_over(types.element) : types.element;
}

}  // namespace

std::optional<PolymorphicTypes> find_polymorphic_types(std::span<const Oid> actual,
                                                       std::span<const Oid> declared) {
  Gathering gathering;
  for (size_t i = 0; i < declared.size(); ++i) {
    if (is_polymorphic(declared[i]) && !gathering.add(actual[i], declared[i])) return std::nullopt;
  }
  if (!gathering.finish()) return std::nullopt;
  const PolymorphicTypes& types = gathering.types;
  for (Oid type : declared) {
    bool fits = true;
    if (type == type_oid::anyenum) fits = is_enum(types.element);
    if (type == type_oid::anynonarray) fits = element_of(types.element) == invalid_oid;
    if (type == type_oid::anycompatiblenonarray) fits = element_of(types.compatible) == invalid_oid;
    if (!fits) return std::nullopt;
  }
  return types;
}

Oid resolve_polymorphic_types(std::span<const Oid> actual, std::span<Oid> declared, Oid result) {
  std::optional<PolymorphicTypes> types = find_polymorphic_types(actual, declared);
  if (!types) {
    throw SqlError(sqlstate::datatype_mismatch,
                   "arguments declared \"anyelement\" are not all alike");
  }
  Oid resolved = resolve(*types, result);
  for (Oid& type : declared) type = resolve(*types, type);
  return resolved;
}

}  // namespace pgsilo
