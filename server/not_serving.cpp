#include "server/not_serving.h"

#include <cstdio>

#include "base/server_log.h"
#include "server/net/doorkeeper.h"

namespace pgsilo {

SqlError starting_up() {
  return SqlError(Severity::fatal, sqlstate::cannot_connect_now,
                  "the database system is starting up");
}

SqlError shutting_down() {
  return SqlError(Severity::fatal, sqlstate::cannot_connect_now,
                  "the database system is shutting down");
}

SqlError too_many_clients() {
  return SqlError(Severity::fatal, sqlstate::too_many_connections,
                  "sorry, too many clients already");
}

void RecoveryAnnouncer::on_progress(const RecoveryProgress& progress) {
  if (progress.bytes_total == 0) return;
  char text[160];
  std::snprintf(text, sizeof text, "%.1f of %.1f MB (%.0f%%), %.0f MB/s, %.0f s left",
                static_cast<double>(progress.bytes_done) / 1e6,
                static_cast<double>(progress.bytes_total) / 1e6, progress.percent(),
                progress.bytes_per_second / 1e6, progress.seconds_left);
  write_server_log(LogLevel::log, concat("recovering: ", text));
  SqlError refusal = starting_up();
  refusal.amend().detail = concat("Recovering the log: ", text, ".");
  doorkeeper_.say(refusal);
}

}  // namespace pgsilo
