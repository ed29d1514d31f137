#include "sql/ast/option_value.h"

#include <initializer_list>
#include <string_view>

#include "sql/ast/expressions.h"
#include "sql/sql_error.h"
#include "sql/types/scan.h"

namespace pgsilo::ast {

namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (std::string_view word : words)
    if (equal_ignoring_case(text, word)) return true;
  return false;
}

}  // namespace

std::optional<bool> boolean_option(const DefElem& option) {
  if (option.argument == nullptr) return true;
  const auto* constant = try_as<Constant>(option.argument);
  if (constant == nullptr) return std::nullopt;
  if (constant->constant_kind == ConstantKind::boolean) return constant->boolean;
  if (constant->constant_kind == ConstantKind::integer) {
    if (constant->integer != 0 && constant->integer != 1) return std::nullopt;
    return constant->integer == 1;
  }
  if (is_one_of(constant->text, {"true", "on"})) return true;
  if (is_one_of(constant->text, {"false", "off"})) return false;
  return std::nullopt;
}

bool require_boolean_option(const DefElem& option) {
  if (std::optional<bool> value = boolean_option(option)) return *value;
  throw SqlError(sqlstate::syntax_error, concat(option.name, " requires a Boolean value"));
}

}  // namespace pgsilo::ast
