#include "planner/access/join_problem.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "planner/access/disjunction.h"
#include "planner/access/parameter_guess.h"
#include "planner/access/planning.h"
#include "planner/access/selectivity.h"
#include "planner/access/strictness.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/query_tree.h"
#include "planner/rewrite/fold.h"
#include "sql/sql_error.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

namespace {

constexpr int32_t no_special_join = -1;

RelationSet shape_relations(const FromItem& item) {
  if (item.relation >= 0) return RelationSet::of(item.relation);
  return shape_relations(*item.left) | shape_relations(*item.right);
}

class Decomposition {
 public:
  Decomposition(StatementPlanning& statement, const BoundQuery& query)
      : statement_(statement), query_(query) {}

  JoinProblem run() {
    problem_.relations = joined_relations(query_);
    RelationSet not_null =
        query_.where != nullptr ? non_nullable_relations(*query_.where) : RelationSet();
    for (const FromItem* item : query_.from) visit(*item, not_null);
    add_conjuncts(query_.where, no_special_join, problem_.relations);
    spread_constants();
    pair_ranges(statement_, query_, problem_.clauses);
    return std::move(problem_);
  }

 private:
  // `not_null`: relations whose all-null rows a condition above rejects anyway; an outer join that
  // only adds such rows is an inner join.
  RelationSet visit(const FromItem& item, RelationSet not_null) {
    if (item.relation >= 0) return RelationSet::of(item.relation);
    JoinType type = item.join_type;
    const FromItem* left = item.left;
    const FromItem* right = item.right;
    if (type == JoinType::right) {
      std::swap(left, right);
      type = JoinType::left;
    }
    if (type == JoinType::full) {
      // Rejecting null-extended rows of one side leaves an outer join of the other.
      bool keeps_left = not_null.overlaps(shape_relations(*left));
      bool keeps_right = not_null.overlaps(shape_relations(*right));
      if (keeps_left && keeps_right) {
        type = JoinType::inner;
      } else if (keeps_left) {
        type = JoinType::left;
      } else if (keeps_right) {
        type = JoinType::left;
        std::swap(left, right);
      }
    }
    if (type == JoinType::left && not_null.overlaps(shape_relations(*right)))
      type = JoinType::inner;
    return visit_join(type, *left, *right, item.condition, not_null);
  }

  RelationSet visit_join(JoinType type, const FromItem& left, const FromItem& right,
                         const BoundExpression* condition, RelationSet not_null) {
    RelationSet condition_not_null =
        condition != nullptr ? non_nullable_relations(*condition) : RelationSet();
    if (type == JoinType::inner) {
      RelationSet both = not_null | condition_not_null;
      RelationSet scope = visit(left, both) | visit(right, both);
      add_conjuncts(condition, no_special_join, scope);
      return scope;
    }
    SpecialJoin join;
    join.type = type;
    bool full = type == JoinType::full;
    join.left = visit(left, full ? RelationSet() : not_null);
    // The condition of an outer join rejects null-extended rows of joins inside its right side.
    join.right = visit(right, full ? RelationSet() : condition_not_null);
    set_minimum(join, condition);
    int32_t number = static_cast<int32_t>(problem_.special_joins.size());
    problem_.special_joins.push_back(join);
    add_conjuncts(condition, number, join.left | join.right);
    return join.left | join.right;
  }

  void set_minimum(SpecialJoin& join, const BoundExpression* condition) {
    join.min_left = join.left;
    join.min_right = join.right;
    if (join.type == JoinType::full) return;
    RelationSet read = condition != nullptr ? relations_of(*condition) : RelationSet();
    join.min_left = read & join.left;
    // An outer join below whose nullable side the condition reads stays below.
    for (const SpecialJoin& lower : problem_.special_joins) {
      bool below = join.left.contains(lower.left | lower.right);
      if (below && (read.overlaps(lower.right) ||
                    (lower.type == JoinType::full && read.overlaps(lower.left)))) {
        join.min_left |= lower.left | lower.right;
      }
    }
    if (join.min_left.empty()) join.min_left = join.left;
  }

  void add_conjuncts(const BoundExpression* condition, int32_t special_join, RelationSet scope) {
    if (condition == nullptr) return;
    std::vector<const BoundExpression*> conjuncts;
    split_conjuncts(fold_expression(statement_.arena, statement_.evaluator, condition), conjuncts);
    for (const BoundExpression* conjunct : conjuncts) {
      note_decisions(statement_, *conjunct);
      add_clause(conjunct, special_join, scope);
    }
  }

