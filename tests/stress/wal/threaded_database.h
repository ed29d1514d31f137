// A database without SQL over real files, its loggers and checkpointer on threads of their own.
// Thread safety: as its parts.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "storage/epoch/durable_epoch.h"
#include "storage/epoch/epoch_manager.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction.h"
#include "wal/durable_parker.h"
#include "wal/wal.h"

namespace pgsilo {

struct ThreadedDatabase {
  ThreadedDatabase(const std::string& directory, const WalOptions& options)
      : files(posix_file_system()) {
    std::string why;
    wal = Wal::open(*files, clock, directory, options, &why);
    EXPECT_NE(wal, nullptr) << why;
    EXPECT_TRUE(wal->recover(relations, reclaimer, {}, nullptr, &recovered, &why)) << why;
    epochs = std::make_unique<EpochManager>(recovered.first_epoch);
    snapshots = std::make_unique<SnapshotRegistry>(*epochs);
    durable = std::make_unique<DurableEpoch>(recovered.durable_epoch);
    EXPECT_TRUE(wal->start(*epochs, *durable, &why)) << why;
    wal->start_threads();
  }
  EngineParts parts() { return {*epochs, *durable, reclaimer, relations, locks, *snapshots}; }

  std::unique_ptr<FileSystem> files;
  MonotonicClock clock;
  RelationDirectory relations;
  Reclaimer reclaimer;
  LockTable locks;
  RecoveryResult recovered;
  std::unique_ptr<EpochManager> epochs;
  std::unique_ptr<SnapshotRegistry> snapshots;
  std::unique_ptr<DurableEpoch> durable;
  std::unique_ptr<Wal> wal;
};

}  // namespace pgsilo
