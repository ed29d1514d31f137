// All sessions of the server, for those who are not their fiber: CancelRequest, shutdown, the
// connection limit. Thread safety: all functions from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace pgsilo {

class SessionInterrupts;

class SessionRegistry {
 public:
  // Takes the session in and gives it a process number and a secret. False: `limit` sessions are
  // there already.
  bool add(SessionInterrupts& session, size_t limit, int32_t* process, int32_t* secret);
  // Before the session goes away.
  void remove(int32_t process);
  // CancelRequest: nothing happens when the pair is wrong.
  void cancel(int32_t process, int32_t secret);
  // Every session, and every one added from now on, is to end.
  void terminate_all();
  size_t size() const;

 private:
  struct Entry {
    SessionInterrupts* session;
    int32_t secret;
  };
  mutable std::mutex mutex_;
  std::unordered_map<int32_t, Entry> sessions_;
  int32_t last_process_ = 0;
  bool terminating_ = false;
};

}  // namespace pgsilo
