// All sessions of the server, for those who are not their fiber: CancelRequest and its kin in SQL,
// shutdown, the connection limit, pg_stat_activity. Thread safety: all functions from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "executor/server_monitor.h"

namespace pgsilo {

class LockOwner;
class SessionActivity;
class SessionInterrupts;

class SessionRegistry {
 public:
  // Takes the session in and gives it a process number and a secret. False: `limit` sessions are
  // there already.
  bool add(SessionInterrupts& session, const SessionActivity& activity, size_t limit,
           int32_t* process, int32_t* secret);
  // Before the session goes away.
  void remove(int32_t process);
  // CancelRequest: nothing happens when the pair is wrong.
  void cancel(int32_t process, int32_t secret);
  // By those who may: false when there is no such session.
  bool cancel(int32_t process);
  bool terminate(int32_t process);
  // Ends the session that idles in a transaction and has kept memory from being freed for longest,
  // unless it gets something to do before it notices. False: there is none.
  bool end_oldest_idle_pin();
  bool has(int32_t process) const;
  // By process number.
  std::vector<SessionInfo> list() const;
  std::unordered_map<const LockOwner*, int32_t> lock_owners() const;
  // Every session, and every one added from now on, is to end.
  void terminate_all();
  size_t size() const;

 private:
  struct Entry {
    SessionInterrupts* session;
    const SessionActivity* activity;
    int32_t secret;
  };
  mutable std::mutex mutex_;
  std::unordered_map<int32_t, Entry> sessions_;
  int32_t last_process_ = 0;
  bool terminating_ = false;
};

}  // namespace pgsilo
