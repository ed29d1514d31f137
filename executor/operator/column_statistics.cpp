#include "executor/operator/column_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/append.h"
#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "catalog/catalog_snapshot.h"
#include "catalog/catalog_view.h"
#include "catalog/descriptors.h"
#include "catalog/statistics/table_sample.h"
#include "executor/execution_context.h"
#include "sql/limits.h"
#include "sql/types/array.h"
#include "sql/types/text.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

// pg_statistic.h.
constexpr int64_t kind_common = 1;
constexpr int64_t kind_histogram = 2;
constexpr int64_t kind_correlation = 3;
constexpr size_t slot_count = 5;

struct Slot {
  int64_t kind = 0;
  Oid op = invalid_oid;
  Oid collation = invalid_oid;
  Datum numbers;
  Datum values;
};

Oid operator_of(std::string_view name, Oid type) {
  const BuiltinOperator* op = find_operator(name, type, type);
  // Types without one of their own have that of text.
  if (op == nullptr && type == type_oid::varchar)
    op = find_operator(name, type_oid::text, type_oid::text);
  return op != nullptr ? op->oid : invalid_oid;
}

class StatisticsRows {
 public:
  StatisticsRows(const TypeContext& types, std::vector<Datum>& values, Arena& arena)
      : types_(types), values_(values), arena_(arena) {}

  void add(const TableDescriptor& table, size_t number, const ColumnSample& column, double rows) {
    const ColumnDescriptor& described = table.columns[number - 1];
    padded_length_ = padded_length(described.type, described.typmod);
    put(Datum::of_int(table.oid));
    put(Datum::of_int(static_cast<int64_t>(number)));
    put(Datum::of_bool(false));  // nothing inherits
    put(real(column.null_fraction));
    put(Datum::of_int(static_cast<int64_t>(column.width)));
    // As there: of a column whose values become more with the rows, their part of the rows.
    bool grows = column.distinct > rows / 10;
    put(real(grows ? -column.distinct / rows : std::rint(column.distinct)));
    std::array<Slot, slot_count> slots = slots_of(column);
    for (const Slot& slot : slots) put(Datum::of_int(slot.kind));
    for (const Slot& slot : slots) put(Datum::of_int(slot.op));
    for (const Slot& slot : slots) put(Datum::of_int(slot.collation));
    for (const Slot& slot : slots) put(slot.numbers);
    for (const Slot& slot : slots) put(slot.values);
  }

 private:
  void put(Datum value) { append(values_, value); }
  static Datum real(double value) { return Datum::of_float(static_cast<float>(value)); }

  std::array<Slot, slot_count> slots_of(const ColumnSample& column) {
    std::array<Slot, slot_count> slots;
    size_t used = 0;
    Oid type = column.type->oid;
    Oid collation = column.type->collation;
    if (!column.common.empty()) {
      slots[used++] = {kind_common, operator_of("=", type), collation, reals(column.frequencies),
                       texts(column.common, *column.type)};
    }
    Oid less = operator_of("<", type);
    if (!column.bounds.empty())
      slots[used++] = {kind_histogram, less, collation, {}, texts(column.bounds, *column.type)};
    if (column.correlation) {
      double correlation = *column.correlation;
      slots[used++] = {kind_correlation, less, collation, reals({&correlation, 1}), {}};
    }
    return slots;
  }

  Datum reals(std::span<const double> numbers) {
    std::vector<Datum> elements;
    for (double number : numbers) elements.push_back(real(number));
    return make_array(type_oid::float4, elements, arena_);
  }

  Datum texts(std::span<const Datum> values, const TypeInfo& type) {
    std::vector<Datum> elements;
    for (Datum value : values) {
      ByteBuffer text;
      if (padded_length_ != 0)
        value = Datum::of_bytes(bpchar_pad(value.bytes(), padded_length_, arena_));
      type.print(value, text, types_);
      elements.push_back(Datum::of_bytes(arena_.copy_string(text.view())));
    }
    return make_array(type_oid::text, elements, arena_);
  }

  const TypeContext& types_;
  std::vector<Datum>& values_;
  Arena& arena_;
  int32_t padded_length_ = 0;  // of a char(n), which is kept without its blanks
};

}  // namespace

void fill_column_statistics(ExecutionContext& session, const Datum*, std::vector<Datum>& values,
                            Arena& arena) {
  WorkMeter meter;
  StatisticsRows rows(session.types, values, arena);
  for (const auto& [_, table] : session.catalog->snapshot().tables()) {
    if (table->kind != RelationKind::table || table->statistics == nullptr) continue;
    std::shared_ptr<const TableSample> sample = table->statistics->known();
    if (sample == nullptr || sample->rows_read == 0) continue;
    double count = std::max(sample->rows, static_cast<double>(sample->rows_read));
    for (size_t i = 0; i < sample->columns.size(); ++i) {
      meter.did(limits::column_statistics_bytes);
      if (sample->columns[i].type != nullptr) rows.add(*table, i + 1, sample->columns[i], count);
    }
  }
}

}  // namespace pgsilo
