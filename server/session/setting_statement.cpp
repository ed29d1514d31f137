#include "server/session/setting_statement.h"

#include "server/session/session_state.h"
#include "server/settings/canonical.h"
#include "sql/ast/ast.h"
#include "sql/types/date_time.h"
#include "sql/types/interval.h"
#include "sql/types/type.h"

namespace pgsilo {
namespace {

std::string constant_text(const ast::Constant& constant) {
  switch (constant.constant_kind) {
    case ast::ConstantKind::integer:
      return std::to_string(constant.integer);
    case ast::ConstantKind::boolean:
      return constant.boolean ? "true" : "false";
    default:
      return std::string(constant.text);
  }
}

bool is_lower_identifier(std::string_view word) {
  if (word.empty() || !((word[0] >= 'a' && word[0] <= 'z') || word[0] == '_')) return false;
  for (char c : word) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return true;
}

std::string quote_identifier(std::string_view word) {
  if (is_lower_identifier(word)) return std::string(word);
  std::string quoted = "\"";
  for (char c : word) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

// SET TIME ZONE INTERVAL '-08:00' HOUR TO MINUTE.
std::string interval_zone(SessionState& state, std::string_view text) {
  TypeContext& types = state.context.types;
  Datum value = type_info(type_oid::interval).parse(text, no_typmod, types);
  Interval interval = interval_of(value);
  if (interval.month != 0) {
    throw SqlError(sqlstate::invalid_parameter_value,
                   "cannot specify months in time zone interval");
  }
  if (interval.day != 0) {
    throw SqlError(sqlstate::invalid_parameter_value, "cannot specify days in time zone interval");
  }
  return TimeZone::fixed(static_cast<int32_t>(interval.time / usecs_per_second)).name();
}

std::string argument_text(SessionState& state, const ast::Node* argument) {
  if (const auto* cast = ast::try_as<ast::TypeCast>(argument)) {
    const auto* literal = ast::try_as<ast::Constant>(cast->argument);
    if (literal != nullptr) return interval_zone(state, literal->text);
  }
  const auto* constant = ast::try_as<ast::Constant>(argument);
  if (constant == nullptr) throw SqlError(sqlstate::syntax_error, "SET value must be a constant");
  return constant_text(*constant);
}

bool takes_list(std::string_view name, bool* quotes) {
  int index = find_setting(name);
  *quotes = index == find_setting("search_path");
  return *quotes || index == find_setting("DateStyle");
}

std::string value_text(SessionState& state, std::string_view name, ast::NodeList arguments) {
  bool quotes = false;
  bool list = takes_list(name, &quotes);
  if (arguments.size() > 1 && !list) {
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("SET ", name, " takes only one argument"));
  }
  std::string text;
  for (const ast::Node* argument : arguments) {
    if (!text.empty()) text += ", ";
    std::string piece = argument_text(state, argument);
    text += quotes ? quote_identifier(piece) : piece;
  }
  return text;
}

void set_modes(SessionState& state, const ast::SetStmt& statement) {
  if (statement.name == "TRANSACTION SNAPSHOT") throw_unsupported("SET TRANSACTION SNAPSHOT");
  bool session = statement.name == "SESSION CHARACTERISTICS";
  if (!session) warn_outside_block(state.context.place, "SET TRANSACTION", *state.context.notices);
  for (const ast::DefElem& option : statement.options) {
    const auto* constant = ast::try_as<ast::Constant>(option.argument);
    std::string value = constant == nullptr ? "on" : constant_text(*constant);
    std::string name = session ? concat("default_", option.name) : std::string(option.name);
    state.settings.set(name, value, !session);
  }
}

void warn_local(SessionState& state, const ast::SetStmt& statement) {
  if (statement.is_local)
    warn_outside_block(state.context.place, "SET LOCAL", *state.context.notices);
}

// Who becomes another user has no role besides.
void forget_role(SessionState& state, const ast::SetStmt& statement) {
  if (statement.name == "session_authorization") state.settings.reset("role", statement.is_local);
}

}  // namespace

std::string_view run_set_statement(SessionState& state, const ast::SetStmt& statement) {
  switch (statement.set_kind) {
    case ast::SetKind::value:
      if (statement.name == "seed") throw_unsupported("SET SEED");
      warn_local(state, statement);
      state.settings.set(statement.name, value_text(state, statement.name, statement.arguments),
                         statement.is_local);
      forget_role(state, statement);
      return "SET";
    case ast::SetKind::to_default:
      warn_local(state, statement);
      state.settings.reset(statement.name, statement.is_local);
      forget_role(state, statement);
      return "SET";
    case ast::SetKind::multi:
      set_modes(state, statement);
      return "SET";
    case ast::SetKind::reset:
      state.settings.reset(statement.name, false);
      forget_role(state, statement);
      return "RESET";
    case ast::SetKind::reset_all:
      state.settings.reset_all();
      return "RESET";
    case ast::SetKind::from_current:
      break;
  }
  throw_unsupported("SET FROM CURRENT");
}

}  // namespace pgsilo
