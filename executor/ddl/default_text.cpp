#include <algorithm>
#include <functional>
#include <map>

#include "executor/ddl/table_definition.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
#include "planner/bound/expression_tree.h"
#include "sql/internal_error.h"
#include "sql/parser/lexer.h"
#include "sql/types/type.h"

namespace pgsilo {

DefaultText define_default(DdlRun& run, std::string_view text) {
  DefaultText made{std::string(text), {}};
  // Locations in the tree count from the SELECT that it is parsed with.
  constexpr std::string_view prefix = "SELECT ";
  const std::string parsed = concat(prefix, text);
  KeptText kept(run.binding());
  Scope scope(run.binding(), nullptr);
  const BoundExpression* value = bind_expression(scope, parse_expression(run.binding(), text),
                                                 ExpressionPlace::column_default);
  std::map<uint32_t, Oid, std::greater<>> named;  // by location, the last first
  contains(*value, [&](const BoundExpression& part) {
    const auto* constant = try_as<ConstantExpression>(&part);
    if (constant == nullptr || constant->type != type_oid::regclass || constant->value.null)
      return false;
    auto oid = static_cast<Oid>(constant->value.i64);
    const TableDescriptor* relation = run.catalog().find_table(oid);
    if (relation != nullptr && relation->kind == RelationKind::sequence)
      named[static_cast<uint32_t>(constant->location)] = oid;
    return false;
  });
  for (const auto& [location, oid] : named) {
    Lexer lexer(parsed, location);
    Token literal = lexer.next();
    PGSILO_REQUIRE(literal.kind == TokenKind::string || literal.kind == TokenKind::other_string);
    uint32_t end = literal.end;
    Token behind = lexer.next();  // U&'...' UESCAPE '!' is one literal
    if (behind.kind == TokenKind::identifier && is_key_word(lexer.text(behind), "uescape"))
      end = lexer.next().end;
    made.text.replace(literal.start - prefix.size(), end - literal.start, concat("'", oid, "'"));
    if (std::find(made.sequences.begin(), made.sequences.end(), oid) == made.sequences.end())
      made.sequences.push_back(oid);
  }
  return made;
}

}  // namespace pgsilo
