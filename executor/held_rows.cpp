#include "executor/held_rows.h"

namespace pgsilo {

HeldRows::HeldRows(std::span<const ResultColumn> columns) {
  for (size_t i = 0; i < columns.size(); ++i) {
    shape_.registers.push_back(static_cast<Register>(i));
    shape_.by_reference.push_back(is_by_reference(columns[i].type_oid));
  }
}

void HeldRows::row(std::span<const Datum> values) { rows_.append(values.data()); }

uint64_t HeldRows::hand_out(ResultSink& sink, uint64_t limit) {
  uint64_t count = 0;
  for (; position_ < rows_.size() && count < limit; ++count)
    sink.row({rows_[position_++], shape_.size()});
  return count;
}

}  // namespace pgsilo