  void add_clause(const BoundExpression* expression, int32_t special_join, RelationSet scope) {
    if (is_constant_true(expression)) return;
    Clause clause;
    clause.expression = expression;
    clause.relations = relations_of(*expression);
    clause.required = clause.relations;
    clause.special_join = special_join;
    clause.scope = scope;
    if (special_join == no_special_join) {
      bool once = problem_.relations.empty() || !is_volatile(*expression);
      if (clause.relations.empty() && scope == problem_.relations && once) {
        problem_.one_time.push_back(expression);
        return;
      }
      if (clause.relations.empty()) clause.required = scope;
      delay(clause.required, scope, no_special_join);
    } else {
      const SpecialJoin& join = problem_.special_joins[special_join];
      delay(clause.required, scope, special_join);
      bool only_right = !clause.relations.empty() && join.right.contains(clause.relations);
      if (only_right && join.type != JoinType::full) {
        // Rows of the right side that fail it match nothing: it can be checked there, and says
        // nothing of rows that the join adds.
        clause.special_join = no_special_join;
        clause.scope = join.right;
      } else {
        clause.required |= join.min_left | join.min_right;
      }
    }
    set_equality(clause);
    set_matches(clause);
    clause.selectivity = estimate_selectivity(statement_, query_, *expression);
    clause.alternatives = alternatives_of(*expression);
    problem_.clauses.push_back(clause);
  }

  std::span<const ClauseAlternative> alternatives_of(const BoundExpression& expression) const {
    std::vector<Conjunction> disjunction = disjunction_of(expression);
    auto alternatives = statement_.arena.make_span<ClauseAlternative>(disjunction.size());
    for (size_t i = 0; i < alternatives.size(); ++i) {
      auto clauses = statement_.arena.make_span<Clause>(disjunction[i].size());
      for (size_t j = 0; j < clauses.size(); ++j) {
        clauses[j].expression = disjunction[i][j];
        clauses[j].selectivity = estimate_selectivity(statement_, query_, *disjunction[i][j]);
      }
      pair_ranges(statement_, query_, clauses);
      alternatives[i].clauses = clauses;
    }
    return alternatives;
  }

  // A clause that reads the nullable side of an outer join within its scope waits for that join.
  void delay(RelationSet& required, RelationSet scope, int32_t own_join) const {
    bool changed = true;
    while (changed) {
      changed = false;
      for (size_t i = 0; i < problem_.special_joins.size(); ++i) {
        const SpecialJoin& join = problem_.special_joins[i];
        if (static_cast<int32_t>(i) == own_join || !scope.contains(join.left | join.right))
          continue;
        if (join.type == JoinType::semi || join.type == JoinType::anti) continue;
        bool reads_nullable = required.overlaps(join.min_right) ||
                              (join.type == JoinType::full && required.overlaps(join.min_left));
        RelationSet sides = join.min_left | join.min_right;
        if (reads_nullable && !required.contains(sides)) {
          required |= sides;
          changed = true;
        }
      }
    }
  }

  struct FixedColumn {
    const ColumnExpression* column;
    const CallExpression* clause;  // column = value
    const BoundExpression* value;
  };

  // `column = value` where the value reads no relation.
  static std::optional<FixedColumn> fixed_column(const Clause& clause) {
    auto* call = try_as<CallExpression>(clause.expression);
    if (call == nullptr || clause.special_join >= 0 || clause.required != clause.relations ||
        !is_hashable_equality(*call)) {
      return std::nullopt;
    }
    for (int side : {0, 1}) {
      auto* column = try_as<ColumnExpression>(call->arguments[side]);
      const BoundExpression* value = call->arguments[1 - side];
      bool fits = column != nullptr && column->levels_up == 0 && value->type == column->type &&
                  relations_of(*value).empty() && !is_volatile(*value) && !has_sublink(*value);
      if (fits) return FixedColumn{column, call, value};
    }
    return std::nullopt;
  }

  static bool has_sublink(const BoundExpression& expression) {
    return contains(expression,
                    [](const BoundExpression& e) { return e.kind == ExpressionKind::sublink; });
  }

  static bool reads_outer(const BoundExpression& expression) {
    return contains(expression, [](const BoundExpression& inner) {
      auto* column = try_as<ColumnExpression>(&inner);
      return column != nullptr && column->levels_up > 0;
    });
  }

  static bool is_inner_equality(const Clause& clause) {
    return clause.equality != nullptr && clause.special_join < 0 &&
           clause.required == clause.relations;
  }

  // a.x = 5 AND a.x = b.y: then b.y = 5 too, which an index of b may answer. One value of each
  // column is enough.
  void spread_constants() {
    std::vector<size_t> joins;
    for (size_t i = 0; i < problem_.clauses.size(); ++i) {
      if (is_inner_equality(problem_.clauses[i])) joins.push_back(i);
    }
    if (joins.empty()) return;
    std::set<ColumnNumber> spread_columns;
    for (size_t i = 0; i < problem_.clauses.size(); ++i) {
      std::optional<FixedColumn> fixed = fixed_column(problem_.clauses[i]);
      if (!fixed || !spread_columns.insert(number_of(*fixed->column)).second) continue;
      std::set<ColumnNumber> reached;
      for (size_t join : joins) spread(*fixed, join, reached);
    }
  }

  // The relation and its column.
  using ColumnNumber = std::pair<int32_t, int32_t>;
  static ColumnNumber number_of(const ColumnExpression& column) {
    return {column.relation, column.column};
  }

