// What one session knows of sequences: the values it has taken and not used yet (CACHE), and what
// currval() and lastval() answer. All of it outlives transactions and their rollback, and goes with
// the session to another worker.
// Thread safety: none; the session's fiber.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "catalog/descriptors.h"
#include "catalog/sequence/sequence_state.h"
#include "storage/epoch/epoch.h"
#include "storage/transaction/abort_reason.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

class CatalogView;

class SequenceSession {
 public:
  // `user`: the session's open transaction; it comes to rest on what the answer rests on.
  // `sequence`: of a sequence, by the session's view. Anything but ok ends `user`.

  // nextval(). Throws 2200H.
  TransactionStatus next(Transaction& user, const CatalogView& catalog,
                         const TableDescriptor& sequence, int64_t* value);
  // setval(). Throws 22003 when the value is out of the sequence's bounds.
  TransactionStatus set(Transaction& user, const CatalogView& catalog,
                        const TableDescriptor& sequence, int64_t value, bool is_called);
  // What next() last returned here, or set(); false: nothing yet.
  bool current(Transaction& user, const TableDescriptor& sequence, int64_t* value);
  // What next() last returned here, of whatever sequence that still exists.
  bool last(Transaction& user, const CatalogView& catalog, int64_t* value);
  // DISCARD SEQUENCES
  void forget() {
    used_.clear();
    last_used_ = invalid_oid;
  }
  // All of it, for where the transactions are another worker's; this one knows nothing then.
  SequenceSession leave() noexcept;

 private:
  struct Used {
    std::shared_ptr<const SequenceDescriptor> sequence;  // as last used; cached values are of it
    uint64_t generation = 0;
    // The transaction that rests on it already (leavings_, Transaction::number()), and what its
    // view showed.
    uint64_t leavings = 0;
    uint64_t transaction = 0;
    std::shared_ptr<const SequenceDescriptor> found;
    bool is_defined = false;
    int64_t last = 0;
    int64_t cached = 0;  // the last one taken; `last` when there is none left
    Epoch epoch;
  };
  TransactionStatus use(Transaction& user, const CatalogView& catalog, const TableDescriptor& found,
                        Used** used);
  Transaction& scribe(Transaction& user);

  std::unordered_map<Oid, Used> used_;
  Oid last_used_ = invalid_oid;
  uint64_t leavings_ = 0;  // another object's transactions have the same numbers
  std::unique_ptr<Transaction> scribe_;
};

}  // namespace pgsilo
