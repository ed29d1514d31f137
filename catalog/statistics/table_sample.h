// What a look at some thousand rows says about a table: how many different values its columns have,
// and how many NULLs (docs/statistics.md). Of a small table all rows are looked at; of a large one
// rows at places that its tree's upper nodes spread evenly, and from those is estimated what a full
// look would find. Nothing is registered for validation: it may be wrong, and is.
//
// Thread safety: immutable once taken. take_table_sample(): any thread under a pin, beside writers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pgsilo {

struct TableDescriptor;

struct ColumnSample {
  double distinct = 0;  // different values, NULL not counted; 0: not known
  double null_fraction = 0;
};

struct TableSample {
  double rows = 0;                    // of the table when it was taken
  size_t rows_read = 0;               // of them
  std::vector<ColumnSample> columns;  // by number - 1
  // The first columns of indexes, two and more of them, but for whole unique keys: a NULL counts as
  // a value.
  struct Prefix {
    std::vector<int16_t> columns;
    double distinct = 0;
  };
  std::vector<Prefix> prefixes;

  // Of one column, or of several that begin an index, in any order. 0: not known.
  double distinct(std::span<const int16_t> column_numbers) const;
};

TableSample take_table_sample(const TableDescriptor& table);

// Of `rows` rows, `looked_at` were looked at and had `seen` different values, `seen_once` of them
// once: how many different values all rows have (Haas and Stokes 1998, estimator Duj1, as
// PostgreSQL's ANALYZE).
double estimate_distinct(double rows, double looked_at, double seen, double seen_once);

}  // namespace pgsilo
