// A planned statement ready to run: expressions compiled, row layouts resolved, functions looked
// up. Made once by compile(), run any number of times by Execution. Thread safety: immutable after
// compile(); several sessions may run one plan at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pgsilo {

class CatalogView;
class Transaction;
struct PlannedStatement;
struct CompiledStatement;

// What kind of answer a statement gives, and so how the session drives it.
enum class StatementKind : uint8_t {
  query,     // rows, nothing written: SELECT, VALUES
  dml,       // INSERT, UPDATE, DELETE; rows when RETURNING
  ddl,       // CREATE, DROP, ALTER, TRUNCATE
  copy_in,   // COPY FROM STDIN: needs ExecutionContext::copy_source
  copy_out,  // COPY TO STDOUT: needs ExecutionContext::copy_sink
  explain,   // rows of text
  utility,   // VACUUM, ANALYZE: only a command tag
};

// One column of a result, as RowDescription wants it.
struct ResultColumn {
  std::string name;
  uint32_t type_oid = 0;
  int32_t type_modifier = -1;
  int16_t type_length = -1;   // pg_type.typlen
  uint32_t table_oid = 0;     // 0 when the column is not a plain table column
  int16_t column_number = 0;  // pg_attribute.attnum, 0 likewise
};

class ExecutablePlan {
 public:
  explicit ExecutablePlan(std::unique_ptr<const CompiledStatement> compiled);
  ~ExecutablePlan();
  ExecutablePlan(const ExecutablePlan&) = delete;
  ExecutablePlan& operator=(const ExecutablePlan&) = delete;

  StatementKind kind() const { return kind_; }
  // The words of the command tag without its count: "SELECT", "INSERT", "CREATE TABLE", ...
  std::string_view command() const { return command_; }
  // As messages name the command: "SELECT FOR UPDATE".
  std::string_view command_name() const { return command_name_.empty() ? command_ : command_name_; }
  // True when a run changes neither data nor catalog, and locks no row.
  bool read_only() const { return read_only_; }
  // True when it is read_only() and calls no volatile function: when a run leaves nothing behind
  // but its answer.
  bool only_reads() const { return only_reads_; }
  // Type OIDs of $1, $2, ...
  std::span<const uint32_t> parameter_types() const { return parameter_types_; }
  // Empty when the statement returns no rows.
  std::span<const ResultColumn> result_columns() const { return result_columns_; }
  bool returns_rows() const { return !result_columns_.empty() || zero_column_rows_; }
  // True when `view` looks for names where that was done for the plan, every descriptor that this
  // rests on is still the one it shows, and its tables have about the sizes that it was made for,
  // with no ANALYZE since; that is looked at once in a while (`now_us`, of any clock). Cheap when
  // the versions agree.
  bool still_valid(const CatalogView& view, int64_t now_us) const;
  bool reads_tables() const;  // sequences are none
  bool reads(uint32_t table) const;
  // FOR UPDATE and the like.
  bool locks_rows() const;
  // In a block: gains the locks that running it takes of its tables, for whoever tells what it
  // returns before it runs. False: a table is not as the plan takes it any more.
  bool lock_tables(Transaction& transaction) const;
  // False: it depends on something that is not in the key of plans that are kept, or it is too
  // long.
  bool cacheable() const;
  // What the planner expects of a run; 0 of what is no plan of rows.
  double cost() const;
  // Whether rows would have been estimated otherwise, or conditions decided, with the values of
  // its parameters. Whether that makes another plan is found out once, by whoever runs it
  // (StatementPlanner::depends_on_values()).
  enum class Dependence : uint8_t { none, unknown, some };
  Dependence dependence() const { return dependence_.load(std::memory_order_relaxed); }
  void found_dependence(bool depends) const {
    dependence_.store(depends ? Dependence::some : Dependence::none, std::memory_order_relaxed);
  }
  // What it takes of memory, about; its syntax is not in it.
  size_t bytes() const { return bytes_; }
  // For the executor's own use.
  const CompiledStatement& compiled() const { return *compiled_; }

 private:
  bool rests_on_the_same(const CatalogView& view) const;
  bool has_the_same(const CatalogView& view) const;
  bool fits_sizes(int64_t now_us) const;

  std::unique_ptr<const CompiledStatement> compiled_;
  StatementKind kind_ = StatementKind::query;
  bool read_only_ = true;
  bool only_reads_ = false;
  bool zero_column_rows_ = false;  // SELECT FROM t
  size_t bytes_ = 0;
  // Of the catalog for which it was made, or was last found to be valid.
  mutable std::atomic<uint64_t> catalog_version_{0};
  mutable std::atomic<int64_t> sizes_fitted_us_{INT64_MIN};  // when that was last seen
  mutable std::atomic<Dependence> dependence_{Dependence::none};
  std::string command_;
  std::string command_name_;
  std::vector<uint32_t> parameter_types_;
  std::vector<ResultColumn> result_columns_;
};

// Compiles a planned statement. Throws SqlError: 0A000 for what the executor does not support.
std::shared_ptr<const ExecutablePlan> compile(std::shared_ptr<const PlannedStatement> planned);

}  // namespace pgsilo
