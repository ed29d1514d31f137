#include "planner/explain/explain_tree.h"

#include "catalog/descriptors.h"
#include "planner/bound/expression_tree.h"
#include "planner/explain/deparse.h"
#include "planner/explain/explain_json.h"
#include "planner/explain/plan_names.h"
#include "planner/plan/plan_tree.h"
#include "planner/plan/recursion_nodes.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

using Node = std::unique_ptr<ExplainedNode>;

std::string_view join_word(JoinType type) {
  switch (type) {
    case JoinType::inner:
      return "";
    case JoinType::left:
      return " Left";
    case JoinType::right:
      return " Right";
    case JoinType::full:
      return " Full";
    case JoinType::semi:
      return " Semi";
    case JoinType::anti:
      return " Anti";
  }
  return "";
}

class TreeMaker {
 public:
  TreeMaker(const PlannedStatement& planned, const ExplainRequest& request)
      : planned_(planned), request_(request) {
    context_.types = request.types;
    many_relations_ = count_relations(planned) > 1 || request.options.verbose;
  }

  Node make_root() {
    Node root = make(*planned_.root);
    for (size_t i = 0; i < planned_.ctes.size(); ++i) {
      Node cte = make(*planned_.ctes[i]);
      cte->relationship = "InitPlan";
      cte->subplan_name =
          concat("CTE ", quote_identifier(cte_name(planned_, static_cast<int32_t>(i))));
      root->subplans.insert(root->subplans.begin() + static_cast<ptrdiff_t>(i), std::move(cte));
    }
    return root;
  }

 private:
  Node make(const PlanNode& node) {
    switch (node.kind) {
      case PlanKind::project:
        return make_projection(*as<ProjectNode>(&node));
      case PlanKind::filter:
        return make_filter(*as<FilterNode>(&node));
      default:
        break;
    }
    auto made = std::make_unique<ExplainedNode>();
    made->plan = &node;
    describe(*made, node);
    if (request_.options.verbose) add_output(*made, node);
    collect_subplans(*made, node);
    return made;
  }

  void set_title(ExplainedNode& made, std::string node_type, std::string title = {}) {
    made.node_type = node_type;
    made.title = title.empty() ? std::move(node_type) : std::move(title);
  }

  // A projection is part of the operator below it.
  Node make_projection(const ProjectNode& node) {
    Node made = make(*node.child);
    collect_subplans(*made, node);
    return made;
  }

  Node make_filter(const FilterNode& node) {
    if (node.one_time_filter != nullptr) {
      auto result = std::make_unique<ExplainedNode>();
      result->plan = &node;
      set_title(*result, "Result");
      result->add("One-Time Filter", scan_text(*node.one_time_filter, node));
      collect_subplans(*result, node);
      add_child(*result, *node.child, "Outer");
      return result;
    }
    Node made = make(*node.child);
    bool is_having = node.child->kind == PlanKind::aggregate;
    made->add("Filter", upper_text(*node.condition, *node.child, is_having));
    made->plan = &node;
    collect_subplans(*made, node);
    return made;
  }

  void add_child(ExplainedNode& made, const PlanNode& child, std::string relationship) {
    Node below = make(child);
    below->relationship = std::move(relationship);
    made.children.push_back(std::move(below));
  }

