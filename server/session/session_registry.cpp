#include "server/session/session_registry.h"

#include <sys/random.h>

#include "base/check.h"
#include "server/session/session_interrupts.h"

namespace pgsilo {

bool SessionRegistry::add(SessionInterrupts& session, size_t limit, int32_t* process,
                          int32_t* secret) {
  PGSILO_CHECK(getrandom(secret, sizeof *secret, 0) == sizeof *secret);
  std::lock_guard lock(mutex_);
  if (sessions_.size() >= limit) return false;
  do {
    last_process_ = last_process_ == INT32_MAX ? 1 : last_process_ + 1;
  } while (sessions_.contains(last_process_));
  *process = last_process_;
  sessions_.emplace(*process, Entry{&session, *secret});
  if (terminating_) session.request_termination();
  return true;
}

void SessionRegistry::remove(int32_t process) {
  std::lock_guard lock(mutex_);
  sessions_.erase(process);
}

void SessionRegistry::cancel(int32_t process, int32_t secret) {
  std::lock_guard lock(mutex_);
  auto found = sessions_.find(process);
  if (found != sessions_.end() && found->second.secret == secret)
    found->second.session->request_cancel();
}

void SessionRegistry::terminate_all() {
  std::lock_guard lock(mutex_);
  terminating_ = true;
  for (auto& [process, entry] : sessions_) entry.session->request_termination();
}

size_t SessionRegistry::size() const {
  std::lock_guard lock(mutex_);
  return sessions_.size();
}

}  // namespace pgsilo
