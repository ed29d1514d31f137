// What a session waits for just now, for pg_stat_activity: its fiber notes it, anybody may look.
// Thread safety: one writer; readers anywhere see some recent value.
#pragma once

#include <atomic>
#include <cstdint>

namespace pgsilo {

enum class WaitEvent : uint8_t {
  none,
  client_read,
  client_write,
  record_lock,
  relation_lock,
  advisory_lock,
  log_buffer,  // room in the log's buffers, or a helper of a bulk load
  log_sync,    // the answer is ready, the log not yet durable
  pg_sleep,
  retry_delay,          // before a one-shot that met conflicts runs again
  checkpoint_done,      // that it has asked for
  parse,                // of a long text, on another thread
  backend_termination,  // of another session, by pg_terminate_backend(pid, timeout)
  spill_read,           // of a temporary file
  spill_write,          // likewise
  commit,               // of another: it is about to install a row or an epoch's rows
};

struct WaitReport {
  std::atomic<WaitEvent> event{WaitEvent::none};
  // An answer waits for the log; the session itself may go on meanwhile.
  std::atomic<bool> unsynced{false};
};

// Notes a wait for as long as it lives. Null: nobody looks.
class WaitScope {
 public:
  WaitScope(WaitReport* report, WaitEvent event) : report_(report) {
    if (report_ != nullptr) report_->event.store(event, std::memory_order_relaxed);
  }
  ~WaitScope() {
    if (report_ != nullptr) report_->event.store(WaitEvent::none, std::memory_order_relaxed);
  }
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

 private:
  WaitReport* report_;
};

}  // namespace pgsilo
