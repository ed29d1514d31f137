#include "catalog/statistics/table_sample.h"

#include <algorithm>
#include <optional>
#include <random>

#include "base/arena.h"
#include "catalog/descriptors.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "storage/index/scan_cursor.h"
#include "storage/record/record.h"
#include "storage/relation/relation.h"

namespace pgsilo {

namespace {

using Hashes = std::vector<uint64_t>;

uint64_t mix(uint64_t left, uint64_t right) {
  uint64_t mixed = (left ^ (right + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
  return mixed ^ (mixed >> 32);
}

// The values of a column, or of several together, that were seen.
struct Values {
  Hashes seen;
  // Of neighbours in the table, how many were looked at, and how many had one value.
  double neighbours = 0;
  double equal_neighbours = 0;

  // Rows of one value may lie together, and then a look here and there meets each value once. So
  // what is estimated from is not rows but runs of rows of one value, of which each look meets one.
  double runs(double rows) const {
    return neighbours == 0 ? rows : rows * (1 - equal_neighbours / neighbours);
  }

  double count_distinct(double rows) {
    std::sort(seen.begin(), seen.end());
    double different = 0;
    double once = 0;
    for (size_t begin = 0; begin < seen.size();) {
      size_t end = begin + 1;
      while (end < seen.size() && seen[end] == seen[begin]) ++end;
      ++different;
      if (end == begin + 1) ++once;
      begin = end;
    }
    return estimate_distinct(runs(rows), static_cast<double>(seen.size()), different, once);
  }
};

class Sampler {
 public:
  explicit Sampler(const TableDescriptor& table)
      : table_(table), columns_(table.columns.size()), nulls_(table.columns.size()) {
    for (const auto& index : table.indexes) add_prefixes(*index);
  }

  TableSample take() {
    double rows = static_cast<double>(std::max<int64_t>(table_.relation->row_count(), 0));
    std::vector<std::string> places;
    if (rows > static_cast<double>(limits::wholly_sampled_rows) ||
        table_.relation->memory_bytes(MemoryKind::rows) > limits::sampled_bytes) {
      places = table_.relation->tree().scattered_keys(limits::sampled_rows, places_seed);
    }
    if (places.empty()) read_all();
    read_places(places);
    return result(rows);
  }

 private:
  static constexpr uint32_t places_seed = 1;  // the same places of the same tree each time
  struct Prefix {
    std::vector<int16_t> columns;
    Values values;
  };
  // Of one row; none: NULL.
  using RowHashes = std::vector<std::optional<uint64_t>>;

  void add_prefixes(const IndexDescriptor& index) {
    std::vector<int16_t> columns;
    for (const IndexColumn& column : index.columns) {
      columns.push_back(column.number);
      bool is_key = index.unique && columns.size() == index.columns.size();
      if (columns.size() > 1 && !is_key) prefixes_.push_back({columns, {}});
    }
  }

  bool is_enough() const { return bytes_read_ >= limits::sampled_bytes; }

  void read_all() {
    ScanCursor cursor(table_.relation->tree(), KeyRange{}, ScanDirection::forward, nullptr);
    for (size_t i = 0; i < 2 * limits::wholly_sampled_rows && !is_enough(); ++i) {
      const Record* record = cursor.next();
      if (record == nullptr) return;
      RowHashes row;
      if (read(*record, &row)) add(row);
    }
  }

  // In no order: where rows are so wide that some places will do, those are spread.
  void read_places(std::vector<std::string>& places) {
    std::shuffle(places.begin(), places.end(), std::minstd_rand(places_seed));
    for (size_t i = 0; i < places.size() && !is_enough(); ++i) read_place(places[i]);
  }

  // A row, and the one behind it to compare with.
  void read_place(const std::string& place) {
    constexpr int patience = 8;  // records without a row are passed over
    ScanCursor cursor(table_.relation->tree(), {KeyBound::inclusive(place), {}},
                      ScanDirection::forward, nullptr);
    RowHashes first;
    for (int i = 0; i < patience; ++i) {
      const Record* record = cursor.next();
      if (record == nullptr) return;
      RowHashes row;
      if (!read(*record, &row)) continue;
      if (!first.empty()) return compare(first, row);
      add(row);
      first = std::move(row);
    }
  }

  // False: it has none, or none that the table as it is now can read; while it is being written,
  // another one will do.
  bool read(const Record& record, RowHashes* hashes) {
    TidWord word;
    if (!record.try_read(row_, word) || word.is_absent() || word.is_obsolete()) return false;
    bytes_read_ += row_.bytes().size();
    hashes->resize(columns_.size());
    try {
      RowLayout::Row row(table_.layout, row_.bytes());
      for (size_t i = 0; i < columns_.size(); ++i) {
        const TypeInfo* type = hashed_type(i);
        Datum value = type != nullptr ? row.get_unpadded(i) : Datum();
        if (!value.null) (*hashes)[i] = type->hash(value);
      }
    } catch (const SqlError&) {
      return false;
    }
    return true;
  }

  // Null: nothing can be said of the column.
  const TypeInfo* hashed_type(size_t column) const {
    const ColumnDescriptor& described = table_.columns[column];
    const TypeInfo* type = described.dropped ? nullptr : find_type(described.type);
    return type != nullptr && type->is_hashable() ? type : nullptr;
  }

  static uint64_t together(const RowHashes& row, const Prefix& prefix) {
    uint64_t all = 0;
    for (int16_t number : prefix.columns)
      all = mix(all, row[static_cast<size_t>(number) - 1].value_or(0));
    return all;
  }

  void add(const RowHashes& row) {
    ++rows_read_;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (row[i]) {
        columns_[i].seen.push_back(*row[i]);
      } else {
        ++nulls_[i];
      }
    }
    for (Prefix& prefix : prefixes_) prefix.values.seen.push_back(together(row, prefix));
  }

  void compare(const RowHashes& row, const RowHashes& next) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (row[i] && next[i]) count(columns_[i], *row[i] == *next[i]);
    }
    for (Prefix& prefix : prefixes_)
      count(prefix.values, together(row, prefix) == together(next, prefix));
  }

