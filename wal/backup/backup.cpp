#include "wal/backup/backup.h"

#include <utility>

#include "base/clock.h"
#include "wal/checkpoint/checkpointer.h"

namespace pgsilo {

Backup::Backup(Checkpointer& checkpointer, std::string label)
    : checkpointer_(checkpointer),
      hold_(checkpointer),
      label_(std::move(label)),
      started_us_(unix_time_us()) {}

void Backup::ask_stop() { asked_ = checkpointer_.present_epoch(); }

bool Backup::stopped() { return checkpointer_.proves(asked_, &stop_); }

std::string Backup::label_file() const {
  return write_backup_label(
      {.label = label_, .started_us = started_us_, .stop = stop_, .control = hold_.control()});
}

}  // namespace pgsilo
