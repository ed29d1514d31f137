// Whether the client that a session waits for does anything: sends what comes next, or reads what
// it was sent. A socket's event tells of that only when most of what is in it was read. So whoever
// wants to know looks how much of it is there, and keeps that for the next look.
//
// Thread safety: has_stalled(), still_reads(): any thread, while the socket is open; the rest in
// the session's.
#pragma once

#include <atomic>
#include <cstdint>

namespace pgsilo {

class ClientWait {
 public:
  // A wait begins (monotonic time), for it to read what fills the socket, or to send something.
  void begin(int64_t now_us, int socket, bool is_full);
  // It lasts, and the client has done something.
  void renew(int64_t now_us) {
    if (since_us_.load(std::memory_order_relaxed) != 0)
      since_us_.store(now_us, std::memory_order_relaxed);
  }
  void end() { since_us_.store(0, std::memory_order_relaxed); }

  // It is waited for, and seems to do nothing.
  bool has_stalled(int64_t now_us) const;
  // It is waited for, and reads what it was sent.
  bool still_reads(int64_t now_us) const {
    return !has_stalled(now_us) && unread_.load(std::memory_order_relaxed) != 0;
  }

 private:
  // Since when it has done nothing, as far as anybody has looked; 0: it is not waited for.
  mutable std::atomic<int64_t> since_us_{0};
  mutable std::atomic<int> unread_{0};  // bytes in the socket then; 0 also: nobody has looked
  std::atomic<int> socket_{-1};
};

}  // namespace pgsilo
