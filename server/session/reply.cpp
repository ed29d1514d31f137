#include "server/session/reply.h"

namespace pgsilo {

void Reply::error(const SqlError& error) {
  messages_.cut();
  log_.report(error.diagnostic());
  messages_.diagnostic(error.diagnostic());
}

void Reply::farewell(const SqlError& last_words) {
  messages_.cut();
  connection_.discard_rows();
  error(last_words);
}

// client_min_messages orders debug5..debug1, log, notice, warning, error; INFO is always sent.
void Reply::notice(const SqlError& notice) {
  log_.report(notice.diagnostic());
  static const int setting = find_setting("client_min_messages");
  Severity severity = notice.diagnostic().severity;
  int64_t rank = severity == Severity::debug     ? 4
                 : severity == Severity::log     ? 5
                 : severity == Severity::notice  ? 6
                 : severity == Severity::warning ? 7
                                                 : 9;
  if (rank >= settings_.value(setting).integer) messages_.diagnostic(notice.diagnostic());
}

}  // namespace pgsilo
