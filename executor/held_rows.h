// Rows that are made at once and handed out as they are asked for: under a row limit those of
// RETURNING, EXPLAIN and SHOW. Thread safety: none; one portal's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "executor/executable_plan.h"
#include "executor/operator/row_store.h"
#include "executor/result_sink.h"
#include "executor/row_shape.h"

namespace pgsilo {

class HeldRows final : public ResultSink {
 public:
  explicit HeldRows(std::span<const ResultColumn> columns);
  HeldRows(const HeldRows&) = delete;
  HeldRows& operator=(const HeldRows&) = delete;

  // Takes a row. Throws MemoryLimitReached.
  void row(std::span<const Datum> values) override;
  // The next rows, `limit` at most; how many that were. As in PostgreSQL, who is given fewer than
  // they asked for has met the end.
  uint64_t hand_out(ResultSink& sink, uint64_t limit);

 private:
  RowShape shape_;
  RowStore rows_{shape_};
  size_t position_ = 0;
};

}  // namespace pgsilo
