#include "sql/ast/option_value.h"

#include <initializer_list>
#include <string_view>

#include "sql/ast/expressions.h"
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
  if (is_one_of(constant->text, {"true", "on", "1"})) return true;
  if (is_one_of(constant->text, {"false", "off", "0"})) return false;
  return std::nullopt;
}

}  // namespace pgsilo::ast
