#include "catalog/statistics/table_sample.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include "base/arena.h"
#include "base/long_work.h"
#include "catalog/descriptors.h"
#include "catalog/statistics/column_values.h"
#include "catalog/statistics/combined_values.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "storage/index/scan_cursor.h"
#include "storage/record/record.h"
#include "storage/relation/relation.h"

namespace pgsilo {

namespace {

uint64_t mix(uint64_t left, uint64_t right) {
  uint64_t mixed = (left ^ (right + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
  return mixed ^ (mixed >> 32);
}

class Sampler {
 public:
  Sampler(const TableDescriptor& table, int32_t default_target) : table_(table) {
    int32_t largest = 1;
    for (const ColumnDescriptor& column : table.columns) {
      int32_t target = column.statistics_target < 0 ? default_target : column.statistics_target;
      const TypeInfo* type = target == 0 ? nullptr : hashed_type(column);
      columns_.emplace_back(type, padded_length(column.type, column.typmod), target);
      if (type != nullptr) largest = std::max(largest, target);
    }
    scale_ = std::max(1., largest / static_cast<double>(limits::statistics_target));
    for (const auto& index : table.indexes) add_prefixes(*index);
    for (const auto& statistics : table.combinations) add_combination(*statistics, default_target);
  }

  TableSample take() {
    double rows = static_cast<double>(std::max<int64_t>(table_.relation->row_count(), 0));
    std::vector<std::string> keys;
    if (rows > most_rows(limits::wholly_sampled_rows) ||
        table_.relation->memory_bytes(MemoryKind::rows) > most_bytes()) {
      auto wanted = static_cast<size_t>(most_rows(limits::sampled_rows));
      keys = table_.relation->tree().scattered_keys(wanted, places_seed);
    }
    if (keys.empty()) read_all();
    read_places(keys);
    return result(rows);
  }

 private:
  static constexpr size_t row_work = 4096;    // of a look at a row, in bytes (WorkMeter::block)
  static constexpr uint32_t places_seed = 1;  // the same places of the same tree each time
  struct Prefix {
    std::vector<int16_t> columns;
    std::vector<uint64_t> seen = {};
    Neighbours neighbours = {};
  };
  struct RowValues {
    std::vector<Datum> values;                    // they point into the row that was read last
    std::vector<std::optional<uint64_t>> hashes;  // none: NULL
  };

  // Null: nothing can be said of the column.
  static const TypeInfo* hashed_type(const ColumnDescriptor& column) {
    const TypeInfo* type = column.dropped ? nullptr : find_type(column.type);
    return type != nullptr && type->is_hashable() ? type : nullptr;
  }

  // Fewer of a table with very many columns, whose values are all kept for a moment.
  double most_rows(size_t usual) const {
    size_t by_values = limits::sampled_values / std::max<size_t>(columns_.size(), 1);
    return scale_ *
           static_cast<double>(std::min(usual, std::max(by_values, limits::least_sampled_rows)));
  }
  size_t most_bytes() const { return scaled(limits::sampled_bytes); }
  size_t scaled(size_t limit) const {
    return static_cast<size_t>(scale_ * static_cast<double>(limit));
  }

  void add_prefixes(const IndexDescriptor& index) {
    if (index.computes()) return;
    std::vector<int16_t> columns;
    for (const IndexColumn& column : index.columns) {
      columns.push_back(column.number);
      bool is_key = index.unique && columns.size() == index.columns.size();
      if (columns.size() > 1 && !is_key) prefixes_.push_back({columns});
    }
  }

  void add_combination(const StatisticsDescriptor& statistics, int32_t default_target) {
    std::vector<CombinedValues::Column> columns;
    int32_t target = 0;
    for (int16_t number : statistics.columns) {
      auto column = static_cast<size_t>(number) - 1;
      const TypeInfo* type = columns_[column].type();
      if (type == nullptr || !type->is_ordered()) return;
      columns.push_back({number, type});
      int32_t own = table_.columns[column].statistics_target;
      target = std::max(target, own < 0 ? default_target : own);
    }
    if (statistics.target >= 0) target = statistics.target;
    if (target > 0) combinations_.emplace_back(statistics, std::move(columns), target);
  }

  void add_to(CombinedValues& combination, const RowValues& row) {
    std::vector<Datum> values;
    std::vector<uint64_t> hashes;
    for (const CombinedValues::Column& column : combination.columns()) {
      auto i = static_cast<size_t>(column.number) - 1;
      values.push_back(row.hashes[i] ? row.values[i] : Datum());
      hashes.push_back(row.hashes[i].value_or(0));
    }
    combination.add(values, hashes, values_read_);
  }

  bool is_enough() const { return bytes_read_ >= most_bytes(); }

  void read_all() {
    size_t most = 2 * scaled(limits::wholly_sampled_rows);
    ScanCursor cursor(table_.relation->tree(), KeyRange{}, ScanDirection::forward, nullptr);
    for (size_t i = 0; i < most && !is_enough(); ++i) {
      const Record* record = cursor.next();
      if (record == nullptr) return;
      RowValues row;
      if (read(*record, &row)) add(row, static_cast<uint32_t>(i));
      did_work(row_work);
    }
  }

  // In no order: where rows are so wide that some places will do, those are spread.
  void read_places(const std::vector<std::string>& keys) {
    std::vector<uint32_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::minstd_rand(places_seed));
    for (size_t i = 0; i < order.size() && !is_enough(); ++i) {
      read_place(keys[order[i]], order[i]);
      did_work(2 * row_work);
    }
  }

  // A row, and the one behind it to compare with.
  void read_place(const std::string& key, uint32_t place) {
    constexpr int patience = 8;  // records without a row are passed over
    ScanCursor cursor(table_.relation->tree(), {KeyBound::inclusive(key), {}},
                      ScanDirection::forward, nullptr);
    RowValues first;
    for (int i = 0; i < patience; ++i) {
      const Record* record = cursor.next();
      if (record == nullptr) return;
      RowValues row;
      if (!read(*record, &row)) continue;
      if (!first.hashes.empty()) return compare(first, row);
      add(row, place);
      first = std::move(row);
    }
  }

  // False: it has none, or none that the table as it is now can read; while it is being written,
  // another one will do.
  bool read(const Record& record, RowValues* read) {
    TidWord word;
    if (!record.try_read(row_, word) || word.is_absent() || word.is_obsolete()) return false;
    bytes_read_ += row_.bytes().size();
    read->values.resize(columns_.size());
    read->hashes.resize(columns_.size());
    try {
      RowLayout::Row row(table_.layout, row_.bytes());
      for (size_t i = 0; i < columns_.size(); ++i) {
        const TypeInfo* type = columns_[i].type();
        if (type == nullptr) continue;
        read->values[i] = row.get_unpadded(i);
        if (!read->values[i].null) read->hashes[i] = type->hash(read->values[i]);
      }
    } catch (const SqlError&) {
      return false;
    }
    return true;
  }

  static uint64_t together(const RowValues& row, const Prefix& prefix) {
    uint64_t all = 0;
    for (int16_t number : prefix.columns)
      all = mix(all, row.hashes[static_cast<size_t>(number) - 1].value_or(0));
    return all;
  }

  void add(const RowValues& row, uint32_t place) {
    ++rows_read_;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (row.hashes[i]) {
        columns_[i].add(row.values[i], *row.hashes[i], place, values_read_);
      } else {
        columns_[i].add_null();
      }
    }
    for (Prefix& prefix : prefixes_) prefix.seen.push_back(together(row, prefix));
    for (CombinedValues& combination : combinations_) add_to(combination, row);
  }

  void compare(const RowValues& row, const RowValues& next) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (row.hashes[i] && next.hashes[i])
        columns_[i].neighbours().count(*row.hashes[i] == *next.hashes[i]);
    }
    for (Prefix& prefix : prefixes_)
      prefix.neighbours.count(together(row, prefix) == together(next, prefix));
  }

