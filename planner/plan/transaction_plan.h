// A planned statement, and the one door to the planner.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "catalog/name_path.h"
#include "planner/bound/table_use.h"
#include "planner/plan/plan_node.h"
#include "sql/ast/node.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

struct TypeDescriptor;
class CatalogView;
struct TableSample;
struct TypeContext;

enum class PlannedKind : uint8_t {
  query,  // SELECT, VALUES
  insert,
  update,
  delete_,
  explain,  // `inner` and `explain`
  utility,  // everything else: `syntax`, run by the executor or by the session. COPY (query) TO and
            // CREATE TABLE AS have `inner`
};

// As RowDescription and Describe want it.
struct PlannedColumn {
  std::string_view name;
  Oid type = 0;
  int32_t typmod = -1;
  Oid table = 0;              // 0 when not a plain column
  int16_t column_number = 0;  // pg_attribute.attnum
};

enum class ExplainFormat : uint8_t { text, json };

struct ExplainOptions {
  bool analyze = false;
  bool verbose = false;
  bool costs = true;
  bool summary = false;
  bool timing = true;
  ExplainFormat format = ExplainFormat::text;
};

// Thread safety: immutable once returned by plan_statement().
struct PlannedStatement {
  // Everything below lives in it, or in what `syntax_owner` keeps alive, or in a descriptor of
  // `descriptors`.
  Arena arena{ArenaLimit::reserve};
  std::shared_ptr<const void> syntax_owner;
  std::vector<std::shared_ptr<const void>> descriptor_owners;

  PlannedKind kind = PlannedKind::utility;
  const PlanNode* root = nullptr;     // null for utility and explain
  const ast::Node* syntax = nullptr;  // the statement as parsed
  std::string_view text;              // the text positions refer to
  // Materialised WITH queries, in an order in which each refers only to earlier ones.
  std::span<const PlanNode*> ctes;
  size_t work_tables = 0;  // of WITH RECURSIVE
  std::shared_ptr<const PlannedStatement>
      inner;  // what EXPLAIN explains, COPY (query) copies, CREATE TABLE AS stores
  ExplainOptions explain;

  std::span<const Oid> parameter_types;  // of $1, $2 ...; as far as declared or used
  // By whose values other rows would have been estimated (0 for $1), each once.
  std::span<const int32_t> estimated_parameters;
  // A condition, or what an index can do for one, depends on what a parameter's value is.
  bool parameters_decide = false;
  int32_t execution_parameter_count = 0;
  std::span<const PlannedColumn> result_columns;  // of a query, RETURNING, or EXPLAIN
  bool returns_rows = false;                      // also for SELECT without columns

  // What the plan rests on: the transaction's read set holds these. A plan is valid while the view
  // shows the same ones.
  std::span<const TableDescriptor*> tables;
  std::span<const TableUse> table_uses;       // of each
  std::span<const double> table_rows;         // of each, as the statistics said
  std::span<const uint64_t> table_refreshes;  // of each, TableStatisticsSlot::refreshes() before
  // Types that users made, of which the plan has values or names.
  std::vector<std::shared_ptr<const TypeDescriptor>> user_types;
  // Equal versions of the catalog and equal paths: certainly still valid.
  uint64_t catalog_version = 0;
  NamePath name_path;
  // Neither writes rows nor changes the catalog nor locks rows.
  bool read_only = false;
  // A function somewhere in it is volatile.
  bool calls_volatile = false;
  // "FOR UPDATE" or the like if a SELECT anywhere in it locks rows; else empty.
  std::string_view lock_clause;
  // May run and re-run as one transaction of its own: no transaction control, no COPY, no cursor.
  bool one_shot = false;
  // Cannot be kept: the plan depends on something that is not in its key.
  bool cacheable = true;
  std::vector<SqlError> warnings;  // for the client; it is told again where the plan is made again
};

// What of a session's settings the planner looks at.
struct PlannerSettings {
  bool enable_sequential_scan = true;
  bool enable_index_scan = true;
  bool enable_nested_loop = true;
  bool enable_hash_join = true;
  bool enable_merge_join = true;
  bool enable_incremental_sort = true;
  bool enable_memoize = true;
  int32_t statistics_target = limits::statistics_target;
  bool enable_hash_aggregate = true;
  bool enable_sort = true;
  double recursive_worktable_factor = 10;
  size_t work_mem_bytes = size_t{4} << 20;
  size_t hash_memory_bytes = size_t{8} << 20;  // the same for hash tables
  std::span<const std::string> search_path;    // empty: public
};

// Evaluates what can be computed while planning. The executor implements it (it has the functions,
// the planner has not).
class ConstantEvaluator {
 public:
  virtual ~ConstantEvaluator() = default;
  // `expression` has only constants for leaves and calls only immutable functions. By-reference
  // results live in `arena`. Throws SqlError as the run would; planner/rewrite/fold.h
  // says when the planner leaves the expression to the run then.
  virtual Datum evaluate(const BoundExpression& expression, Arena& arena) = 0;
  // The same for an estimate: functions that read the clock may be among those called.
  virtual Datum estimate(const BoundExpression& expression, Arena& arena) = 0;
  // The value (0 for $1) of a plan that is made for one run, which it does not outlive; null: the
  // plan is for all values. What cannot be computed of values is left for the run.
  virtual const Datum* parameter(int32_t) const { return nullptr; }
  virtual bool knows_parameters() const { return false; }
};

// How big tables are and what their columns hold, roughly (docs/statistics.md). The executor
// implements it (it sees the trees, the planner does not).
class TableStatistics {
 public:
  virtual ~TableStatistics() = default;
  // Cheap.
  virtual double row_count(const TableDescriptor& table) const = 0;
  // What the columns hold (planner/statistics); never null, but it may know nothing. The first
  // question about a table may take some milliseconds, and gives way. `default_target`: of
  // default_statistics_target.
  virtual std::shared_ptr<const TableSample> sample(const TableDescriptor& table,
                                                    int32_t default_target) const = 0;
};

// What has no default cannot be forgotten: the executor's statement_planner.h makes all requests.
struct PlanRequest {
  CatalogView& catalog;
  // Reads literals (a literal's meaning may depend on DateStyle and time zone: then the plan is not
  // `cacheable`). Its arena is not used.
  TypeContext& types;
  ConstantEvaluator& evaluator;
  const TableStatistics& statistics;
  const PlannerSettings& settings;
  std::string_view database_name;  // a qualified name may begin with it
  const ast::Node* statement = nullptr;
  std::shared_ptr<const void> syntax_owner;  // keeps `statement` and `text` alive
  std::string_view text;  // what was parsed, maybe with many others: errors point into it
  std::span<const Oid> declared_parameter_types;  // 0 (or unknown): to be inferred
  bool parameters_allowed = true;                 // false for simple queries: $1 is 42P02
  std::span<const ValueGuess> guesses;  // of $1, $2 ...; average of those that are not there
};

// Binds and plans. Throws SqlError with PostgreSQL's SQLSTATE, text and position. The depth of
// recursion is bounded (limits::max_nesting_depth); run it on a stack of at least 1 MiB.
std::shared_ptr<const PlannedStatement> plan_statement(const PlanRequest& request);

}  // namespace pgsilo
