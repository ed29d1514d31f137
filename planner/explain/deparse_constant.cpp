#include "planner/explain/deparse_constant.h"

#include "base/byte_buffer.h"
#include "planner/binder/binding.h"
#include "sql/types/type.h"
#include "sql/types/type_context.h"
#include "sql/types/user_type.h"

namespace pgsilo {

namespace {

std::string print(const ConstantExpression& constant, TypeContext* types) {
  ByteBuffer buffer;
  type_info(constant.type).print(constant.value, buffer, *types);
  return std::string(buffer.view());
}

std::string quoted(std::string_view text) {
  std::string result = "'";
  for (char c : text) {
    if (c == '\'') result += '\'';
    result += c;
  }
  return result + "'";
}

bool begins_with_digit(std::string_view text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

// A numeric that would be read as one without quotes.
bool is_plain_numeric(const ConstantExpression& constant, std::string_view text) {
  return constant.type == type_oid::numeric && begins_with_digit(text) &&
         text.find_first_of("eE.") != text.npos;
}

// As an element of an array literal.
std::string element_text(std::string_view text) {
  bool plain = !text.empty() && text.find_first_of("{}\",\\ \t\n") == text.npos && text != "NULL" &&
               text != "null";
  if (plain) return std::string(text);
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

}  // namespace

std::string deparse_type(Oid type, int32_t typmod, TypeContext* types) {
  ByteBuffer name;
  bool is_users = share_user_type(type) != nullptr && types->object_names != nullptr;
  if (is_users && types->object_names->print(type_oid::regtype, type, name))
    return std::string(name.view());
  return type_name(type, typmod);
}

std::string deparse_constant(const ConstantExpression& constant, TypeContext* types) {
  if (constant.value.null)
    return concat("NULL::", deparse_type(constant.type, constant.typmod, types));
  std::string text = print(constant, types);
  switch (constant.type) {
    case type_oid::boolean:
      return constant.value.as_bool() ? "true" : "false";
    case type_oid::int4:
      if (begins_with_digit(text)) return text;
      break;
    case type_oid::numeric:
      if (is_plain_numeric(constant, text) && constant.typmod < 0) return text;
      break;
    case type_oid::unknown:
      return quoted(text);
    default:
      break;
  }
  return concat(quoted(text), "::", deparse_type(constant.type, constant.typmod, types));
}

std::string deparse_literal(const ConstantExpression& constant, TypeContext* types) {
  if (constant.value.null) return "NULL";
  std::string text = print(constant, types);
  return is_plain_numeric(constant, text) ? text : quoted(text);
}

std::string deparse_array(ExpressionList items, TypeContext* types) {
  std::string text = "{";
  for (const BoundExpression* item : items) {
    auto* constant = try_as<ConstantExpression>(item);
    if (constant == nullptr) return {};
    if (text.size() > 1) text += ",";
    text += constant->value.null ? "NULL" : element_text(print(*constant, types));
  }
  return concat(quoted(text + "}"), "::", deparse_type(items[0]->type, -1, types), "[]");
}

}  // namespace pgsilo
