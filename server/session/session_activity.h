// What others may see of a session: who it is, what it runs, since when, and for what it waits. The
// session publishes it as it goes, without locks and without shared writes; whoever reads
// pg_stat_activity copies it.
//
// The text of the running query lies in a seqlock (base/ordered_load.h); everything else
// is single words. A prepared text that runs again is not copied again.
//
// Thread safety: read() from any thread while the session is in the registry; the rest in the
// session's fiber.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "executor/plan_cache.h"
#include "executor/server_monitor.h"
#include "executor/wait_report.h"
#include "server/limits.h"
#include "server/net/client_wait.h"
#include "storage/epoch/epoch.h"

namespace pgsilo {

class LockOwner;

class SessionActivity {
 public:
  using State = SessionInfo::State;
  SessionActivity() = default;
  SessionActivity(const SessionActivity&) = delete;
  SessionActivity& operator=(const SessionActivity&) = delete;

  // Before others can find the session.
  void introduce(std::string_view user, LockOwner* locks, std::string address, int32_t port,
                 int64_t now_us);
  // The registry's, with its mutex: null while the session is on its way to another worker.
  void set_lock_owner(LockOwner* locks) { lock_owner_ = locks; }
  void set_worker(int index) {
    if (get(worker_) >= 0) put(moves_, get(moves_) + 1);
    put(worker_, index);
  }
  void set_application_name(std::string_view name);
  WaitReport& wait_report() { return wait_report_; }
  ClientWait& client_wait() { return client_wait_; }
  // Under which the session's transactions hold locks.
  LockOwner* lock_owner() const { return lock_owner_; }

  // A message begins to be handled. The second form is for texts that outlive it.
  void begin(std::string_view query, int64_t now_us);
  void begin(const std::shared_ptr<const CachedText::Syntax>& query, int64_t now_us);
  // What pgsilo_stat_statements calls the query.
  void set_query_id(uint64_t id) { put(query_id_, static_cast<int64_t>(id)); }
  // The session waits for the client's next message, in this state.
  void end(State state, int64_t now_us);
  // 0: none is open.
  void set_transaction_start(int64_t at_us) { put(transaction_start_, at_us); }
  int64_t transaction_start() const { return get(transaction_start_); }
  void set_pin_start(int64_t at_us) { put(pin_start_, at_us); }
  // Of the snapshot it reads; Epoch(0): it reads none.
  void set_snapshot(Epoch boundary) { put(snapshot_, static_cast<int64_t>(boundary.value())); }
  // Since when it holds memory back; 0: it does not. Any thread.
  int64_t pin_start() const { return get(pin_start_); }
  // It waits for its client in a transaction: between statements, unless that is still at reading
  // the answer, or in the midst of one for so long that its client seems to do nothing. Any thread,
  // while the session is in the registry.
  bool idles_in_transaction(int64_t now_us) const;

  // Of the query that runs, or ran last, as others see it.
  std::string query() const { return read_query(); }
  // The same while the process stops: into `text`, as far as it goes; nothing is waited for. Empty:
  // nothing runs.
  size_t copy_running(std::span<char> text) const noexcept;
  // A copy, but for the process number, which the registry knows.
  SessionInfo read() const;

 private:
  // One writer: plain stores that others may see at any time.
  static void put(std::atomic<int64_t>& word, int64_t value) {
    word.store(value, std::memory_order_relaxed);
  }
  static int64_t get(const std::atomic<int64_t>& word) {
    return word.load(std::memory_order_relaxed);
  }
  void put_query(std::string_view query);
  std::string read_query() const;

  std::string user_;
  LockOwner* lock_owner_ = nullptr;
  std::string client_address_;
  int32_t client_port_ = -1;
  int64_t backend_start_ = 0;
  mutable std::mutex name_mutex_;  // guards application_name_, which hardly ever changes
  std::string application_name_;

  WaitReport wait_report_;
  ClientWait client_wait_;
  std::atomic<State> state_{State::idle};
  std::atomic<int64_t> transaction_start_{0};
  std::atomic<int64_t> pin_start_{0};
  std::atomic<int64_t> snapshot_{0};
  std::atomic<int64_t> query_start_{0};
  std::atomic<int64_t> query_id_{0};
  std::atomic<int64_t> state_change_{0};
  std::atomic<int64_t> worker_{-1};
  std::atomic<int64_t> moves_{0};

  std::shared_ptr<const CachedText::Syntax> prepared_;  // whose text query_ holds; null: none
  std::atomic<uint64_t> query_version_{0};              // odd while query_ changes
  std::atomic<uint64_t> query_bytes_{0};
  alignas(8) uint64_t query_[limits::shown_query_bytes / 8] = {};
};

}  // namespace pgsilo