  TableSample result(double rows) {
    TableSample sample;
    sample.rows = rows;
    sample.rows_read = rows_read_;
    rows = std::max(rows, static_cast<double>(rows_read_));
    auto kept = std::make_shared<Arena>(ArenaLimit::reserve);
    size_t share = limits::table_statistics_bytes / std::max<size_t>(columns_.size(), 1);
    size_t each = scaled(std::max(limits::column_statistics_bytes, share));
    sample.columns.reserve(columns_.size());
    for (ColumnValues& column : columns_)
      sample.columns.push_back(column.describe(rows, *kept, each));
    for (Prefix& prefix : prefixes_) {
      sample.prefixes.push_back(
          {prefix.columns, count_distinct(prefix.seen, prefix.neighbours, rows)});
    }
    for (CombinedValues& combination : combinations_) combination.describe(rows, sample, *kept);
    sample.values = std::move(kept);
    return sample;
  }

  const TableDescriptor& table_;
  double scale_ = 1;  // of limits that are made for the usual target
  Arena row_memory_;
  RowBuffer row_{row_memory_};
  Arena values_read_{ArenaLimit::reserve};
  size_t rows_read_ = 0;
  size_t bytes_read_ = 0;
  std::vector<ColumnValues> columns_;
  std::vector<Prefix> prefixes_;
  std::vector<CombinedValues> combinations_;
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

TableSample take_table_sample(const TableDescriptor& table, int32_t default_target) {
  return Sampler(table, default_target).take();
}

}  // namespace pgsilo
