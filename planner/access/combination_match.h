// Conditions that can be held against one combination of values. Thread safety: as TableStatistics.
#pragma once

#include <optional>
#include <vector>

#include "catalog/statistics/table_sample.h"
#include "planner/bound/query.h"

namespace pgsilo {

struct StatementPlanning;

class CombinationMatch {
 public:
  CombinationMatch(StatementPlanning& statement, const BoundQuery& query,
                   const CombinedSample& sample)
      : statement_(statement), query_(query), sample_(sample) {}

  // Whether the condition reads columns of the sample only, and compares them with known values.
  // Adds their positions to `columns`.
  bool understands(const BoundExpression& condition, std::vector<size_t>* columns) const;
  // Precondition: it is understood. None: it is NULL.
  std::optional<bool> holds(const BoundExpression& condition,
                            const CombinedSample::Common& combination) const;

 private:
  struct Compared {
    size_t column = 0;
    std::string_view op;
    const BoundExpression* value = nullptr;
  };
  std::optional<size_t> column_of(const BoundExpression& expression) const;
  std::optional<Compared> comparison_of(const BoundExpression& condition) const;
  bool can_compare(size_t column, const BoundExpression& value) const;
  std::optional<bool> compare(const Compared& compared,
                              const CombinedSample::Common& combination) const;
  std::optional<bool> is_listed(const BoundExpression& operand, ExpressionList items,
                                const CombinedSample::Common& combination) const;

  StatementPlanning& statement_;
  const BoundQuery& query_;
  const CombinedSample& sample_;
};

}  // namespace pgsilo
