// A second worker for an index build (docs/index_build.md): it takes ranges of the table and adds
// the entries of their rows in transactions of its own. Whatever it meets but a conflict that soon
// passes (a lock, an error, no memory, another definition of the table) it leaves to the owner of
// the build, who comes to the same rows, can wait for them and knows what to say.
//
// Thread safety: stop() and newest_epoch() by the owner's fiber, ranges() by all, the rest any
// thread. Invariant: after stop() nobody is in here any more.
#pragma once

#include <memory>
#include <mutex>

#include "catalog/catalog.h"
#include "executor/ddl/index_batch.h"
#include "executor/ddl/index_ranges.h"
#include "storage/transaction/work_sharing.h"

namespace pgsilo {

class CatalogView;
class Parker;

class IndexHelp final : public SharedWork, public std::enable_shared_from_this<IndexHelp> {
 public:
  // The catalog outlives stop().
  IndexHelp(Catalog& catalog, Oid table, Oid index)
      : catalog_(catalog), table_(table), index_(index) {}

  IndexRanges& ranges() { return ranges_; }
  // Unless somebody helps already, or is on his way.
  void offer(WorkSharing& sharing);
  // Waits until who helps is out; nobody begins to any more.
  void stop(Parker& parker) noexcept;
  // Of what was committed here.
  Epoch newest_epoch() const;

  bool help(WorkerContext& worker, const WaitSettings& settings) noexcept override;
  void decline() noexcept override;

 private:
  // In one go, less than a millisecond: the other fibers of its worker wait for its end.
  static constexpr int batches_each = 2;
  static constexpr int most_failures = 4;

  std::optional<IndexRange> begin_piece();
  bool add_some(WorkerContext& worker, const WaitSettings& settings, IndexRange& range);
  TransactionStatus add_batch(CatalogView& view, Transaction& transaction, IndexBatch& batch,
                              const IndexRange& range);
  bool end_piece(IndexRange range, bool went_well) noexcept;

  Catalog& catalog_;
  const Oid table_;
  const Oid index_;
  IndexRanges ranges_;

  mutable std::mutex mutex_;
  bool offered_ = false;  // somebody helps or is on his way
  bool working_ = false;  // he has taken a range
  bool stopped_ = false;
  Epoch newest_epoch_;
};

}  // namespace pgsilo
