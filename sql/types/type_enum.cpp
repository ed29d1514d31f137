// Enums: labels are read and printed by the catalog, values handled as their positions.
#include "sql/sql_error.h"
#include "sql/types/enum_labels.h"
#include "sql/types/text.h"
#include "sql/types/type_functions.h"

namespace pgsilo::types {

namespace {

const EnumLabels& labels_of(const TypeInfo& type, const TypeContext& ctx) {
  const EnumLabels* labels =
      ctx.object_names != nullptr ? ctx.object_names->find_labels(type.oid) : nullptr;
  if (labels != nullptr) return *labels;
  throw SqlError(sqlstate::undefined_object,
                 concat("type ", format_type(type.oid), " does not exist"));
}

std::string name_of(const TypeInfo& type, const TypeContext& ctx) {
  ByteBuffer name;
  ctx.object_names->print(type_oid::regtype, type.oid, name);
  return std::string(name.view());
}

}  // namespace

Datum parse_enum(const TypeInfo& type, std::string_view text, int32_t, TypeContext& ctx) {
  const EnumLabel* label = labels_of(type, ctx).find(text);
  if (label == nullptr) {
    throw SqlError(sqlstate::invalid_text_representation,
                   concat("invalid input value for enum ", name_of(type, ctx), ": \"", text, "\""));
  }
  if (label->is_new) {
    throw SqlError(
        sqlstate::unsafe_new_enum_value_usage,
        concat("unsafe use of new value \"", text, "\" of enum type ", name_of(type, ctx)))
        .hint("New enum values must be committed before they can be used.");
  }
  return Datum::of_int(label->position);
}

// A value that has no label is of a type whose labels somebody else has changed since.
void print_enum(const TypeInfo& type, Datum value, ByteBuffer& out, const TypeContext& ctx) {
  const EnumLabel* label = labels_of(type, ctx).at(static_cast<int32_t>(value.i64));
  if (label == nullptr) {
    throw SqlError(sqlstate::invalid_binary_representation,
                   concat("invalid internal value for enum: ", value.i64));
  }
  out.append(label->name);
}

Datum receive_enum(const TypeInfo& type, std::string_view bytes, int32_t typmod, TypeContext& ctx) {
  validate_text(bytes);
  return parse_enum(type, bytes, typmod, ctx);
}

}  // namespace pgsilo::types
