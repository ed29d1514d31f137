// Answers clients while there is nobody to serve them: before recovery is done, and while the
// server stops. Each gets one FATAL error with the words of the moment once it has said who it is.
// Who says nothing is waited for, but not for long and not in numbers: a newcomer too many has the
// oldest one answered unasked. Nobody who works on recovery waits for a client.
//
//   doorkeeper.say(refusal); doorkeeper.open(); ... doorkeeper.say(refusal with news) ...
//   for (int descriptor : doorkeeper.hand_over()) ...     they are served now
//   or: doorkeeper.close()                                they are turned away
//
// Thread safety: say(): any thread. The rest: one thread; a thread of its own does the work.
// Invariant: of a client that is handed over nothing was read but requests for encryption, which
// were answered; its next packet is whole in its socket, or yet to come.
#pragma once

#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "base/byte_buffer.h"
#include "server/limits.h"
#include "server/net/listener.h"
#include "sql/sql_error.h"

namespace pgsilo {

class Doorkeeper final : ConnectionTaker {
 public:
  struct Patience {
    size_t clients = limits::clients_at_closed_door;
    int64_t silence_us = limits::authentication_timeout_us;
  };
  // The listener outlives it.
  explicit Doorkeeper(Listener& listener) : Doorkeeper(listener, Patience()) {}
  Doorkeeper(Listener& listener, const Patience& patience)
      : listener_(listener), patience_(patience) {}
  ~Doorkeeper() { close(); }
  Doorkeeper(const Doorkeeper&) = delete;
  Doorkeeper& operator=(const Doorkeeper&) = delete;

  // What clients are told from now on; FATAL.
  void say(const SqlError& refusal);
  // Begins to accept at the listener's sockets. Where there is no descriptor, thread or memory for
  // it, clients wait in the sockets' queues instead.
  void open();
  // Ends that. The descriptors of those who have not been answered yet are the caller's.
  std::vector<int> hand_over();
  // Ends that, and answers everybody.
  void close();

 private:
  struct Client {
    int descriptor;
    int64_t leaves_us;  // monotonic_us()
    int encryption_requests = 0;
  };

  void run();
  void stop_thread();
  bool watch(int descriptor);
  void take(int descriptor) override;
  int timeout_ms() const;
  void answer_silent();
  void attend(int descriptor);
  bool look(Client& client);
  void answer(const Client& client);
  static void tell(const Client& client, const SqlError& error);
  static void let_go(const Client& client);

  Listener& listener_;
  const Patience patience_;
  std::thread thread_;
  int epoll_ = -1;
  int stop_event_ = -1;
  std::vector<Client> clients_;  // in the order in which they came; has room for all
  std::mutex mutex_;             // guards refusal_
  SqlError refusal_{Severity::fatal, sqlstate::cannot_connect_now, ""};
};

}  // namespace pgsilo
