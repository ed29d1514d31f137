// A session's temporary files: what they may take (temp_file_limit), and how its fiber waits for
// them. Thread safety: the session's fiber.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/counter.h"
#include "executor/spill/temporary_storage.h"
#include "executor/wait_report.h"

namespace pgsilo {

class TemporaryFiles {
 public:
  // How many files there were, and how long they had become; anybody reads.
  struct Counters {
    Counter files;
    Counter bytes;
  };
  // `parker` null: it waits in the system's calls. `cancelled` null: it cannot be cancelled.
  TemporaryFiles(TemporaryStorage& storage, Counters& counters, Parker* parker,
                 const std::atomic<bool>* cancelled, WaitReport* report)
      : storage_(storage),
        counters_(counters),
        parker_(parker),
        cancelled_(cancelled),
        report_(report) {}
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;

  // Negative: none.
  void set_limit(int64_t kilobytes) { limit_kilobytes_ = kilobytes; }
  // A file grows. Throws 53400.
  void take(uint64_t bytes);
  // One goes that had become so long.
  void give_back(uint64_t bytes);
  uint64_t bytes() const { return bytes_; }

  // Throws as wait(), and 53000 when there are too many.
  std::shared_ptr<TemporaryStorage::OpenFile> create();
  void submit(TemporaryStorage::Transfer& transfer) { storage_.submit(transfer, parker_); }
  // Until it is done; if the disk was full, also until it has been tried again with the space of
  // files that had gone before. Throws 57014, and what a failed transfer means.
  void wait(TemporaryStorage::Transfer& transfer);
  TemporaryStorage& storage() { return storage_; }

 private:
  using Transfer = TemporaryStorage::Transfer;
  void await_end(const Transfer& transfer);
  bool await_space(Transfer& transfer);
  void check_cancelled() const;

  TemporaryStorage& storage_;
  Counters& counters_;
  Parker* parker_;
  const std::atomic<bool>* cancelled_;
  WaitReport* report_;
  int64_t limit_kilobytes_ = -1;
  uint64_t bytes_ = 0;
};

}  // namespace pgsilo
