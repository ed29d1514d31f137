// What clients are told who are not served: while the server starts or stops, SQLSTATE 57P03 with
// PostgreSQL's words, and how far recovery is, which goes to the console as well; or that there are
// too many of them.
// Thread safety: pure functions; the announcer: as RecoveryListener.
#pragma once

#include "sql/sql_error.h"
#include "wal/wal.h"

namespace pgsilo {

class Doorkeeper;

SqlError starting_up();
SqlError shutting_down();
// 53300
SqlError too_many_clients();

class RecoveryAnnouncer final : public RecoveryListener {
 public:
  explicit RecoveryAnnouncer(Doorkeeper& doorkeeper) : doorkeeper_(doorkeeper) {}
  void on_progress(const RecoveryProgress& progress) override;

 private:
  Doorkeeper& doorkeeper_;
};

}  // namespace pgsilo
