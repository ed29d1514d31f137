// What binding one statement shares: where nodes are made, the catalog, the parameters' types, what
// the plan will rest on. Thread safety: none; one per statement being bound.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/arena.h"
#include "planner/bound/expression.h"
#include "planner/bound/query.h"
#include "planner/bound/table_use.h"
#include "sql/sql_error.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

class CatalogView;
struct TypeDescriptor;
struct TypeContext;

// Types of $1, $2 ... as declared by the client or learned from where they are used.
struct ParameterTypes {
  std::vector<Oid> types;  // 0: never seen; unknown: seen, not inferred yet
  // The first $n of more than a client can give, 0: none.
  int32_t beyond = 0;
  int32_t beyond_location = -1;
  // Only where the statement's values come with it: a definition outlives them.
  bool allowed = false;
  std::span<const ValueGuess> guesses;  // PlanRequest::guesses
};

// SqlError's position for a byte offset into `text`; -1 for -1.
int character_position(std::string_view text, int32_t location);

struct StatementBinding {
  Arena& arena;
  CatalogView& catalog;
  std::string_view text;
  std::string_view database_name;
  TypeContext& types;  // its arena is `arena`
  ParameterTypes parameters;
  std::vector<const TableDescriptor*> tables;                          // without duplicates
  std::vector<TableUse> table_uses = {};                               // of each
  std::vector<std::shared_ptr<const TypeDescriptor>> user_types = {};  // without duplicates
  std::unordered_set<Oid> used_types = {};                             // their OIDs
  int32_t execution_parameters = 0;
  int32_t depth = 0;
  bool cacheable = true;
  // For the client, whenever the statement is bound.
  std::vector<SqlError> warnings{};
  bool calls_volatile = false;
  // WITH queries of which work tables were read so far.
  std::vector<const BoundCte*> work_tables = {};
  // Nobody runs what is bound: a view stays a name (BoundRelation::query is null).
  bool keeps_views = false;
  std::vector<Oid> open_views = {};     // that are being put in place of their names
  std::vector<Oid> grouping_keys = {};  // constraints by which columns depend on what is grouped
  std::string_view lock_clause = {};    // the first FOR UPDATE or the like, anywhere

  int position(int32_t location) const { return character_position(text, location); }
  void use_table(const TableDescriptor* table, TableUse use = TableUse::read);
  // The plan rests on what the catalog says of a type that a user made; nothing for others. 42704
  // if the view does not have it.
  void use_type(Oid type);
  // The type alone; what it rests on is added to `named`.
  void use_type(Oid type, std::vector<Oid>& named);
  int32_t new_execution_parameter() { return execution_parameters++; }
  // `cte` was bound, and read the work tables from number `before` on: those of others are not its
  // own business.
  void note_work_tables(BoundCte& cte, size_t before);
  // Those that `cte` reads of others.
  void read_work_tables(const BoundCte& cte);
};

// Stands where anything recurses as deep as an expression: 54001 where the stack ends.
void require_stack();

// Stands where binding recurses, and counts as long work (base/long_work.h). Throws `54001` when a
// statement is nested deeper than limits::max_nesting_depth.
class DepthGuard {
 public:
  explicit DepthGuard(StatementBinding& binding);
  ~DepthGuard() { --binding_.depth; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  StatementBinding& binding_;
};

// "character varying(10)": PostgreSQL's name of a type in messages.
std::string type_name(Oid type);
std::string type_name(Oid type, int32_t typmod);

}  // namespace pgsilo