  void describe(ExplainedNode& made, const PlanNode& node) {
    switch (node.kind) {
      case PlanKind::result: {
        set_title(made, "Result");
        const BoundExpression* filter = as<ResultNode>(&node)->one_time_filter;
        if (filter != nullptr) made.add("One-Time Filter", scan_text(*filter, node));
        return;
      }
      case PlanKind::values:
        return set_title(made, "Values Scan", "Values Scan on \"*VALUES*\"");
      case PlanKind::sequential_scan: {
        auto* scan = as<SequentialScanNode>(&node);
        return describe_scan(made, *scan, "Seq Scan", "");
      }
      case PlanKind::point_get:
        return describe_point_get(made, *as<PointGetNode>(&node));
      case PlanKind::index_scan:
        return describe_index_scan(made, *as<IndexScanNode>(&node));
      case PlanKind::function_scan:
        return describe_function_scan(made, *as<FunctionScanNode>(&node));
      case PlanKind::cte_scan:
        return describe_cte_scan(made, *as<CteScanNode>(&node), "CTE Scan");
      case PlanKind::work_table_scan:
        return describe_cte_scan(made, *as<WorkTableScanNode>(&node), "WorkTable Scan");
      case PlanKind::nested_loop:
        return describe_nested_loop(made, *as<NestedLoopNode>(&node));
      case PlanKind::hash_join:
        return describe_hash_join(made, *as<HashJoinNode>(&node));
      case PlanKind::merge_join:
        return describe_merge_join(made, *as<MergeJoinNode>(&node));
      case PlanKind::aggregate:
        return describe_aggregate(made, *as<AggregateNode>(&node));
      case PlanKind::sort:
        return describe_sort(made, *as<SortNode>(&node));
      case PlanKind::limit:
        set_title(made, "Limit");
        return add_child(made, *as<LimitNode>(&node)->child, "Outer");
      case PlanKind::unique:
        set_title(made, "Unique");
        return add_child(made, *as<UniqueNode>(&node)->child, "Outer");
      case PlanKind::materialize:
        set_title(made, "Materialize");
        return add_child(made, *as<MaterializeNode>(&node)->child, "Outer");
      case PlanKind::memoize:
        return describe_memoize(made, *as<MemoizeNode>(&node));
      case PlanKind::lock_rows:
        set_title(made, "LockRows");
        return add_child(made, *as<LockRowsNode>(&node)->child, "Outer");
      case PlanKind::append:
        set_title(made, "Append");
        for (const PlanNode* child : as<AppendNode>(&node)->children)
          add_child(made, *child, "Member");
        return;
      case PlanKind::set_operation:
        return describe_set_operation(made, *as<SetOperationNode>(&node));
      case PlanKind::recursive_union:
        set_title(made, "Recursive Union");
        add_child(made, *as<RecursiveUnionNode>(&node)->left, "Outer");
        return add_child(made, *as<RecursiveUnionNode>(&node)->right, "Inner");
      case PlanKind::insert:
        describe_modify(made, *as<InsertNode>(&node), "Insert");
        return describe_conflict(made, *as<InsertNode>(&node));
      case PlanKind::update:
        return describe_modify(made, *as<UpdateNode>(&node), "Update");
      case PlanKind::delete_:
        return describe_modify(made, *as<DeleteNode>(&node), "Delete");
      case PlanKind::project:
      case PlanKind::filter:
        return;
    }
  }

  std::string relation_text(const TableDescriptor& table, std::string_view alias) const {
    std::string text = request_.options.verbose ? concat(quote_identifier(table.schema_name), ".",
                                                         quote_identifier(table.name))
                                                : quote_identifier(table.name);
    if (alias != table.name) text += " " + quote_identifier(alias);
    return text;
  }

  void describe_scan(ExplainedNode& made, const TableScan& scan, const std::string& type,
                     const std::string& using_text) {
    set_title(made, type, concat(type, using_text, " on ", relation_text(*scan.table, scan.alias)));
    made.fields.push_back({"Relation Name", json_string(scan.table->name)});
    if (request_.options.verbose)
      made.fields.push_back({"Schema", json_string(scan.table->schema_name)});
    made.fields.push_back({"Alias", json_string(scan.alias)});
    if (scan.filter != nullptr && scan.kind == PlanKind::sequential_scan)
      add_scan_filter(made, scan);
  }

  void add_scan_filter(ExplainedNode& made, const TableScan& scan) {
    made.add("Filter", scan_text(*scan.filter, scan));
  }

  void describe_index(ExplainedNode& made, const TableScan& scan, const IndexDescriptor* index,
                      ScanDirection direction, const BoundExpression* condition) {
    if (index == nullptr) index = scan.table->primary_index();
    bool backward = direction == ScanDirection::backward;
    made.fields.push_back({"Scan Direction", backward ? "\"Backward\"" : "\"Forward\""});
    made.fields.push_back({"Index Name", json_string(index->name)});
    describe_scan(made, scan, "Index Scan",
                  concat(backward ? " Backward" : "", " using ", quote_identifier(index->name)));
    if (condition != nullptr) made.add("Index Cond", scan_text(*condition, scan));
    if (scan.filter != nullptr) add_scan_filter(made, scan);
  }

