// Rows that are made at once and handed out as they are asked for: under a row limit those of
// RETURNING, EXPLAIN and SHOW. Thread safety: none; one portal's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "executor/executable_plan.h"
#include "executor/result_sink.h"
#include "executor/row_shape.h"
#include "executor/spill/stored_rows.h"

namespace pgsilo {

class HeldRows final : public ResultSink {
 public:
  HeldRows(std::span<const ResultColumn> columns, const ExecutionContext& session);
  HeldRows(const HeldRows&) = delete;
  HeldRows& operator=(const HeldRows&) = delete;

  // Takes a row. Throws MemoryLimitReached.
  void row(std::span<const Datum> values) override;
  // The next rows, `limit` at most; how many that were. As in PostgreSQL, who is given fewer than
  // they asked for has met the end.
  uint64_t hand_out(ResultSink& sink, uint64_t limit);

 private:
  RowShape shape_;
  const ExecutionContext& session_;
  StoredRows rows_{shape_};
  StoredRows::Reader reader_;
};

}  // namespace pgsilo