  static void count(Values& values, bool equal) {
    ++values.neighbours;
    if (equal) ++values.equal_neighbours;
  }

  TableSample result(double rows) {
    TableSample sample;
    auto read = static_cast<double>(rows_read_);
    sample.rows = rows;
    sample.rows_read = rows_read_;
    rows = std::max(rows, read);
    sample.columns.resize(columns_.size());
    for (size_t i = 0; i < columns_.size() && rows_read_ != 0; ++i) {
      if (hashed_type(i) == nullptr) continue;
      double null_fraction = nulls_[i] / read;
      sample.columns[i] = {columns_[i].count_distinct(rows * (1 - null_fraction)), null_fraction};
    }
    for (Prefix& prefix : prefixes_)
      sample.prefixes.push_back({prefix.columns, prefix.values.count_distinct(rows)});
    return sample;
  }

  const TableDescriptor& table_;
  Arena row_memory_;
  RowBuffer row_{row_memory_};
  size_t rows_read_ = 0;
  size_t bytes_read_ = 0;
  std::vector<Values> columns_;
  std::vector<double> nulls_;
  std::vector<Prefix> prefixes_;
};

}  // namespace

double estimate_distinct(double rows, double looked_at, double seen, double seen_once) {
  if (looked_at == 0) return 0;
  double estimate = looked_at * seen /
                    (looked_at - seen_once + seen_once * looked_at / std::max(rows, looked_at));
  return std::clamp(estimate, seen, std::max(rows, seen));
}

double TableSample::distinct(std::span<const int16_t> column_numbers) const {
  if (column_numbers.size() == 1) {
    auto column = static_cast<size_t>(column_numbers[0]) - 1;
    return column < columns.size() ? columns[column].distinct : 0;
  }
  for (const Prefix& prefix : prefixes) {
    if (std::is_permutation(prefix.columns.begin(), prefix.columns.end(), column_numbers.begin(),
                            column_numbers.end())) {
      return prefix.distinct;
    }
  }
  return 0;
}

TableSample take_table_sample(const TableDescriptor& table) { return Sampler(table).take(); }

}  // namespace pgsilo
