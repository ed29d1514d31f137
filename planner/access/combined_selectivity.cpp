#include "planner/access/combined_selectivity.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "planner/access/combination_match.h"
#include "planner/access/join_problem.h"
#include "planner/access/known_column.h"
#include "planner/access/planning.h"

namespace pgsilo {

namespace {

constexpr size_t clause_work = 4096;
using Clauses = std::vector<Clause*>;

// The clauses' product becomes `together`; what is more selective takes more of the difference.
void share(const Clauses& clauses, double together) {
  constexpr double least = 1e-10;
  double product = 1;
  for (const Clause* clause : clauses) product *= clause->selectivity;
  together = std::clamp(together, least, 1.0);
  if (product <= 0 || product >= 1) {
    for (Clause* clause : clauses) clause->selectivity = 1;
    clauses.front()->selectivity = together;
    return;
  }
  double exponent = std::log(together) / std::log(product);
  for (Clause* clause : clauses) clause->selectivity = std::pow(clause->selectivity, exponent);
}

// Conditions on one table that are checked in one place.
class TableClauses {
 public:
  TableClauses(StatementPlanning& statement, const BoundQuery& query, const TableDescriptor& table,
               Clauses clauses)
      : statement_(statement),
        query_(query),
        sample_(statement.sample(table)),
        clauses_(std::move(clauses)) {}

  void combine() {
    while (use_common()) {
    }
    use_dependencies();
  }

 private:
  struct Choice {
    const CombinedSample* sample = nullptr;
    Clauses clauses = {};
    size_t columns = 0;

    bool is_better_than(const Choice& other) const {
      if (columns != other.columns) return columns > other.columns;
      return other.sample != nullptr && columns > 0 &&
             sample->columns.size() < other.sample->columns.size();
    }
  };

  Choice choice_of(const CombinedSample& sample) const {
    Choice choice{&sample};
    CombinationMatch match(statement_, query_, sample);
    std::vector<size_t> columns;
    for (Clause* clause : clauses_) {
      std::vector<size_t> read;
      if (!match.understands(*clause->expression, &read)) continue;
      choice.clauses.push_back(clause);
      columns.insert(columns.end(), read.begin(), read.end());
    }
    std::ranges::sort(columns);
    auto behind = std::ranges::unique(columns);
    choice.columns = static_cast<size_t>(behind.begin() - columns.begin());
    return choice;
  }

  void forget(const Clauses& used) {
    std::erase_if(clauses_,
                  [&](Clause* clause) { return std::ranges::find(used, clause) != used.end(); });
  }

  // False: there is nothing (more) that it says.
  bool use_common() {
    Choice best;
    for (const CombinedSample& sample : sample_.combinations) {
      if (sample.common.empty()) continue;
      did_work(clause_work);
      Choice choice = choice_of(sample);
      if (choice.columns >= 2 && choice.is_better_than(best)) best = std::move(choice);
    }
    if (best.sample == nullptr) return false;
    CombinationMatch match(statement_, query_, *best.sample);
    double simple = 1, met = 0, met_if_independent = 0, known = 0;
    for (const Clause* clause : best.clauses) simple *= clause->selectivity;
    for (const CombinedSample::Common& combination : best.sample->common) {
      did_work(clause_work);
      known += combination.frequency;
      bool holds = std::ranges::all_of(best.clauses, [&](const Clause* clause) {
        return match.holds(*clause->expression, combination).value_or(false);
      });
      if (!holds) continue;
      met += combination.frequency;
      met_if_independent += combination.independent;
    }
    double others = std::clamp(simple - met_if_independent, 0.0, std::max(0.0, 1 - known));
    share(best.clauses, met + others);
    forget(best.clauses);
    return true;
  }

  // The column that an equality is of; 0: it is something else.
  int16_t equal_column(const Clause& clause) const {
    const BoundExpression* expression = clause.expression;
    if (const auto* boolean = try_as<BooleanExpression>(expression);
        boolean != nullptr && boolean->op == BooleanOperator::not_)
      expression = boolean->arguments[0];
    if (expression->kind == ExpressionKind::column && expression->type == type_oid::boolean)
      return table_column(query_, *expression).number;
    if (const auto* list = try_as<InListExpression>(expression))
      return list->negated ? int16_t{0} : table_column(query_, *list->operand).number;
    if (const auto* array = try_as<ArrayComparisonExpression>(expression))
      return is_equality(array->operator_oid) && !array->is_all
                 ? table_column(query_, *array->operand).number
                 : int16_t{0};
    const auto* call = try_as<CallExpression>(clause.expression);
    if (call == nullptr || call->arguments.size() != 2 || !is_equality(call->operator_oid))
      return 0;
    bool left = !relations_of(*call->arguments[0]).empty();
    if (left == !relations_of(*call->arguments[1]).empty()) return 0;
    return table_column(query_, *call->arguments[left ? 0 : 1]).number;
  }

