// Rows loaded in bulk into private relations, by two workers: the owner, which has the rows (from a
// client, from another tree), collects them in batches; a helper hooks each batch into the trees
// and streams it (row_streamer.h). If the helper is slower the owner makes the records of a batch
// as well, and if nobody helps it does everything. Batches are taken in order and by one at a time,
// so rows enter their trees in the order in which they were added.
//
// A batch goes round: free_, open_ (add() fills it), the end of full_, in the hands of who took the
// front of full_ (loading_ is up: hooks it in, streams it), free_.
//
// TIDs. Batches are streamed above the owner's last TID of that time, so the statement that loads
// them does not see them; finish() raises the owner's last TID to the newest used, so the following
// ones and the commit are above it. A helper's epoch is at most the commit's: it was read before
// finish() returned. So when a commit is durable, its loaded rows are.
//
// Thread safety: add, finish and cancel: the owner's fiber; help and decline: any worker. What is
// shared is guarded by mutex_, never held across a wait or the work on rows; a batch belongs to the
// queue, or to who took it. Invariants: with loading_ down nobody touches relations, trees or
// streamer_; after finish() and cancel() it stays down until the next add().
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_buffer.h"
#include "storage/transaction/row_streamer.h"
#include "storage/transaction/work_sharing.h"

namespace pgsilo {

class Parker;

// The row that could not be loaded.
struct RejectedRow {
  std::string key;
  std::string row;
};

class BulkLoad final : public SharedWork, public std::enable_shared_from_this<BulkLoad> {
 public:
  // `settings`: the owner's.
  BulkLoad(WorkSharing& sharing, const WaitSettings& settings);

  // Copies key and row. ok; or how this or an earlier row failed: duplicate_key (rejected()),
  // out_of_memory, no_log_space, cancelled. After a failure only cancel() is
  // left. Throws std::bad_alloc.
  TransactionStatus add(WorkerContext& worker, const WaitSettings& settings, Relation& relation,
                        std::string_view key, std::string_view row);
  // Everything that was added is in its tree and streamed. As add().
  TransactionStatus finish(WorkerContext& worker, const WaitSettings& settings);
  // Forgets what is not hooked in yet. Waits for a helper to be out.
  void cancel(WorkerContext& worker, const WaitSettings& settings);
  // After duplicate_key.
  const RejectedRow& rejected() const { return rejected_; }

  bool help(WorkerContext& worker, const WaitSettings& settings) noexcept override;
  void decline() noexcept override;

 private:
  struct Row {
    Relation* relation;
    Record* record;  // null: not made yet, then key and row are in Batch::bytes
    size_t offset;
    size_t key_bytes;
    size_t row_bytes;
  };
  struct Batch {
    std::vector<Row> rows;
    ByteBuffer bytes;
    size_t size = 0;  // of all keys and rows
    Tid floor;
    bool full() const {
      return size >= RowStreamer::slice_bytes || rows.size() >= RowStreamer::slice_rows;
    }
  };
  using BatchPointer = std::unique_ptr<Batch>;
  using Lock = std::unique_lock<std::mutex>;

  static constexpr size_t max_batches = 8;
  // So many are worth waking a worker for.
  static constexpr size_t worth_offering = 4;
  // So many are waiting for the helper: the owner makes the records of the next one.
  static constexpr size_t helper_is_behind = 6;
  // The owner looks after the helper, which its own worker may have no time for, so often.
  static constexpr int64_t patience_us = 1000;

  // the owner
  TransactionStatus open_batch(WorkerContext& worker, const WaitSettings& settings);
  TransactionStatus hand_over(WorkerContext& worker);
  void offer();
  void work_or_wait(Lock& lock, size_t wanted, WorkerContext& worker, const WaitSettings& settings);
  void wait_for_free(Lock& lock, size_t wanted, const WaitSettings& settings);
  // owner or helper
  BatchPointer take(const WaitSettings& settings);
  void load_and_return(BatchPointer batch, WorkerContext& worker,
                       const WaitSettings& settings) noexcept;
  TransactionStatus load(Batch& batch, WorkerContext& worker, const WaitSettings& settings);
  static void make_records(Batch& batch, WorkerContext& worker);
  static void make_record(Batch& batch, Row& row, WorkerContext& worker);
  static void destroy_records(Batch& batch, WorkerContext& worker);

  WorkSharing& sharing_;
  const std::atomic<bool>* const cancelled_;  // the owner's; it stays while a batch is taken
  BatchPointer open_;                         // the owner's
  size_t batches_ = 0;                        // the owner's: made so far
  RowStreamer streamer_;                      // of who set loading_
  RejectedRow rejected_;                      // of who set loading_; the owner's after a failure

  std::mutex mutex_;
  std::deque<BatchPointer> full_;
  std::vector<BatchPointer> free_;
  bool loading_ = false;      // somebody has taken a batch
  bool offered_ = false;      // a helper is at work or on its way
  Parker* loader_ = nullptr;  // of who has taken a batch
  Parker* owner_ = nullptr;   // while it is parked
  size_t wanted_free_ = 0;    // what it is parked for
  TransactionStatus failure_ = TransactionStatus::ok;
  Tid newest_;  // of the streamed batches
};

}  // namespace pgsilo