  void describe_point_get(ExplainedNode& made, const PointGetNode& node) {
    describe_index(made, node, node.index, ScanDirection::forward, node.index_condition);
  }

  void describe_index_scan(ExplainedNode& made, const IndexScanNode& node) {
    if (node.parts.size() > 1) return describe_union(made, node);
    describe_index(made, node, node.parts[0].index, node.direction, node.index_condition);
  }

  // In the words that PostgreSQL has for it.
  void describe_union(ExplainedNode& made, const IndexScanNode& node) {
    describe_scan(made, node, "Bitmap Heap Scan", "");
    made.add("Recheck Cond", scan_text(*node.index_condition, node));
    if (node.filter != nullptr) add_scan_filter(made, node);
    auto all = std::make_unique<ExplainedNode>();
    all->plan = &node;
    all->relationship = "Outer";
    set_title(*all, "BitmapOr");
    for (const IndexPart& part : node.parts) {
      const IndexDescriptor* index =
          part.index != nullptr ? part.index : node.table->primary_index();
      auto below = std::make_unique<ExplainedNode>();
      below->plan = &node;
      below->relationship = "Member";
      set_title(*below, "Bitmap Index Scan",
                concat("Bitmap Index Scan on ", quote_identifier(index->name)));
      below->fields.push_back({"Index Name", json_string(index->name)});
      below->add("Index Cond", scan_text(*part.index_condition, node));
      all->children.push_back(std::move(below));
    }
    made.children.push_back(std::move(all));
  }

  void describe_function_scan(ExplainedNode& made, const FunctionScanNode& node) {
    std::string name = node.calls.size() > 1 ? std::string() : quote_identifier(node.function_name);
    std::string title = "Function Scan on ";
    title += name;
    if (node.alias != node.function_name)
      title += (name.empty() ? "" : " ") + quote_identifier(node.alias);
    set_title(made, "Function Scan", title);
    made.fields.push_back({"Function Name", json_string(node.function_name)});
    made.fields.push_back({"Alias", json_string(node.alias)});
  }

  template <typename Scan>
  void describe_cte_scan(ExplainedNode& made, const Scan& node, std::string_view kind) {
    std::string title = concat(kind, " on ", quote_identifier(node.name));
    if (node.alias != node.name) title += " " + quote_identifier(node.alias);
    set_title(made, std::string(kind), title);
    made.fields.push_back({"CTE Name", json_string(node.name)});
    made.fields.push_back({"Alias", json_string(node.alias)});
  }

  void add_join_fields(ExplainedNode& made, const JoinNode& join) {
    std::string_view word = join_word(join.join_type);
    made.fields.push_back({"Join Type", json_string(word.empty() ? "Inner" : word.substr(1))});
    if (request_.options.verbose) made.add("Inner Unique", join.right_is_unique ? "true" : "false");
  }

  void add_join_filters(ExplainedNode& made, const JoinNode& join) {
    context_.qualified = many_relations_;
    if (join.condition != nullptr)
      made.add("Join Filter", deparse_over_join(context_, *join.condition, join));
    if (join.filter != nullptr) made.add("Filter", deparse_over_join(context_, *join.filter, join));
  }

  void describe_nested_loop(ExplainedNode& made, const NestedLoopNode& node) {
    std::string_view word = join_word(node.join_type);
    set_title(made, "Nested Loop",
              word.empty() ? "Nested Loop" : concat("Nested Loop", word, " Join"));
    add_join_fields(made, node);
    add_join_filters(made, node);
    add_child(made, *node.left, "Outer");
    context_.qualified = true;
    for (const NestedLoopParameter& parameter : node.parameters) {
      context_.parameters[parameter.execution_parameter] =
          slot_text(context_, *node.left, parameter.left_slot);
    }
    add_child(made, *node.right, "Inner");
  }

