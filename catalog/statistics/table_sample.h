// What a look at some thousand rows says about a table: how many different values its columns have,
// how many NULLs, which values are the commonest and between which the others lie
// (docs/statistics.md). Of a small table all rows are looked at; of a large one rows at places that
// its tree's upper nodes spread evenly, and from those is estimated what a full look would find.
// Nothing is registered for validation: it may be wrong, and is.
//
// Thread safety: immutable once taken. take_table_sample(): any thread under a pin, beside writers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sql/types/datum.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

class Arena;
struct TableDescriptor;
struct TypeInfo;

struct ColumnSample {
  double distinct = 0;  // different values, NULL not counted; 0: not known
  double null_fraction = 0;
  double width = 0;  // bytes of a value that is not NULL, as PostgreSQL stores it; 0: not known
  // Between the order of the values and that of the rows: 1 where they lie in order.
  std::optional<double> correlation = {};
  const TypeInfo* type = nullptr;  // of the values below; null: none are known
  // The commonest values, and the part of all rows that has each; most frequent first.
  std::span<const Datum> common = {};
  std::span<const double> frequencies = {};
  std::span<const uint32_t> common_in_order = {};  // their numbers, least value first
  // Between two neighbours of these lie about as many of the other rows each, NULL not counted.
  std::span<const Datum> bounds = {};
};

// Of columns that CREATE STATISTICS names.
struct CombinedSample {
  // Of rows whose values of `from` are equal, which part have one value of `to` (among them those
  // that are alone).
  struct Dependency {
    std::vector<int16_t> from;
    int16_t to = 0;
    double degree = 0;
  };
  struct Common {
    std::span<const Datum> values = {};  // by column; NULL too
    double frequency = 0;
    double independent = 0;  // what it would be if the columns knew nothing of each other
  };
  std::vector<int16_t> columns;  // numbers
  std::vector<const TypeInfo*> types;
  std::vector<Dependency> dependencies;
  std::vector<Common> common;  // most frequent first
};

struct TableSample {
  double rows = 0;                    // of the table when it was taken
  size_t rows_read = 0;               // of them
  std::vector<ColumnSample> columns;  // by number - 1
  // The first columns of indexes, two and more of them, but for whole unique keys, and what CREATE
  // STATISTICS has asked for: a NULL counts as a value.
  struct Prefix {
    std::vector<int16_t> columns;
    double distinct = 0;
    bool asked_for = false;
  };
  std::vector<Prefix> prefixes;
  std::vector<CombinedSample> combinations;
  std::shared_ptr<const Arena> values = {};  // of the columns

  // Of one column, or of several that begin an index, in any order. 0: not known.
  double distinct(std::span<const int16_t> column_numbers) const;
};

// `default_target`: of columns that have no statistics_target of their own. Gives way.
TableSample take_table_sample(const TableDescriptor& table, int32_t default_target);

// Of `rows` rows, `looked_at` were looked at and had `seen` different values, `seen_once` of them
// once: how many different values all rows have (Haas and Stokes 1998, estimator Duj1, as
// PostgreSQL's ANALYZE).
double estimate_distinct(double rows, double looked_at, double seen, double seen_once);

}  // namespace pgsilo
