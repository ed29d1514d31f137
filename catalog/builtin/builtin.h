// PostgreSQL's built-in operators, functions, casts and aggregates as data, with its OIDs: what the
// binder resolves names against and what the rows of pg_proc and its kin would say. Types are in
// sql/types/type.h. Only what the executor implements is listed; executor/functions maps a
// procedure's OID to its code. Thread safety: constant data.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "sql/types/type_oid.h"

namespace pgsilo {

inline constexpr size_t max_builtin_arguments = 8;

struct BuiltinProcedure {
  Oid oid;
  std::string_view name;
  Oid result;
  uint8_t argument_count;
  uint8_t default_count;  // trailing arguments that may be left out; their values: default_text()
  char kind;              // prokind: 'f' function, 'a' aggregate, 'w' window function
  char volatility;        // provolatile: 'i', 's', 'v'
  bool strict;
  bool returns_set;
  Oid variadic;  // element type of a VARIADIC last argument (any: VARIADIC "any"), or 0
  std::array<uint16_t, max_builtin_arguments> arguments;  // type OIDs, all below 2^16
  // What it does outlives a rollback: who has called it does not run again inside the server.
  bool acts_outside = false;

  std::span<const uint16_t> argument_types() const { return {arguments.data(), argument_count}; }
};

struct BuiltinOperator {
  Oid oid;
  std::string_view name;
  Oid left;  // 0: prefix operator
  Oid right;
  Oid result;
  Oid procedure;
  Oid commutator;  // 0: none
  Oid negator;     // 0: none
  // What pg_operator says beside these; nothing here goes by it.
  bool can_merge;
  bool can_hash;
  Oid restriction_estimator;  // 0: none
  Oid join_estimator;         // 0: none
};

enum class CastMethod : char { function = 'f', binary = 'b', in_out = 'i' };
enum class CastContext : char { implicit = 'i', assignment = 'a', explicit_ = 'e' };

// As pg_cast. Casts between a type and the string types by text form ("I/O conversion") are not
// listed: they follow from PostgreSQL's rule (find_coercion_pathway). A cast from a type to itself
// applies a type modifier.
struct BuiltinCast {
  Oid source;
  Oid target;
  Oid procedure;  // 0 unless method is function
  CastContext context;
  CastMethod method;
};

// array[subscript]... and what is like it, of our own: PostgreSQL has an expression for it instead.
inline constexpr Oid array_element_procedure = 9010;
inline constexpr Oid array_slice_procedure = 9015;
inline constexpr Oid set_array_element_procedure = 9016;
inline constexpr Oid set_array_slice_procedure = 9017;
// What pg_class.reltuples and relpages stand for (docs/statistics.md).
inline constexpr Oid relation_rows_procedure = 9011;
inline constexpr Oid relation_pages_procedure = 9012;

// All procedures of a name, by OID; empty when there is none.
std::span<const BuiltinProcedure> find_procedures(std::string_view name);
// Null when there is none.
const BuiltinProcedure* find_procedure(Oid oid);
// The SQL text of the default for argument `argument` (0-based), e.g. "0.0"; empty when it has
// none.
std::string_view procedure_default_text(Oid oid, size_t argument);
std::span<const BuiltinProcedure> all_procedures();

// A column of what a function that returns records gives (an OUT parameter).
struct BuiltinRowColumn {
  Oid procedure;
  std::string_view name;
  Oid type;
};
// Empty: the function returns one value.
std::span<const BuiltinRowColumn> row_columns(Oid procedure);

std::span<const BuiltinOperator> find_operators(std::string_view name);
const BuiltinOperator* find_operator(Oid oid);
// The operator of exactly these types, or null.
const BuiltinOperator* find_operator(std::string_view name, Oid left, Oid right);
std::span<const BuiltinOperator> all_operators();

const BuiltinCast* find_cast(Oid source, Oid target);
std::span<const BuiltinCast> all_casts();

}  // namespace pgsilo
