// Sizes of tables, indexes and the database: bytes of memory that hold their rows and trees
// (docs/memory.md), and sizes for people to read.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/byte_buffer.h"
#include "catalog/builtin/builtin.h"
#include "catalog/catalog_snapshot.h"
#include "catalog/catalog_view.h"
#include "catalog/system_tables.h"
#include "executor/execution_context.h"
#include "executor/functions/function.h"
#include "executor/relation_memory.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/numeric.h"
#include "storage/relation/relation.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction.h"

namespace pgsilo::functions {
namespace {

Datum copied(EvalContext& context, std::string_view text) {
  return Datum::of_bytes(context.arena->copy_string(text));
}

// The table or the index of that OID; both null: there is none.
struct SizedRelation {
  const TableDescriptor* table = nullptr;
  const IndexDescriptor* index = nullptr;

  SizedRelation(const EvalContext& context, Datum oid) {
    const CatalogView& catalog = context.execution->told_catalog();
    table = catalog.find_table(static_cast<Oid>(oid.i64));
    if (table != nullptr) return;
    index = catalog.snapshot().find_index(static_cast<Oid>(oid.i64), &table);
    if (index == nullptr) table = nullptr;
  }
  bool exists() const { return table != nullptr; }
  bool is_index() const { return index != nullptr; }
  RelationMemory memory() const {
    return is_index() ? memory_of(*table, *index) : memory_of(*table);
  }
  size_t bytes() const { return memory().bytes(); }
};

Datum size(size_t bytes) { return Datum::of_int(static_cast<int64_t>(bytes)); }

Datum relation_size(EvalContext& context, const Datum* a) {
  SizedRelation relation(context, a[0]);
  return relation.exists() ? size(relation.bytes()) : Datum();
}

// PostgreSQL's forks: all that there is here is in the main one.
Datum fork_size(EvalContext& context, const Datum* a) {
  std::string_view fork = a[1].bytes();
  if (fork == "main") return relation_size(context, a);
  if (fork == "fsm" || fork == "vm" || fork == "init")
    return SizedRelation(context, a[0]).exists() ? size(0) : Datum();
  throw SqlError(sqlstate::invalid_parameter_value, "invalid fork name")
      .hint("Valid fork names are \"main\", \"fsm\", \"vm\", and \"init\".");
}

size_t index_bytes(const TableDescriptor& table) {
  size_t bytes = 0;
  for (const auto& index : table.indexes) bytes += memory_of(table, *index).bytes();
  return bytes;
}

Datum indexes_size(EvalContext& context, const Datum* a) {
  SizedRelation relation(context, a[0]);
  if (!relation.exists()) return Datum();
  return size(relation.is_index() ? 0 : index_bytes(*relation.table));
}

Datum total_size(EvalContext& context, const Datum* a) {
  SizedRelation relation(context, a[0]);
  if (!relation.exists()) return Datum();
  return size(relation.bytes() + (relation.is_index() ? 0 : index_bytes(*relation.table)));
}

// Of all relations, the catalog's and those that an open transaction has made included.
Datum whole_size(const EvalContext& context) {
  const EngineParts& engine = context.execution->transaction->worker().parts();
  size_t bytes = 0;
  for (const Relation* relation : engine.relations.list()) bytes += relation->memory_bytes();
  return size(bytes);
}

Datum database_size(EvalContext& context, const Datum* a) {
  return a[0].i64 == system_oid::database_postgres ? whole_size(context) : Datum();
}

Datum database_size_by_name(EvalContext& context, const Datum* a) {
  if (a[0].bytes() == context.execution->database_name) return whole_size(context);
  throw SqlError(sqlstate::undefined_database,
                 concat("database \"", a[0].bytes(), "\" does not exist"));
}

// "10 kB": the unit grows when ten thousand of it are reached; halves round away from zero.
Datum pretty_size(EvalContext& context, const Datum* a) {
  constexpr const char* units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
  int64_t size = a[0].i64;
  auto magnitude = [](int64_t value) {
    return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  };
  if (magnitude(size) < 10 * 1024) return copied(context, concat(size, " bytes"));
  int64_t halves = size / 512;  // of a kB
  size_t unit = 1;
  while (magnitude(halves) >= 2 * 10 * 1024 - 1 && unit + 1 < std::size(units)) {
    halves /= 1024;
    ++unit;
  }
  int64_t rounded = (halves + (halves < 0 ? -1 : 1)) / 2;
  return copied(context, concat(rounded, " ", units[unit]));
}
// Rounded, halves away from zero, as PostgreSQL does it: half a PB more or less, then cut.
Datum petabytes(EvalContext& context, Datum size) {
  Arena& arena = *context.arena;
  auto integer = [&](int64_t value) { return numeric_from_integer(value, arena); };
  auto cut = [&](Datum value, int64_t by) {
    return numeric_trunc(numeric_div(value, integer(by), arena), 0, arena);
  };
  Datum halves = cut(size, int64_t{1} << 49);
  bool is_negative = numeric_compare(size, integer(0)) < 0;
  return cut(numeric_add(halves, integer(is_negative ? -1 : 1), arena), 2);
}

Datum pretty_numeric_size(EvalContext& context, const Datum* a) {
  // What is few bytes is shown as it is; what is more than a bigint can say as so many PB.
  double magnitude = std::abs(numeric_to_float8(a[0]));
  bool is_few = magnitude < 10 * 1024;
  if (is_few || magnitude >= 0x1p62) {
    ByteBuffer shown;
    print_numeric(is_few ? a[0] : petabytes(context, a[0]), shown);
    return copied(context, concat(shown.view(), is_few ? " bytes" : " PB"));
  }
  Datum size = Datum::of_int(numeric_to_integer(a[0], 8));
  return pretty_size(context, &size);
}

// pg_class.reltuples and relpages say how large a relation is now, where PostgreSQL says how large
// it was when it was looked at last; before that, as little as there. A sequence is one row.
bool is_sequence(const SizedRelation& relation) {
  return relation.exists() && relation.table->kind == RelationKind::sequence;
}
bool is_counted(const SizedRelation& relation) {
  return relation.exists() && relation.table->kind != RelationKind::view &&
         relation.table->statistics->counted();
}
bool is_new_index(const SizedRelation& relation) {
  return relation.is_index() && !relation.index->uncounted;
}

Datum class_rows(EvalContext& context, const Datum* a) {
  SizedRelation relation(context, a[0]);
  if (is_sequence(relation)) return Datum::of_float(1);
  if (!is_counted(relation)) return Datum::of_float(is_new_index(relation) ? 0 : -1);
  return Datum::of_float(static_cast<float>(std::max<int64_t>(relation.memory().rows, 0)));
}

Datum class_pages(EvalContext& context, const Datum* a) {
  SizedRelation relation(context, a[0]);
  if (is_sequence(relation)) return Datum::of_int(1);
  if (!is_counted(relation)) return Datum::of_int(is_new_index(relation) ? 1 : 0);
  size_t pages = (relation.bytes() + limits::page_bytes - 1) / limits::page_bytes;
  return Datum::of_int(static_cast<int32_t>(std::min<size_t>(pages, INT32_MAX)));
}

constexpr FunctionEntry entries[] = {
    {2325, relation_size},
    {2332, fork_size},
    {2997, relation_size},  // pg_table_size: there is nothing beside the rows
    {2998, indexes_size},
    {2286, total_size},
    {2324, database_size},
    {2168, database_size_by_name},
    {2288, pretty_size},
    {3166, pretty_numeric_size},
    {relation_rows_procedure, class_rows},
    {relation_pages_procedure, class_pages},
};

}  // namespace

std::span<const FunctionEntry> sizes() { return entries; }

}  // namespace pgsilo::functions
