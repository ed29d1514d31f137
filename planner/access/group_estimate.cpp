// How many groups rows make.
#include <algorithm>
#include <cmath>
#include <vector>

#include "catalog/descriptors.h"
#include "catalog/statistics/table_sample.h"
#include "planner/access/join_problem.h"
#include "planner/access/planning.h"
#include "planner/access/selectivity.h"
#include "planner/bound/expression_tree.h"

namespace pgsilo {

namespace {

// The expressions that are grouped by and come from one relation.
struct RelationGroup {
  int32_t relation = -1;  // -1: from none or several
  double rows = 0;        // of the relation
  double product = 1;
  double most = 1;  // of one of them
  const TableDescriptor* table = nullptr;
  std::vector<int16_t> columns = {};
};

void add(RelationGroup& group, const KnownColumn& column, TableColumn place) {
  group.rows = std::max(group.rows, column.rows);
  double values = std::max(1.0, column.distinct);
  group.product *= values;
  group.most = std::max(group.most, values);
  group.table = place.table;
  group.columns.push_back(place.number);
}

// The columns' values, of those that CREATE STATISTICS counted together their combinations.
double known_product(StatementPlanning& statement, const RelationGroup& group) {
  const TableSample& sample = statement.sample(*group.table);
  const TableSample::Prefix* best = nullptr;
  for (const TableSample::Prefix& prefix : sample.prefixes) {
    bool fits = prefix.asked_for && prefix.distinct > 0 &&
                std::ranges::all_of(prefix.columns, [&](int16_t number) {
                  return std::ranges::find(group.columns, number) != group.columns.end();
                });
    if (fits && (best == nullptr || prefix.columns.size() > best->columns.size())) best = &prefix;
  }
  if (best == nullptr) return group.product;
  double product = group.product * best->distinct;
  for (int16_t number : best->columns) product /= std::max(1.0, sample.distinct({&number, 1}));
  return product;
}

// Several columns hardly ever have all combinations: what their index has seen of them counts, else
// PostgreSQL's guess.
double combinations(StatementPlanning& statement, const RelationGroup& group) {
  if (group.columns.size() == 1) return std::min(group.product, group.rows);
  if (group.table != nullptr) {
    double together = statement.sample(*group.table).distinct(group.columns);
    if (together > 0) return together;
  }
  constexpr double part_of_rows = 0.1;
  double most = std::min(std::max(group.rows * part_of_rows, group.most), group.rows);
  return std::min(group.table == nullptr ? group.product : known_product(statement, group), most);
}

// Of `values` values in the relation's rows, those that some of the rows still have.
double values_left(double values, double relation_rows, double rows) {
  if (rows >= relation_rows || values <= 0) return values;
  return values * (1 - std::pow((relation_rows - rows) / relation_rows, relation_rows / values));
}

int32_t relation_of(const BoundQuery& query, const BoundExpression& expression) {
  RelationSet read = relations_of(expression);
  if (query.set_operation != QuerySetOperation::none || read.size() != 1) return -1;
  return read.first();
}

}  // namespace

double distinct_rows(StatementPlanning& statement, const BoundQuery& query,
                     std::span<const BoundExpression* const> expressions, double rows) {
  if (query.set_operation != QuerySetOperation::none)
    return clamp_rows(std::min(default_distinct, rows));
  std::vector<RelationGroup> groups;
  double product = 1;
  for (const BoundExpression* expression : expressions) {
    // No more than what a cast makes them from; how many fewer is not known.
    const BoundExpression* read = expression;
    while (const BoundExpression* argument = converted(*read)) read = argument;
    int32_t relation = relation_of(query, *read);
    KnownColumn column = know_column(statement, query, *read, ColumnUse::equality);
    if (relation < 0) {
      product *= column.distinct;
      continue;
    }
    auto group = std::find_if(groups.begin(), groups.end(), [&](const RelationGroup& known) {
      return known.relation == relation;
    });
    if (group == groups.end())
      group = groups.insert(groups.end(), RelationGroup{.relation = relation});
    add(*group, column, table_column(query, *read));
  }
  for (const RelationGroup& group : groups)
    product *= values_left(combinations(statement, group), group.rows, rows);
  return clamp_rows(std::min(product, rows));
}

// Where there are fewer combinations than columns could make, each of those there are is by so much
// more frequent; but a common value of one column comes with many of the other, and then the
// product is right.
double dependent_selectivity(StatementPlanning& statement, const TableDescriptor& table,
                             const IndexDescriptor& index, size_t columns, double product) {
  const TableSample& sample = statement.sample(table);
  std::vector<int16_t> numbers;
  double possible = 1;
  for (size_t i = 0; i < columns; ++i) {
    numbers.push_back(index.columns[i].number);
    possible *= std::max(1.0, sample.distinct({&numbers.back(), 1}));
  }
  double combinations = sample.distinct(numbers);
  if (combinations <= 0) return product;
  double dependent = product * std::max(1.0, possible / combinations);
  return std::max(product, std::min(1 / combinations, dependent));
}

}  // namespace pgsilo
