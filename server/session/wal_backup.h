// pg_backup_start() and pg_backup_stop() of one session, over the log's online backup.
// Thread safety: the session's fiber.
#pragma once

#include <optional>

#include "executor/execution_context.h"
#include "executor/session_backup.h"
#include "wal/backup/backup.h"

namespace pgsilo {

class WalBackup final : public SessionBackup {
 public:
  WalBackup(Checkpointer& checkpointer, ExecutionContext& context)
      : checkpointer_(checkpointer), context_(context) {}

  uint64_t start(std::string_view label) override;
  End stop() override;
  // It has begun one; also when that is stopped.
  bool is_used() const { return backup_.has_value(); }

 private:
  Checkpointer& checkpointer_;
  ExecutionContext& context_;
  // Also once it is stopped: then the log has to be copied.
  std::optional<Backup> backup_;
  bool in_progress_ = false;
};

}  // namespace pgsilo
