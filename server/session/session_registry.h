// All sessions of the server, for those who are not their fiber: CancelRequest and its kin in SQL,
// shutdown, the connection limit, pg_stat_activity. Thread safety: all functions from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/crash_report.h"
#include "executor/server_monitor.h"

namespace pgsilo {

class LockOwner;
class LockTable;
class SessionActivity;
class SessionInterrupts;

class SessionRegistry final : public CrashWitness {
 public:
  // A client that has not yet said who it is. It is no session, but terminate_all() ends it, too.
  class Arrival {
   public:
    Arrival(SessionRegistry& registry, SessionInterrupts& session);
    ~Arrival();
    Arrival(const Arrival&) = delete;
    Arrival& operator=(const Arrival&) = delete;

   private:
    SessionRegistry& registry_;
    SessionInterrupts& session_;
  };
  // full: `limit` sessions are there already. closing: terminate_all() has been called.
  enum class Admission : uint8_t { admitted, full, closing };
  // Takes the session in and gives it a process number and a secret.
  Admission add(SessionInterrupts& session, const SessionActivity& activity, size_t limit,
                int32_t* process, int32_t* secret);
  // Before the session goes away.
  void remove(int32_t process);
  // The session goes on as another object, on another worker's thread. What is asked of it in
  // between reaches that.
  void begin_move(int32_t process, SessionActivity& activity);
  void end_move(int32_t process, SessionInterrupts& session, SessionActivity& activity,
                LockOwner& locks, int worker);
  // CancelRequest: nothing happens when the pair is wrong.
  void cancel(int32_t process, int32_t secret);
  // By those who may: false when there is no such session.
  bool cancel(int32_t process);
  bool terminate(int32_t process);
  // Ends the session that has kept memory from being freed for longest, if it idles in a
  // transaction and gets nothing to do before it notices; if it waits for a lock, one that it waits
  // for and that does. False: nobody is ended. Who keeps memory then, or those whom he waits for,
  // have something to do, so that nothing would be freed by ending others.
  bool end_oldest_idle_pin(LockTable& locks);
  bool has(int32_t process) const;
  // By process number.
  std::vector<SessionInfo> list() const;
  std::unordered_map<const LockOwner*, int32_t> lock_owners() const;
  // Every session is to end, and none is admitted from now on.
  void terminate_all();
  size_t size() const;
  // What runs: a line per session that is not idle.
  void tell(int descriptor) const noexcept override;

 private:
  struct Entry {
    void request_cancel();
    void request_termination();

    SessionInterrupts* session;  // null: it is on its way, and what it is to do lies here
    const SessionActivity* activity;
    int32_t secret;
    bool is_cancelled = false;
    bool is_terminated = false;
  };
  const Entry* oldest_pin() const;
  const Entry* idle_end_of_waits(LockTable& locks, const Entry& oldest) const;

  mutable std::mutex mutex_;
  std::unordered_map<int32_t, Entry> sessions_;
  int32_t last_process_ = 0;
  std::unordered_set<SessionInterrupts*> arriving_;
  bool terminating_ = false;
};

}  // namespace pgsilo
