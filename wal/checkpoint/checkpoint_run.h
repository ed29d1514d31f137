// One checkpoint, from its beginning until it counts or is given up (docs/checkpoints.md, States).
//
//   CheckpointRun run(parts, number, previous manifest);
//   run.begin();                        e_l
//   while (!run.settled()) ...          every commit before e_l has ended
//   run.open_files(), run.walk(...)     or walk() in steps
//   run.finish_files();                 e_h
//   while (!run.durable()) ...          everything up to e_h
//   ... the control file takes run.manifest() ...
//
// Thread safety: one owner; walkers on threads of their own. Nothing on disk changes but the
// checkpoint's own files; abandon() removes them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wal/checkpoint/checkpoint_walk.h"

namespace pgsilo {

class EpochManager;
class GroupCommit;
class Logger;

// A log as the checkpoint sees it.
struct CheckpointedLog {
  Uuid log;
  Logger* logger = nullptr;
};

struct CheckpointParts {
  FileSystem& files;
  EpochManager& epochs;
  GroupCommit& commit;
  RelationDirectory& relations;
  Reclaimer& reclaimer;
  std::string data_directory;
  std::vector<std::string> directories;  // as configured; they are there
  Uuid database;
  uint64_t incarnation = 0;
  Uuid incarnation_id;
  std::vector<CheckpointedLog> logs;
  unsigned walkers = 1;  // files are shared out among them
  bool compress = false;
};

class CheckpointRun {
 public:
  CheckpointRun(const CheckpointParts& parts, uint64_t number);

  void begin();
  bool settled();
  // Lists the relations, creates the files.
  FileResult open_files();
  unsigned walkers() const { return static_cast<unsigned>(walkers_.size()); }
  CheckpointWalker& walker(unsigned index) { return *walkers_[index]; }
  // Why the walk was given up; no walker runs.
  FileResult walk_failure() const;
  // Every walker has come to its end.
  FileResult finish_files();
  bool durable();
  // Once durable() has said so.
  const CheckpointManifest& manifest() const { return manifest_; }
  // Removes its files. Needs no memory.
  void abandon();

  // After begin().
  const CheckpointWalk& walk() const { return *walk_; }
  uint64_t bytes() const;

 private:
  std::string directory_path(const std::string& name) const {
    return join_path(parts_.data_directory, name);
  }
  FileResult sync_directories();

  const CheckpointParts& parts_;
  CheckpointManifest manifest_;
  std::optional<CheckpointWalk> walk_;
  std::vector<std::unique_ptr<CheckpointFileWriter>> writers_;
  std::vector<std::unique_ptr<CheckpointWalker>> walkers_;
};

}  // namespace pgsilo
