// What the rows of a plan's operators hold, as text.
#include "base/byte_buffer.h"
#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "planner/explain/deparse.h"
#include "planner/plan/recursion_nodes.h"

namespace pgsilo {

namespace {

std::string column_text(const DeparseContext& context, std::string_view alias,
                        std::string_view name) {
  if (!context.qualified || alias.empty()) return quote_identifier(name);
  return quote_identifier(alias) + "." + quote_identifier(name);
}

// A value computed below is shown in parentheses.
std::string computed(const BoundExpression& expression, std::string text, bool bare) {
  if (bare || expression.kind == ExpressionKind::slot) return text;
  return concat("(", text, ")");
}

std::string aggregate_slot(const DeparseContext& context, const AggregateNode& node, int32_t slot,
                           bool bare) {
  size_t keys = node.keys.size();
  if (static_cast<size_t>(slot) < keys) {
    const BoundExpression& key = *node.keys[slot];
    return computed(key, deparse_over_child(context, key, *node.child), bare);
  }
  std::string text = aggregate_text(context, node, node.calls[slot - keys]);
  return bare ? text : concat("(", text, ")");
}

}  // namespace

std::string aggregate_text(const DeparseContext& context, const AggregateNode& node,
                           const AggregateCall& call) {
  std::string text = concat(quote_identifier(find_procedure(call.procedure)->name), "(",
                            call.distinct ? "DISTINCT " : "");
  if (call.arguments.empty()) text += "*";
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    text += (i == 0 ? "" : ", ") + deparse_over_child(context, *call.arguments[i], *node.child);
  }
  for (size_t i = 0; i < call.order_by.size(); ++i) {
    text += (i == 0 ? " ORDER BY " : ", ") +
            deparse_over_child(context, *call.order_by[i].expression, *node.child);
    if (call.order_by[i].descending) text += " DESC";
  }
  text += ")";
  if (call.filter != nullptr) {
    text += concat(" FILTER (WHERE ", deparse_over_child(context, *call.filter, *node.child), ")");
  }
  return text;
}

std::string deparse_over_child(const DeparseContext& context, const BoundExpression& expression,
                               const PlanNode& child, bool bare) {
  return deparse(context, expression,
                 [&](int32_t slot) { return slot_text(context, child, slot, bare); });
}

std::string deparse_over_join(const DeparseContext& context, const BoundExpression& expression,
                              const JoinNode& join) {
  int32_t left = static_cast<int32_t>(join.left->columns.size());
  return deparse(context, expression, [&](int32_t slot) {
    return slot < left ? slot_text(context, *join.left, slot)
                       : slot_text(context, *join.right, slot - left);
  });
}

namespace {

std::string conflict_text(const ModifyNode& node, int32_t slot) {
  auto width = static_cast<int32_t>(node.table->columns.size());
  return concat(slot < width ? quote_identifier(node.alias) : "excluded", ".",
                quote_identifier(node.table->columns[slot % width].name));
}

std::string modified_text(const DeparseContext& context, const ModifyNode& node, int32_t slot) {
  auto width = static_cast<int32_t>(node.table->columns.size());
  return slot < width ? column_text(context, node.alias, node.table->columns[slot].name)
                      : slot_text(context, *node.child, slot - width, true);
}

// The operator whose output row is the input row of `node`; of a scan that is its own.
const PlanNode& input_of(const PlanNode& node) {
  const PlanNode* input = &node;
  for_each_child(node, [&](const PlanNode& child) { input = &child; });
  return *input;
}

}  // namespace

std::string deparse_in(const DeparseContext& context, const BoundExpression& expression,
                       const PlanNode& node, InputRow row) {
  if (row != InputRow::input) {
    auto& change = static_cast<const ModifyNode&>(node);
    return deparse(context, expression, [&](int32_t slot) {
      return row == InputRow::conflict ? conflict_text(change, slot)
                                       : modified_text(context, change, slot);
    });
  }
  if (node.kind == PlanKind::nested_loop || node.kind == PlanKind::hash_join ||
      node.kind == PlanKind::merge_join)
    return deparse_over_join(context, expression, static_cast<const JoinNode&>(node));
  return deparse_over_child(context, expression, input_of(node), true);
}

std::string slot_text(const DeparseContext& context, const PlanNode& node, int32_t slot,
                      bool bare) {
  switch (node.kind) {
    case PlanKind::point_get:
    case PlanKind::index_scan:
    case PlanKind::sequential_scan:
      return column_text(context, static_cast<const TableScan&>(node).alias,
                         node.columns[slot].name);
    case PlanKind::function_scan:
      return column_text(context, as<FunctionScanNode>(&node)->alias, node.columns[slot].name);
    case PlanKind::cte_scan:
      return column_text(context, as<CteScanNode>(&node)->alias, node.columns[slot].name);
    case PlanKind::work_table_scan:
      return column_text(context, as<WorkTableScanNode>(&node)->alias, node.columns[slot].name);
    case PlanKind::values:
      return column_text(context, "*VALUES*", node.columns[slot].name);
    case PlanKind::project: {
      auto* project = as<ProjectNode>(&node);
      const BoundExpression& expression = *project->expressions[slot];
      return computed(expression, deparse_over_child(context, expression, *project->child), bare);
    }
    case PlanKind::aggregate:
      return aggregate_slot(context, *as<AggregateNode>(&node), slot, bare);
    case PlanKind::filter:
      return slot_text(context, *as<FilterNode>(&node)->child, slot, bare);
    case PlanKind::sort:
      return slot_text(context, *as<SortNode>(&node)->child, slot, bare);
    case PlanKind::limit:
      return slot_text(context, *as<LimitNode>(&node)->child, slot, bare);
    case PlanKind::unique:
      return slot_text(context, *as<UniqueNode>(&node)->child, slot, bare);
    case PlanKind::materialize:
      return slot_text(context, *as<MaterializeNode>(&node)->child, slot, bare);
    case PlanKind::memoize:
      return slot_text(context, *as<MemoizeNode>(&node)->child, slot, bare);
    case PlanKind::lock_rows:
      return slot_text(context, *as<LockRowsNode>(&node)->child, slot, bare);
    case PlanKind::append:
      return slot_text(context, *as<AppendNode>(&node)->children[0], slot, bare);
    case PlanKind::set_operation:
      return slot_text(context, *as<SetOperationNode>(&node)->left, slot, bare);
    case PlanKind::recursive_union:
      return slot_text(context, *as<RecursiveUnionNode>(&node)->left, slot, bare);
    case PlanKind::nested_loop:
    case PlanKind::hash_join:
    case PlanKind::merge_join: {
      auto& join = static_cast<const JoinNode&>(node);
      int32_t left = static_cast<int32_t>(join.left->columns.size());
      return slot < left ? slot_text(context, *join.left, slot, bare)
                         : slot_text(context, *join.right, slot - left, bare);
    }
    case PlanKind::result:
    case PlanKind::insert:
    case PlanKind::update:
    case PlanKind::delete_:
      break;
  }
  return "?";
}

}  // namespace pgsilo
