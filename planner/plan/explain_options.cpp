#include "planner/plan/explain_options.h"

#include <algorithm>
#include <string>

#include "planner/binder/binding.h"
#include "planner/unsupported_features.h"
#include "sql/ast/option_value.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

std::string lower(std::string_view word) {
  std::string result(word);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  return result;
}

// A word or number written as the value; empty where none was.
std::string value_of(const ast::DefElem& option) {
  auto* constant = ast::try_as<ast::Constant>(option.argument);
  if (constant == nullptr) return {};
  switch (constant->constant_kind) {
    case ast::ConstantKind::integer:
      return std::to_string(constant->integer);
    case ast::ConstantKind::boolean:
      return constant->boolean ? "true" : "false";
    default:
      return lower(constant->text);
  }
}

}  // namespace

ExplainOptions read_explain_options(const ast::ExplainStmt& statement, std::string_view text) {
  ExplainOptions options;
  bool summary_given = false;
  for (const ast::DefElem& option : statement.options) {
    int position = character_position(text, option.location);
    if (option.name == "analyze") {
      options.analyze = ast::require_boolean_option(option);
    } else if (option.name == "verbose") {
      options.verbose = ast::require_boolean_option(option);
    } else if (option.name == "costs") {
      options.costs = ast::require_boolean_option(option);
    } else if (option.name == "timing") {
      options.timing = ast::require_boolean_option(option);
    } else if (option.name == "summary") {
      options.summary = ast::require_boolean_option(option);
      summary_given = true;
    } else if (option.name == "buffers" || option.name == "wal" || option.name == "settings") {
      if (ast::require_boolean_option(option))
        throw_unsupported(UnsupportedFeature::explain_option, position);
    } else if (option.name == "format") {
      std::string value = value_of(option);
      if (value == "json") {
        options.format = ExplainFormat::json;
      } else if (value == "xml" || value == "yaml") {
        throw_unsupported(UnsupportedFeature::explain_format, position);
      } else if (value != "text") {
        throw SqlError(
            sqlstate::invalid_parameter_value,
            concat("unrecognized value for EXPLAIN option \"", option.name, "\": \"", value, "\""))
            .at(position);
      }
    } else {
      throw SqlError(sqlstate::syntax_error,
                     concat("unrecognized EXPLAIN option \"", option.name, "\""))
          .at(position);
    }
  }
  if (!summary_given) options.summary = options.analyze;
  return options;
}

}  // namespace pgsilo
