// Plan expressions as SQL text, the way PostgreSQL's EXPLAIN shows them.
// Thread safety: none.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "planner/bound/function_ref.h"
#include "planner/explain/indented_lines.h"
#include "planner/plan/plan_tree.h"

namespace pgsilo {

struct TypeContext;

// What only expressions of a query that is not planned have: columns, aggregates, subqueries.
class QueryTexts {
 public:
  virtual ~QueryTexts() = default;
  // With its line breaks not finished; empty: the expression is shown as any is.
  virtual std::string text(const BoundExpression& expression) = 0;
  // Whether that stands between parentheses of its own, whatever the expression is.
  virtual bool is_enclosed(const BoundExpression& expression) = 0;
  IndentedLines lines;
};

// What expressions are shown with: names for parameters, whether columns carry their relation's
// name.
struct DeparseContext {
  TypeContext* types = nullptr;               // prints constants
  std::map<int32_t, std::string> parameters;  // execution parameter -> what it stands for
  bool qualified = false;
  bool pretty = false;          // without the parentheses that are not needed
  bool definition = false;      // as it was written: a list of values is an array of theirs
  QueryTexts* query = nullptr;  // whose expressions they are
};

// `slot_text` gives the text of an input row's slot.
std::string deparse(const DeparseContext& context, const BoundExpression& expression,
                    FunctionRef<std::string(int32_t slot)> slot_text);

// An expression of `context.query`, with its line breaks not finished. Casts that nobody wrote are
// shown at the top only if asked for.
std::string deparse_part(const DeparseContext& context, const BoundExpression& expression,
                         bool show_implicit);

// What slot `slot` of the node's output row shows. Computed values are in parentheses unless
// `bare`.
std::string slot_text(const DeparseContext& context, const PlanNode& node, int32_t slot,
                      bool bare = false);

// An expression over the node's input row (plan/plan_node.h).
std::string deparse_over_child(const DeparseContext& context, const BoundExpression& expression,
                               const PlanNode& child, bool bare = false);
std::string deparse_over_join(const DeparseContext& context, const BoundExpression& expression,
                              const JoinNode& join);
// An expression that `node` holds, over that row of it.
std::string deparse_in(const DeparseContext& context, const BoundExpression& expression,
                       const PlanNode& node, InputRow row);

std::string quote_identifier(std::string_view name);
std::string aggregate_text(const DeparseContext& context, const AggregateNode& node,
                           const AggregateCall& call);

}  // namespace pgsilo
