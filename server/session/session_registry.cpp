#include "server/session/session_registry.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "server/limits.h"
#include "server/session/session_activity.h"
#include "server/session/session_interrupts.h"
#include "storage/transaction/lock_list.h"

namespace pgsilo {

SessionRegistry::Arrival::Arrival(SessionRegistry& registry, SessionInterrupts& session)
    : registry_(registry), session_(session) {
  std::lock_guard lock(registry_.mutex_);
  registry_.arriving_.insert(&session);
  if (registry_.terminating_) session.request_termination();
}

SessionRegistry::Arrival::~Arrival() {
  std::lock_guard lock(registry_.mutex_);
  registry_.arriving_.erase(&session_);
}

SessionRegistry::Admission SessionRegistry::add(SessionInterrupts& session,
                                                const SessionActivity& activity, size_t limit,
                                                int32_t* process, int32_t* secret) {
  PGSILO_CHECK(getrandom(secret, sizeof *secret, 0) == sizeof *secret);
  std::lock_guard lock(mutex_);
  if (terminating_) return Admission::closing;
  if (sessions_.size() >= limit) return Admission::full;
  do {
    last_process_ = last_process_ == INT32_MAX ? 1 : last_process_ + 1;
  } while (sessions_.contains(last_process_));
  *process = last_process_;
  sessions_.emplace(*process, Entry{&session, &activity, *secret});
  return Admission::admitted;
}

void SessionRegistry::remove(int32_t process) {
  std::lock_guard lock(mutex_);
  sessions_.erase(process);
}

void SessionRegistry::begin_move(int32_t process, SessionActivity& activity) {
  std::lock_guard lock(mutex_);
  sessions_.at(process).session = nullptr;
  activity.set_lock_owner(nullptr);
}

void SessionRegistry::end_move(int32_t process, SessionInterrupts& session,
                               SessionActivity& activity, LockOwner& locks, int worker) {
  std::lock_guard lock(mutex_);
  Entry& entry = sessions_.at(process);
  entry.session = &session;
  activity.set_lock_owner(&locks);
  activity.set_worker(worker);
  if (std::exchange(entry.is_cancelled, false)) session.cancel_next_command();
  if (entry.is_terminated) session.request_termination();
}

void SessionRegistry::Entry::request_cancel() {
  is_cancelled = session == nullptr;
  if (session != nullptr) session->request_cancel();
}

void SessionRegistry::Entry::request_termination() {
  is_terminated = true;
  if (session != nullptr) session->request_termination();
}

void SessionRegistry::cancel(int32_t process, int32_t secret) {
  std::lock_guard lock(mutex_);
  auto found = sessions_.find(process);
  if (found != sessions_.end() && found->second.secret == secret) found->second.request_cancel();
}

bool SessionRegistry::cancel(int32_t process) {
  std::lock_guard lock(mutex_);
  auto found = sessions_.find(process);
  if (found == sessions_.end()) return false;
  found->second.request_cancel();
  return true;
}

bool SessionRegistry::terminate(int32_t process) {
  std::lock_guard lock(mutex_);
  auto found = sessions_.find(process);
  if (found == sessions_.end()) return false;
  found->second.request_termination();
  return true;
}

const SessionRegistry::Entry* SessionRegistry::oldest_pin() const {
  int64_t oldest = INT64_MAX;
  const Entry* found = nullptr;
  for (const auto& [process, entry] : sessions_) {
    int64_t pinned = entry.activity->pin_start();
    if (pinned == 0 || pinned >= oldest) continue;
    oldest = pinned;
    found = &entry;
  }
  return found;
}

// One that idles, among those that the session waits for, if all of these wait or idle; it may be
// the session itself. Who runs goes on by itself, and those behind it cannot before that.
const SessionRegistry::Entry* SessionRegistry::idle_end_of_waits(LockTable& locks,
                                                                 const Entry& oldest) const {
  std::unordered_map<const LockOwner*, const Entry*> sessions;
  for (const auto& [process, entry] : sessions_) sessions[entry.activity->lock_owner()] = &entry;
  int64_t now_us = monotonic_us();
  const Entry* idle = nullptr;
  LockBlockers all_blockers(locks);
  std::vector<LockOwner*> blockers;
  std::vector<LockOwner*> open = {oldest.activity->lock_owner()};
  std::unordered_set<const LockOwner*> met(open.begin(), open.end());
  while (!open.empty()) {
    LockOwner* owner = open.back();
    open.pop_back();
    auto found = sessions.find(owner);
    if (found == sessions.end()) return nullptr;
    if (found->second->activity->idles_in_transaction(now_us)) {
      idle = found->second;
      continue;
    }
    if (!all_blockers.find(*owner, &blockers)) return nullptr;
    for (LockOwner* blocker : blockers) {
      if (met.insert(blocker).second) open.push_back(blocker);
    }
  }
  return idle;
}

bool SessionRegistry::end_oldest_idle_pin(LockTable& locks) {
  std::lock_guard lock(mutex_);
  const Entry* oldest = oldest_pin();
  if (oldest == nullptr) return false;
  try {
    const Entry* idle = idle_end_of_waits(locks, *oldest);
    return idle != nullptr && idle->session != nullptr && idle->session->request_end_of_idling();
  } catch (const std::bad_alloc&) {
    return false;  // somebody asks again
  }
}

bool SessionRegistry::has(int32_t process) const {
  std::lock_guard lock(mutex_);
  return sessions_.contains(process);
}

std::vector<SessionInfo> SessionRegistry::list() const {
  std::vector<SessionInfo> all;
  {
    std::lock_guard lock(mutex_);
    all.reserve(sessions_.size());
    for (const auto& [process, entry] : sessions_) {
      all.push_back(entry.activity->read());
      all.back().process = process;
    }
  }
  std::sort(all.begin(), all.end(), [](const SessionInfo& left, const SessionInfo& right) {
    return left.process < right.process;
  });
  return all;
}

std::unordered_map<const LockOwner*, int32_t> SessionRegistry::lock_owners() const {
  std::unordered_map<const LockOwner*, int32_t> owners;
  std::lock_guard lock(mutex_);
  for (const auto& [process, entry] : sessions_) owners[entry.activity->lock_owner()] = process;
  return owners;
}

void SessionRegistry::terminate_all() {
  std::lock_guard lock(mutex_);
  terminating_ = true;
  for (auto& [process, entry] : sessions_) entry.request_termination();
  for (SessionInterrupts* session : arriving_) session->request_termination();
}

size_t SessionRegistry::size() const {
  std::lock_guard lock(mutex_);
  return sessions_.size();
}

// A thread that stopped while it held the mutex will not let go of it.
void SessionRegistry::tell(int descriptor) const noexcept {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  std::array<char, limits::shown_query_bytes> text;
  for (const auto& [process, entry] : sessions_) {
    size_t bytes = entry.activity->copy_running(text);
    if (bytes == 0) continue;
    dprintf(descriptor, "pgsilo: process %d runs: %.*s\n", process, static_cast<int>(bytes),
            text.data());
  }
}

}  // namespace pgsilo
