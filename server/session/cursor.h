// What DECLARE makes of a portal: rows that were made so far, and where the client stands among
// them. FETCH and MOVE go to rows that are there or have more made. A cursor that scrolls keeps all
// of its rows, one that does not only what was made and not handed out yet. Thread safety: none;
// one session's.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "executor/executable_plan.h"
#include "executor/result_sink.h"
#include "executor/row_shape.h"
#include "executor/spill/stored_rows.h"
#include "sql/ast/utility.h"

namespace pgsilo {

class Cursor final : public ResultSink {
 public:
  struct Properties {
    bool scrolls = true;
    bool is_binary = false;
    bool is_holdable = false;
    int64_t declared_us = 0;  // microseconds since 2000-01-01 00:00 UTC
    std::string text;         // of the query that declares it
  };
  Cursor(std::span<const ResultColumn> columns, ExecutionContext& session, Properties properties);
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  const Properties& properties() const { return properties_; }

  // Has the query make up to so many more rows, which come to row(); false: there are no more.
  using Pull = std::function<bool(uint64_t count)>;
  // Goes where FETCH or MOVE says; the rows that it passes or stops at go to `sink` (null: MOVE).
  // How many these are. 55000 where it would have to go back and does not scroll.
  uint64_t fetch(ast::FetchDirection direction, int64_t count, const Pull& pull, ResultSink* sink);
  // As Execute does: that many rows forward.
  uint64_t forward(uint64_t count, const Pull& pull, ResultSink* sink);
  // All the rows that are left: nothing is pulled from here on.
  void complete(const Pull& pull);

  // ResultSink: takes a row. Throws MemoryLimitReached.
  void row(std::span<const Datum> values) override;
  // The query runs again from its beginning; nobody has seen a row of it.
  void begin_again();

  // Whether it outlives its transaction, which is about to commit, or has.
  enum class Holding : uint8_t { no, committing, held };
  Holding holding = Holding::no;

 private:
  bool has_row(uint64_t number, uint64_t wanted, const Pull& pull);
  uint64_t backward(uint64_t count, ResultSink* sink);
  uint64_t absolute(int64_t number, const Pull& pull, ResultSink* sink);
  uint64_t again(ResultSink* sink);
  void hand_out(uint64_t number, ResultSink& sink);
  void hand_out_backward(uint64_t first, uint64_t count, ResultSink& sink);
  void require_scroll() const;
  void forget_passed();

  RowShape shape_;
  ExecutionContext& session_;
  const Properties properties_;
  StoredRows rows_{shape_};
  StoredRows::Reader reader_;
  uint64_t forgotten_ = 0;  // rows before the first that is kept
  uint64_t made_ = 0;       // rows so far
  bool is_complete_ = false;
  // The row's number, from 1; 0: before the first one; made_ + 1: behind the last one.
  uint64_t position_ = 0;
};

}  // namespace pgsilo
