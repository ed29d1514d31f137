#include "wal/checkpoint/checkpoint_run.h"

#include <algorithm>

#include "base/clock.h"
#include "storage/epoch/epoch_manager.h"
#include "storage/relation/relation_directory.h"
#include "wal/log/group_commit.h"
#include "wal/log/logger.h"

namespace pgsilo {

CheckpointRun::CheckpointRun(const CheckpointParts& parts, uint64_t number) : parts_(parts) {
  manifest_.number = number;
  manifest_.incarnation = parts.incarnation;
  manifest_.incarnation_id = parts.incarnation_id;
}

void CheckpointRun::begin() {
  // Where the logs stand, before there is anything of e_l: a recovery begins there.
  for (const CheckpointedLog& log : parts_.logs) {
    SegmentStore::Position position = log.logger->segments().position();
    manifest_.cuts.push_back({log.log, position.segment, position.block});
  }
  manifest_.begun = parts_.epochs.advance();
  manifest_.unix_time_us = known_unix_time_us();
  walk_.emplace(parts_.relations, manifest_.begun);
}

bool CheckpointRun::settled() { return next(parts_.epochs.completed()) >= manifest_.begun; }

FileResult CheckpointRun::open_files() {
  {
    ReclaimerHandle handle(parts_.reclaimer);
    walk_->plan(handle);
  }
  unsigned files = std::max(parts_.walkers, static_cast<unsigned>(parts_.directories.size()));
  std::vector<std::vector<CheckpointFileWriter*>> shares(parts_.walkers);
  for (unsigned i = 0; i < files; ++i) {
    const std::string& directory = parts_.directories[i % parts_.directories.size()];
    CheckpointFileIdentity identity{parts_.database, manifest_.number, i, parts_.incarnation_id};
    writers_.push_back(std::make_unique<CheckpointFileWriter>(
        parts_.files, parts_.data_directory, directory, identity, parts_.compress));
    FileResult result = writers_.back()->create();
    if (!result.ok()) return result;
    shares[i % parts_.walkers].push_back(writers_.back().get());
  }
  for (auto& share : shares) {
    walkers_.push_back(
        std::make_unique<CheckpointWalker>(*walk_, parts_.reclaimer, std::move(share)));
  }
  return {};
}

FileResult CheckpointRun::walk_failure() const {
  for (const auto& walker : walkers_) {
    if (!walker->result().ok()) return walker->result();
  }
  return {};
}

FileResult CheckpointRun::finish_files() {
  walkers_.clear();
  for (size_t i = 0; i < writers_.size(); ++i) {
    FileResult result = writers_[i]->finish(i == 0 ? walk_->row_ids() : std::vector<RowIdFloor>());
    if (!result.ok()) return result;
    manifest_.files.push_back(writers_[i]->description());
  }
  manifest_.records = walk_->records();
  FileResult result = sync_directories();
  // What the walk left out because it had changed was changed in an epoch up to this one. Ids of
  // relations that are gone must not come back while a log may name them.
  manifest_.ended = parts_.epochs.current();
  manifest_.relation_id_floor = parts_.relations.id_floor().value();
  return result;
}

FileResult CheckpointRun::sync_directories() {
  for (const std::string& directory : parts_.directories) {
    FileResult result = parts_.files.sync_directory(directory_path(directory));
    if (!result.ok()) return result;
  }
  return {};
}

bool CheckpointRun::durable() {
  if (parts_.commit.durable() < manifest_.ended) {
    parts_.commit.request_silently(manifest_.ended);
    for (const CheckpointedLog& log : parts_.logs) log.logger->try_step();
  }
  if (parts_.commit.durable() < manifest_.ended) return false;
  manifest_.recorded = parts_.commit.recorded();
  return true;
}

void CheckpointRun::abandon() {
  walkers_.clear();
  // What cannot be removed now is removed by the next start.
  for (const auto& writer : writers_) {
    // One of that name is another's.
    if (!writer->created()) continue;
    try {
      static_cast<void>(parts_.files.remove_gradually(writer->path()));
    } catch (const std::bad_alloc&) {
    }
  }
  writers_.clear();
}

uint64_t CheckpointRun::bytes() const {
  uint64_t bytes = 0;
  for (const auto& writer : writers_) bytes += writer->bytes();
  return bytes;
}

}  // namespace pgsilo
