#include "executor/held_rows.h"

namespace pgsilo {

HeldRows::HeldRows(std::span<const ResultColumn> columns, const ExecutionContext& session)
    : session_(session) {
  for (size_t i = 0; i < columns.size(); ++i) {
    shape_.registers.push_back(static_cast<Register>(i));
    shape_.by_reference.push_back(is_by_reference(columns[i].type_oid));
  }
}

void HeldRows::row(std::span<const Datum> values) { rows_.append(values.data(), session_); }

uint64_t HeldRows::hand_out(ResultSink& sink, uint64_t limit) {
  uint64_t count = 0;
  for (; count < limit; ++count) {
    const Datum* row = reader_.next(rows_);
    if (row == nullptr) break;
    sink.row({row, shape_.size()});
  }
  return count;
}

}  // namespace pgsilo
