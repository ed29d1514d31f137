#include "executor/operator/range_cursor.h"

#include <optional>

#include "executor/execution_state.h"
#include "storage/relation/relation.h"
#include "storage/transaction/transaction_scan.h"

namespace pgsilo {

struct RangeCursor::Scan {
  std::optional<TransactionScan> scan;
};

RangeCursor::RangeCursor(ExecutionState& state) : state_(state) {}
RangeCursor::~RangeCursor() = default;

void RangeCursor::open(Relation& relation, const EncodedRange& range, bool backward,
                       RowBuffer& buffer, ReadPurpose purpose) {
  KeyRange bounds;
  if (range.has_lower) bounds.lower = KeyBound::inclusive(range.lower);
  if (range.has_upper) bounds.upper = KeyBound::exclusive(range.upper);
  if (scan_ == nullptr) scan_ = std::make_unique<Scan>();
  scan_->scan.emplace(state_.transaction(), relation, bounds,
                      backward ? ScanDirection::backward : ScanDirection::forward, buffer, purpose);
}

bool RangeCursor::next(RowRef* row) {
  if (scan_ == nullptr || !scan_->scan) return false;
  TransactionStatus status = scan_->scan->next(row);
  if (status == TransactionStatus::ok) return true;
  close();
  if (status != TransactionStatus::not_found) state_.raise(status);
  return false;
}

void RangeCursor::prefetch_followed() const { scan_->scan->prefetch_followed(); }

void RangeCursor::close() {
  if (scan_ != nullptr) scan_->scan.reset();
}

}  // namespace pgsilo
