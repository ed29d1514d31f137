// How a session ends.
#include <new>

#include "server/net/client_socket.h"
#include "server/session/session.h"
#include "server/session/session_registry.h"
#include "server/statistics/worker_statistics.h"

namespace pgsilo {

// Something failed where no statement could be told of it: while the last one was undone, or before
// the first.
void Session::end_by_failure(const SqlError& error) {
  log_internal_error(error);
  try {
    SqlError last_words = error;
    last_words.amend().severity = Severity::fatal;
    say_goodbye(last_words);
  } catch (const std::bad_alloc&) {
    state_.connection.give_up(out_of_memory_farewell());
  } catch (...) {
    state_.connection.give_up();
  }
}

// Nobody sees the session any more, though its last words may still wait for a slow client.
void Session::leave() {
  state_.interrupts.end();
  state_.transactions.abandon();
  state_.transactions.advisory_locks().release_all();
  state_.slots.drop_temporary();
  if (!registered_) return;
  registered_ = false;
  state_.drop_temporary_objects();
  state_.log.disconnection();
  state_.services.sessions.remove(process_);
  count_end();
}

void Session::count_end() const {
  WorkerStatistics& statistics = state_.services.statistics;
  switch (end_) {
    case End::client_lost:
      statistics.sessions_abandoned.add();
      break;
    case End::asked_for:
      break;
    case End::fatal:
      statistics.sessions_fatal.add();
      break;
    case End::killed:
      statistics.sessions_killed.add();
      break;
  }
}

}  // namespace pgsilo
