// Plan expressions as SQL text, the way PostgreSQL's EXPLAIN shows them.
// Thread safety: none.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "planner/bound/function_ref.h"
#include "planner/plan/plan_tree.h"

namespace pgsilo {

struct TypeContext;

// What expressions are shown with: names for parameters, whether columns carry their relation's
// name.
struct DeparseContext {
  TypeContext* types = nullptr;               // prints constants
  std::map<int32_t, std::string> parameters;  // execution parameter -> what it stands for
  bool qualified = false;
  bool pretty = false;      // without the parentheses that are not needed
  bool definition = false;  // as it was written: a list of values is an array of theirs
};

// `slot_text` gives the text of an input row's slot.
std::string deparse(const DeparseContext& context, const BoundExpression& expression,
                    FunctionRef<std::string(int32_t slot)> slot_text);

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