  static bool is_equality(Oid oid) {
    const BuiltinOperator* op = oid == 0 ? nullptr : find_operator(oid);
    return op != nullptr && op->name == "=";
  }

  struct EqualColumn {
    int16_t number = 0;
    double selectivity = 1;
    Clauses clauses = {};
    bool implied = false;
  };

  EqualColumn* find(std::vector<EqualColumn>& columns, int16_t number) const {
    auto found = std::ranges::find(columns, number, &EqualColumn::number);
    return found == columns.end() ? nullptr : &*found;
  }

  std::vector<EqualColumn> equal_columns() const {
    std::vector<EqualColumn> columns;
    for (Clause* clause : clauses_) {
      int16_t number = equal_column(*clause);
      if (number == 0) continue;
      EqualColumn* column = find(columns, number);
      if (column == nullptr) column = &columns.emplace_back(EqualColumn{.number = number});
      column->selectivity *= clause->selectivity;
      column->clauses.push_back(clause);
    }
    return columns;
  }

  // The one of most columns, of those the strongest, all of whose columns are still to be told.
  const CombinedSample::Dependency* strongest(std::vector<EqualColumn>& columns) const {
    auto is_open = [&](int16_t number) {
      const EqualColumn* column = find(columns, number);
      return column != nullptr && !column->implied;
    };
    const CombinedSample::Dependency* best = nullptr;
    for (const CombinedSample& sample : sample_.combinations) {
      for (const CombinedSample::Dependency& each : sample.dependencies) {
        bool better = best == nullptr || each.from.size() > best->from.size() ||
                      (each.from.size() == best->from.size() && each.degree > best->degree);
        if (better && is_open(each.to) && std::ranges::all_of(each.from, is_open)) best = &each;
      }
    }
    return best;
  }

  void use_dependencies() {
    std::vector<EqualColumn> columns = equal_columns();
    std::vector<const CombinedSample::Dependency*> used;
    while (columns.size() > 1) {
      did_work(clause_work);
      const CombinedSample::Dependency* found = strongest(columns);
      if (found == nullptr) break;
      used.push_back(found);
      find(columns, found->to)->implied = true;
    }
    for (size_t i = used.size(); i-- > 0;) {
      double from = 1;
      for (int16_t number : used[i]->from) from *= find(columns, number)->selectivity;
      EqualColumn& to = *find(columns, used[i]->to);
      double degree = used[i]->degree;
      double kept = from <= to.selectivity ? 1 : to.selectivity / from;
      to.selectivity = degree * kept + (1 - degree) * to.selectivity;
    }
    for (const EqualColumn& column : columns) {
      if (column.implied) share(column.clauses, column.selectivity);
    }
  }

  StatementPlanning& statement_;
  const BoundQuery& query_;
  const TableSample& sample_;
  Clauses clauses_;
};

bool has_statistics(const BoundRelation* relation) {
  return relation->table != nullptr && !relation->table->combinations.empty();
}

bool checked_together(const Clause& left, const Clause& right) {
  return left.required == right.required && left.special_join == right.special_join;
}

}  // namespace

void combine_clauses(StatementPlanning& statement, const BoundQuery& query,
                     std::span<Clause> clauses) {
  if (std::ranges::none_of(query.relations, has_statistics)) return;
  std::vector<bool> done(clauses.size());
  for (size_t i = 0; i < clauses.size(); ++i) {
    RelationSet read = relations_of(*clauses[i].expression);
    if (done[i] || read.size() != 1) continue;
    const BoundRelation* relation = query.relations[static_cast<size_t>(read.first())];
    if (!has_statistics(relation)) continue;
    Clauses of_table;
    for (size_t j = i; j < clauses.size(); ++j) {
      if (done[j] || !checked_together(clauses[i], clauses[j]) ||
          relations_of(*clauses[j].expression) != read)
        continue;
      done[j] = true;
      of_table.push_back(&clauses[j]);
    }
    TableClauses(statement, query, *relation->table, std::move(of_table)).combine();
  }
}

}  // namespace pgsilo
