// An online backup, from its begin to its end: what must be copied stays until the object goes.
//
//   Backup backup(checkpointer, "nightly");
//   backup.ask_stop();
//   while (!backup.stopped()) ...            all that was committed before ask_stop() is durable
//   ... backup.label_file() ...              and then copy, while the object lives
//
// The state that the copy holds is that of ask_stop(), or of a later epoch.
// Thread safety: one owner at a time, any thread.
#pragma once

#include <cstdint>
#include <string>

#include "wal/backup/backup_label.h"
#include "wal/checkpoint/checkpoint_retention.h"

namespace pgsilo {

class Backup {
 public:
  // As in PostgreSQL, of a label.
  static constexpr size_t longest_label = 1024;

  Backup(Checkpointer& checkpointer, std::string label);

  // From where on the log is needed.
  Epoch start() const { return hold_.control().checkpoint.begun; }
  void ask_stop();
  // Wakes the log if need be.
  bool stopped();
  // Once stopped().
  Epoch stop() const { return stop_; }
  std::string label_file() const;
  // It keeps nothing any more, and a copy may lack files.
  bool given_up() const { return hold_.given_up(); }

 private:
  Checkpointer& checkpointer_;
  const CheckpointHold hold_;
  const std::string label_;
  const int64_t started_us_;
  Epoch asked_;
  Epoch stop_;
};

}  // namespace pgsilo
