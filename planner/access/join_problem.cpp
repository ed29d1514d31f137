#include "planner/access/join_problem.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "planner/access/combined_selectivity.h"
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

class Decomposition {
 public:
  Decomposition(StatementPlanning& statement, const BoundQuery& query)
      : statement_(statement), query_(query) {}

  JoinProblem run() {
    problem_.relations = joined_relations(query_);
    for (const FromItem* item : query_.from) visit(*item);
    add_conjuncts(query_.where, no_special_join, problem_.relations);
    spread_constants();
    pair_ranges(statement_, query_, problem_.clauses);
    combine_clauses(statement_, query_, problem_.clauses);
    return std::move(problem_);
  }

 private:
  RelationSet visit(const FromItem& item) {
    if (item.relation >= 0) return RelationSet::of(item.relation);
    PGSILO_CHECK(item.join_type != JoinType::right);  // reduce_outer_joins()
    RelationSet left = visit(*item.left);
    RelationSet right = visit(*item.right);
    if (item.join_type == JoinType::inner) {
      add_conjuncts(item.condition, no_special_join, left | right);
      return left | right;
    }
    SpecialJoin join;
    join.type = item.join_type;
    join.left = left;
    join.right = right;
    set_minimum(join, item.condition);
    int32_t number = static_cast<int32_t>(problem_.special_joins.size());
    problem_.special_joins.push_back(join);
    add_conjuncts(item.condition, number, left | right);
    return left | right;
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
    split_conjuncts(fold_condition(statement_.arena, statement_.evaluator, condition), conjuncts);
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
      combine_clauses(statement_, query_, clauses);
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

RelationSet shape_relations(const FromItem& item) {
  if (item.relation >= 0) return RelationSet::of(item.relation);
  return shape_relations(*item.left) | shape_relations(*item.right);
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