  void describe_hash_join(ExplainedNode& made, const HashJoinNode& node) {
    set_title(made, "Hash Join", concat("Hash", join_word(node.join_type), " Join"));
    add_join_fields(made, node);
    context_.qualified = many_relations_;
    if (node.hash_condition != nullptr)
      made.add("Hash Cond", deparse_over_join(context_, *node.hash_condition, node));
    add_join_filters(made, node);
    add_child(made, *node.left, "Outer");
    auto hash = std::make_unique<ExplainedNode>();
    hash->plan = node.right;
    hash->relationship = "Inner";
    set_title(*hash, "Hash");
    add_child(*hash, *node.right, "Outer");
    made.children.push_back(std::move(hash));
  }

  void describe_merge_join(ExplainedNode& made, const MergeJoinNode& node) {
    set_title(made, "Merge Join", concat("Merge", join_word(node.join_type), " Join"));
    add_join_fields(made, node);
    context_.qualified = many_relations_;
    made.add("Merge Cond", deparse_over_join(context_, *node.merge_condition, node));
    add_join_filters(made, node);
    add_child(made, *node.left, "Outer");
    add_child(made, *node.right, "Inner");
  }

  void describe_memoize(ExplainedNode& made, const MemoizeNode& node) {
    set_title(made, "Memoize");
    context_.qualified = true;
    ExplainedProperty keys{"Cache Key", {}, true};
    for (const BoundExpression* key : node.keys)
      keys.values.push_back(upper_text(*key, *node.child));
    made.properties.push_back(std::move(keys));
    made.add("Cache Mode", "logical");
    add_child(made, *node.child, "Outer");
  }

  void describe_aggregate(ExplainedNode& made, const AggregateNode& node) {
    std::string title = "Aggregate";
    std::string_view strategy = "Plain";
    if (node.strategy == AggregateStrategy::hashed) {
      title = "HashAggregate";
      strategy = "Hashed";
    } else if (node.strategy == AggregateStrategy::sorted) {
      title = "GroupAggregate";
      strategy = "Sorted";
    }
    // PostgreSQL's node for groups of which nothing is computed.
    if (node.strategy == AggregateStrategy::sorted && node.calls.empty()) {
      set_title(made, "Group");
    } else {
      set_title(made, "Aggregate", title);
      made.fields.push_back({"Strategy", json_string(strategy)});
    }
    if (!node.keys.empty()) {
      ExplainedProperty keys{"Group Key", {}, true};
      for (const BoundExpression* key : node.keys)
        keys.values.push_back(upper_text(*key, *node.child));
      made.properties.push_back(std::move(keys));
    }
    add_child(made, *node.child, "Outer");
  }

  void describe_sort(ExplainedNode& made, const SortNode& node) {
    set_title(made, node.presorted > 0 ? "Incremental Sort" : "Sort");
    ExplainedProperty keys{"Sort Key", {}, true};
    ExplainedProperty presorted{"Presorted Key", {}, true};
    context_.qualified = many_relations_;
    for (const SortKey& key : node.keys) {
      std::string text = slot_text(context_, *node.child, key.slot);
      if (presorted.values.size() < node.presorted) presorted.values.push_back(text);
      if (key.descending) text += " DESC";
      if (key.nulls_first != key.descending)
        text += key.nulls_first ? " NULLS FIRST" : " NULLS LAST";
      keys.values.push_back(std::move(text));
    }
    made.properties.push_back(std::move(keys));
    if (node.presorted > 0) made.properties.push_back(std::move(presorted));
    add_child(made, *node.child, "Outer");
  }

  void describe_set_operation(ExplainedNode& made, const SetOperationNode& node) {
    static constexpr std::string_view names[] = {"Intersect", "Intersect All", "Except",
                                                 "Except All"};
    std::string_view name = names[static_cast<size_t>(node.operation)];
    set_title(made, "SetOp", concat("HashSetOp ", name));
    made.fields.push_back({"Strategy", "\"Hashed\""});
    made.fields.push_back({"Command", json_string(name)});
    add_child(made, *node.left, "Outer");
    add_child(made, *node.right, "Inner");
  }

