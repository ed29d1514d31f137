#include "server/session/cursor.h"

#include <algorithm>
#include <utility>

#include "executor/operator/row_store.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

// Made at a time where not all of them are kept.
constexpr uint64_t rows_at_once = 1024;
// Put in the other order at a time.
constexpr uint64_t rows_turned = 256;

uint64_t magnitude(int64_t count) {
  return count < 0 ? uint64_t{0} - static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
}

}  // namespace

Cursor::Cursor(std::span<const ResultColumn> columns, ExecutionContext& session,
               Properties properties)
    : session_(session), properties_(std::move(properties)) {
  for (size_t i = 0; i < columns.size(); ++i) {
    shape_.registers.push_back(static_cast<Register>(i));
    shape_.by_reference.push_back(is_by_reference(columns[i].type_oid));
  }
}

void Cursor::row(std::span<const Datum> values) {
  rows_.append(values.data(), session_);
  ++made_;
}

void Cursor::begin_again() {
  reader_.close();
  rows_.clear();
  forgotten_ = made_ = position_ = 0;
}

void Cursor::require_scroll() const {
  if (properties_.scrolls) return;
  throw SqlError(sqlstate::object_not_in_prerequisite_state, "cursor can only scan forward")
      .hint("Declare it with SCROLL option to enable backward scan.");
}

// Whether there is a row of that number, the next one; of `wanted` more that may be asked for.
bool Cursor::has_row(uint64_t number, uint64_t wanted, const Pull& pull) {
  if (number > made_ && !is_complete_) is_complete_ = !pull(std::min(wanted, rows_at_once));
  return number <= made_;
}

void Cursor::complete(const Pull& pull) {
  while (!is_complete_) is_complete_ = !pull(rows_at_once);
}

// A cursor that does not scroll never goes back to them.
void Cursor::forget_passed() {
  if (properties_.scrolls || position_ < made_) return;
  reader_.close();
  rows_.clear();
  forgotten_ = made_;
}

void Cursor::hand_out(uint64_t number, ResultSink& sink) {
  session_.maybe_yield();  // kept rows come without giving way
  reader_.seek(number - 1 - forgotten_);
  sink.row({reader_.next(rows_), shape_.size()});
}

uint64_t Cursor::forward(uint64_t count, const Pull& pull, ResultSink* sink) {
  uint64_t passed = 0;
  while (passed < count && position_ <= made_) {
    if (!has_row(position_ + 1, count - passed, pull)) {
      position_ = made_ + 1;
      break;
    }
    uint64_t several = sink == nullptr ? std::min(count - passed, made_ - position_) : 1;
    if (sink != nullptr) hand_out(position_ + 1, *sink);
    position_ += several;
    passed += several;
    forget_passed();
  }
  return passed;
}

uint64_t Cursor::backward(uint64_t count, ResultSink* sink) {
  bool stays = position_ == 0 && sink == nullptr && count == UINT64_MAX;
  if (!stays) require_scroll();
  uint64_t before = std::min(position_ == 0 ? 0 : position_ - 1, made_);
  uint64_t passed = std::min(count, before);
  uint64_t first = before - passed + 1;
  if (sink != nullptr) hand_out_backward(first, passed, *sink);
  // On the last one that was passed; if more were asked for, before all.
  position_ = passed < count ? 0 : first;
  return passed;
}

// Rows that were spilled are found faster in their order.
void Cursor::hand_out_backward(uint64_t first, uint64_t count, ResultSink& sink) {
  RowStore turned(shape_);
  while (count != 0) {
    uint64_t several = std::min(count, rows_turned);
    count -= several;
    turned.clear();
    session_.maybe_yield();
    reader_.seek(first + count - 1);
    for (uint64_t i = 0; i < several; ++i) turned.append(reader_.next(rows_));
    for (uint64_t i = several; i-- != 0;) sink.row({turned[i], shape_.size()});
  }
}

uint64_t Cursor::again(ResultSink* sink) {
  if (position_ == 0 || position_ > made_) return 0;
  if (sink == nullptr) return 1;
  require_scroll();
  hand_out(position_, *sink);
  return 1;
}

uint64_t Cursor::absolute(int64_t number, const Pull& pull, ResultSink* sink) {
  if (number < 0) {
    forward(UINT64_MAX, pull, nullptr);
    require_scroll();
    uint64_t from_end = magnitude(number);
    position_ = from_end > made_ ? 0 : made_ - from_end;
    return from_end > made_ ? 0 : forward(1, pull, sink);
  }
  auto target = static_cast<uint64_t>(number);
  if (target <= position_ && position_ != 0) {
    require_scroll();
    position_ = target == 0 ? 0 : target - 1;
  }
  if (target == 0) return 0;
  forward(target - position_ - 1, pull, nullptr);
  return forward(1, pull, sink);
}

uint64_t Cursor::fetch(ast::FetchDirection direction, int64_t count, const Pull& pull,
                       ResultSink* sink) {
  using Direction = ast::FetchDirection;
  if (direction == Direction::absolute) return absolute(count, pull, sink);
  if (count == 0) return again(sink);
  bool goes_forward = (direction != Direction::backward) == (count > 0);
  uint64_t rows = count == INT64_MAX ? UINT64_MAX : magnitude(count);
  if (direction != Direction::relative)
    return goes_forward ? forward(rows, pull, sink) : backward(rows, sink);
  // The last one only.
  if (goes_forward) {
    forward(rows - 1, pull, nullptr);
    return forward(1, pull, sink);
  }
  backward(rows - 1, nullptr);
  return backward(1, sink);
}

}  // namespace pgsilo