  void spread(const FixedColumn& fixed, size_t number, std::set<ColumnNumber>& reached) {
    const Clause& join = problem_.clauses[number];
    for (int side : {0, 1}) {
      auto* other = try_as<ColumnExpression>(join.equality->arguments[1 - side]);
      bool same_type =
          other != nullptr && other->levels_up == 0 && other->type == fixed.column->type;
      if (!same_type || !equal_expressions(join.equality->arguments[side], fixed.column)) continue;
      // A subquery's rows would be made anew for each value.
      bool is_table = query_.relations[other->relation]->kind == RangeKind::table;
      if (!is_table && reads_outer(*fixed.value)) continue;
      if (!reached.insert(number_of(*other)).second) return;
      auto* derived = statement_.arena.make<CallExpression>(*fixed.clause);
      const BoundExpression* sides[2] = {other, fixed.value};
      derived->arguments = statement_.arena.copy_span(sides);
      bool known = std::any_of(
          problem_.clauses.begin(), problem_.clauses.end(),
          [&](const Clause& clause) { return equal_expressions(clause.expression, derived); });
      if (known) return;
      problem_.clauses[number].selectivity = 1;
      // It says no more than the join's clause does, and of no other rows.
      add_clause(derived, no_special_join, join.scope);
      return;
    }
  }

  void set_matches(Clause& clause) {
    if (clause.equality == nullptr || clause.special_join < 0) return;
    const SpecialJoin& join = problem_.special_joins[clause.special_join];
    if (join.type != JoinType::semi && join.type != JoinType::anti) return;
    bool is_swapped = join.right.contains(clause.left_relations);
    clause.matches =
        estimate_semi_join(statement_, query_, *clause.equality->arguments[is_swapped ? 1 : 0],
                           *clause.equality->arguments[is_swapped ? 0 : 1]);
  }

  // As in PostgreSQL, what is volatile is asked for each pair of rows.
  static void set_equality(Clause& clause) {
    auto* call = try_as<CallExpression>(clause.expression);
    if (call == nullptr || !is_hashable_equality(*call) || calls_volatile(*call)) return;
    RelationSet left = relations_of(*call->arguments[0]);
    RelationSet right = relations_of(*call->arguments[1]);
    if (left.empty() || right.empty() || left.overlaps(right)) return;
    clause.equality = call;
    clause.left_relations = left;
    clause.right_relations = right;
  }

  StatementPlanning& statement_;
  const BoundQuery& query_;
  JoinProblem problem_;
};

}  // namespace

RelationSet relations_of(const BoundExpression& expression) {
  RelationSet set;
  walk_levels(expression, 0, [&](const BoundExpression& inner, int32_t depth) {
    auto* column = try_as<ColumnExpression>(&inner);
    if (column != nullptr && column->levels_up == depth) set |= RelationSet::of(column->relation);
    return true;
  });
  return set;
}

void split_conjuncts(const BoundExpression* condition,
                     std::vector<const BoundExpression*>& conjuncts) {
  auto* boolean = try_as<BooleanExpression>(condition);
  if (boolean == nullptr || boolean->op != BooleanOperator::and_) {
    conjuncts.push_back(condition);
    return;
  }
  for (const BoundExpression* argument : boolean->arguments) split_conjuncts(argument, conjuncts);
}

RelationSet joined_relations(const BoundQuery& query) {
  if (query.relations.size() > static_cast<size_t>(RelationSet::capacity)) {
    throw SqlError(
        sqlstate::program_limit_exceeded,
        concat("cannot join more than ", RelationSet::capacity, " relations in one query"));
  }
  RelationSet relations;
  for (const FromItem* item : query.from) relations |= shape_relations(*item);
  return relations;
}

JoinProblem make_join_problem(StatementPlanning& statement, const BoundQuery& query) {
  return Decomposition(statement, query).run();
}

bool is_legal_join(const JoinProblem& problem, RelationSet left, RelationSet right,
                   int32_t* special_join, bool* swapped) {
  *special_join = no_special_join;
  *swapped = false;
  RelationSet both = left | right;
  for (size_t i = 0; i < problem.special_joins.size(); ++i) {
    const SpecialJoin& join = problem.special_joins[i];
    RelationSet sides = join.min_left | join.min_right;
    // A full join takes its left side as it is, too: with anything else in it, it could never come.
    bool within_left =
        join.type != JoinType::full || !join.left.overlaps(both) || join.left.contains(both);
    if (within_left && (!join.min_right.overlaps(both) || join.min_right.contains(both))) continue;
    if (left.contains(sides) || right.contains(sides)) continue;  // done already
    bool forward = left.contains(join.min_left) && right.contains(join.min_right);
    bool backward = right.contains(join.min_left) && left.contains(join.min_right);
    if (!forward && !backward) return false;
    // The right side is joined as a whole and by itself.
    RelationSet right_part = forward ? right : left;
    if (!join.right.contains(right_part)) return false;
    if (join.type == JoinType::full && (forward ? left : right) != join.left) return false;
    if (*special_join != no_special_join) return false;
    *special_join = static_cast<int32_t>(i);
    *swapped = backward;
  }
  return true;
}

}  // namespace pgsilo
