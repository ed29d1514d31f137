// Parts of the log on a simulated disk, without an engine. Thread safety: none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file_simulated.h"
#include "base/parker.h"
#include "storage/epoch/durable_epoch.h"
#include "storage/epoch/epoch_manager.h"
#include "wal/log/group_commit.h"
#include "wal/log/logger.h"
#include "wal/log/segment_keeper.h"
#include "wal/log/worker_log.h"

namespace pgsilo {

inline constexpr size_t test_segment_bytes = size_t{256} << 10;
inline constexpr size_t test_buffer_bytes = size_t{64} << 10;

struct LogParts {
  explicit LogParts(unsigned workers, unsigned loggers, bool compress = false) {
    EXPECT_TRUE(disk.create_directory("/log").ok());
    for (unsigned i = 0; i < loggers; ++i) {
      std::string directory = "/log/" + std::to_string(i);
      EXPECT_TRUE(disk.create_directory(directory).ok());
      stores.push_back(std::make_unique<SegmentStore>(
          disk, SegmentStoreOptions{.directory = directory,
                                    .segment_bytes = test_segment_bytes,
                                    .ring_bytes = test_buffer_bytes * workers,
                                    .workers = workers,
                                    .spare_segments = 1,
                                    .direct = true}));
      EXPECT_TRUE(stores.back()->open(1, {}).ok());
      while (stores.back()->state() != LogSpace::ample)
        EXPECT_TRUE(stores.back()->prepare_one().ok());
    }
    std::vector<WorkerLog*> all;
    for (unsigned i = 0; i < workers; ++i) {
      logs.push_back(std::make_unique<WorkerLog>(test_buffer_bytes, test_buffer_bytes / 4,
                                                 *stores[i % loggers]));
      all.push_back(logs.back().get());
      slots.push_back(std::make_unique<CommitSlot>(epochs));
    }
    commit = std::make_unique<GroupCommit>(durable, all, loggers, durable.get());
    std::vector<Logger*> peers;
    for (unsigned i = 0; i < loggers; ++i) {
      std::vector<WorkerLog*> own;
      for (unsigned w = i; w < workers; w += loggers) own.push_back(all[w]);
      this->loggers.push_back(std::make_unique<Logger>(Logger::Parts{.index = i,
                                                                     .epochs = epochs,
                                                                     .commit = *commit,
                                                                     .segments = *stores[i],
                                                                     .logs = own,
                                                                     .log = {1, i},
                                                                     .incarnation = {1, 7},
                                                                     .started_us = 0,
                                                                     .flush_after_us = 1000,
                                                                     .compress = compress}));
      for (WorkerLog* log : own) log->set_logger(*this->loggers.back());
      peers.push_back(this->loggers.back().get());
    }
    keeper = std::make_unique<SegmentKeeper>(peers);
    for (auto& logger : this->loggers) logger->connect(peers, keeper.get());
    EXPECT_TRUE(keeper->run_once());
  }

  // A commit of `worker` that writes one row of `bytes` bytes; its epoch.
  Epoch append(unsigned worker, size_t bytes = 10) {
    EXPECT_EQ(logs[worker]->reserve(1, 1 + bytes, RedoPurpose::growth), ReserveResult::ok);
    slots[worker]->enter();
    Epoch epoch = slots[worker]->serialization_epoch();
    std::string row(bytes, 'r');
    RedoEntry entry{.relation = RelationId(1), .tombstone = false, .key = "k", .row = row};
    logs[worker]->append(Tid(epoch, sequence++ % 60000), {&entry, 1});
    slots[worker]->leave();
    return epoch;
  }
  bool step(unsigned logger, Epoch wanted) {
    commit->request_silently(wanted);
    return loggers[logger]->try_step();
  }

  SimulatedFileSystem disk{1};
  EpochManager epochs{Epoch(1)};
  DurableEpoch durable;
  std::vector<std::unique_ptr<SegmentStore>> stores;
  std::vector<std::unique_ptr<WorkerLog>> logs;
  std::vector<std::unique_ptr<CommitSlot>> slots;
  std::unique_ptr<GroupCommit> commit;
  std::vector<std::unique_ptr<Logger>> loggers;
  std::unique_ptr<SegmentKeeper> keeper;
  uint32_t sequence = 0;
};

}  // namespace pgsilo