  void describe_modify(ExplainedNode& made, const ModifyNode& node, const std::string& operation) {
    set_title(made, "ModifyTable",
              concat(operation, " on ", relation_text(*node.table, node.alias)));
    made.fields.push_back({"Operation", json_string(operation)});
    made.fields.push_back({"Relation Name", json_string(node.table->name)});
    made.fields.push_back({"Alias", json_string(node.alias)});
    add_child(made, *node.child, "Outer");
  }

  void describe_conflict(ExplainedNode& made, const InsertNode& node) {
    if (node.conflict == nullptr) return;
    made.add("Conflict Resolution", node.conflict->updates ? "UPDATE" : "NOTHING");
    if (!node.conflict->any_index) {
      ExplainedProperty arbiters{"Conflict Arbiter Indexes", {}, true};
      for (const IndexDescriptor* index : node.conflict->arbiters)
        arbiters.values.push_back(quote_identifier(index->name));
      made.properties.push_back(std::move(arbiters));
    }
    const BoundExpression* condition = node.conflict->condition;
    if (condition == nullptr) return;
    made.add("Conflict Filter", deparse_in(context_, *condition, node, InputRow::conflict));
  }

  // Conditions of a scan show their own columns without a name before them.
  std::string scan_text(const BoundExpression& expression, const PlanNode& scan) {
    context_.qualified = request_.options.verbose;
    return deparse_over_child(context_, expression, scan);
  }

  std::string upper_text(const BoundExpression& expression, const PlanNode& child,
                         bool bare = false) {
    context_.qualified = many_relations_;
    return deparse_over_child(context_, expression, child, bare);
  }

  void add_output(ExplainedNode& made, const PlanNode& node) {
    if (node.columns.empty()) return;
    context_.qualified = many_relations_;
    ExplainedProperty output{"Output", {}, true};
    bool is_modify = node.kind == PlanKind::insert || node.kind == PlanKind::update ||
                     node.kind == PlanKind::delete_;
    for (size_t i = 0; i < node.columns.size(); ++i) {
      output.values.push_back(is_modify ? quote_identifier(node.columns[i].name)
                                        : slot_text(context_, node, static_cast<int32_t>(i), true));
    }
    made.properties.insert(made.properties.begin(), std::move(output));
  }

  void collect_subplans(ExplainedNode& made, const PlanNode& node) {
    for_each_expression(node, [&](const BoundExpression& expression, InputRow row) {
      contains(expression, [&](const BoundExpression& e) {
        if (auto* subplan = try_as<SubplanExpression>(&e)) add_subplan(made, node, *subplan, row);
        return false;
      });
    });
  }

  // Its arguments are evaluated on the row of the operator that holds it.
  void add_subplan(ExplainedNode& made, const PlanNode& node, const SubplanExpression& subplan,
                   InputRow row) {
    context_.qualified = true;
    for (const SubplanArgument& argument : subplan.arguments) {
      context_.parameters[argument.execution_parameter] =
          deparse_in(context_, *argument.value, node, row);
    }
    Node below = make(*subplan.plan);
    bool once = subplan.run_once && subplan.subplan_kind != SubplanKind::any &&
                subplan.subplan_kind != SubplanKind::all;
    below->relationship = once ? "InitPlan" : "SubPlan";
    below->subplan_name =
        once ? concat("InitPlan ", subplan.number, " (returns $", subplan.number - 1, ")")
             : concat("SubPlan ", subplan.number);
    made.subplans.push_back(std::move(below));
  }

  const PlannedStatement& planned_;
  const ExplainRequest& request_;
  DeparseContext context_;
  bool many_relations_ = false;
};

}  // namespace

std::unique_ptr<ExplainedNode> make_explained_tree(const PlannedStatement& planned,
                                                   const ExplainRequest& request) {
  return TreeMaker(planned, request).make_root();
}

std::vector<std::string> explain_plan(const PlannedStatement& planned,
                                      const ExplainRequest& request) {
  std::unique_ptr<ExplainedNode> root = make_explained_tree(planned, request);
  return request.options.format == ExplainFormat::json ? render_json(*root, request)
                                                       : render_text(*root, request);
}

}  // namespace pgsilo
