// Accepts clients, on a thread of its own, so that nobody who works on anything else keeps a client
// waiting at the door. While the door is open they go in, to a host. Who may not, before recovery
// is done, while the server stops, or because there is no seat for him, gets one FATAL error with
// the words of the moment once he has said who he is. Who says nothing is waited for, but not for
// long and not in numbers: a newcomer too many has the oldest one answered unasked.
//
//   doorkeeper.say(refusal); doorkeeper.start(...); ... doorkeeper.say(refusal with news) ...
//   doorkeeper.let_in(host)        who waits goes in, and whoever comes
//   doorkeeper.say(refusal)        nobody goes in any more once it has returned; who is in
//                                  can still be cancelled
//   doorkeeper.close()             those who still wait are turned away
//
// Thread safety: say(), let_in(): any thread. The rest: one thread; a thread of its own does the
// work. Invariant: of a client that goes in nothing was read but requests for encryption, which
// were answered; its next packet is whole in its socket, or yet to come.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/byte_buffer.h"
#include "server/limits.h"
#include "server/net/listener.h"
#include "sql/sql_error.h"

namespace pgsilo {

// Where clients go when the door is open. The doorkeeper's thread.
class ClientHost {
 public:
  // False: there is no seat, the descriptor is still the caller's. Else it is taken care of.
  virtual bool take_in(int descriptor) = 0;
  // Those who were taken in and are not served yet. Returns when to do it again (monotonic_us()),
  // unless somebody is taken in before; INT64_MAX: then.
  virtual int64_t look_after_waiting() = 0;
  // A CancelRequest, which needs no seat.
  virtual void cancel(int32_t process, int32_t secret) = 0;

 protected:
  ~ClientHost() = default;
};

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

  // Before start().
  void set_patience(const Patience& patience) { patience_ = patience; }
  // Shuts the door, if it was open. What clients are told from now on; FATAL.
  void say(const SqlError& refusal);
  // Opens it. The host stays until the door is shut.
  void let_in(ClientHost& host);
  // Begins to accept at the listener's sockets. False: there is no descriptor, thread or memory for
  // that.
  bool start(std::string* why);
  // Ends that, and answers everybody.
  void close();

 private:
  struct Client {
    int descriptor;
    int64_t leaves_us;  // monotonic_us()
    int encryption_requests = 0;
  };

  void run();
  void handle(int descriptor);
  void wake();
  bool watch(int descriptor);
  void unwatch(int descriptor);
  void take(int descriptor) override;
  void turn_away(int descriptor) override;
  int timeout_ms();
  void accept_left_out();
  void answer_silent();
  void attend(int descriptor);
  bool look(Client& client);
  void show_in_waiting();
  bool show_in(int descriptor);
  void cancel(std::string_view request);
  void answer(const Client& client);
  static void tell(const Client& client, const SqlError& error);

  Listener& listener_;
  Patience patience_;
  std::thread thread_;
  int epoll_ = -1;
  int wake_event_ = -1;
  std::vector<Client> clients_;  // in the order in which they came; has room for all
  bool left_out_ = false;        // somebody may wait at a socket for want of descriptors

  std::mutex mutex_;  // guards what follows; held while the host is asked for something
  bool stopping_ = false;
  ClientHost* host_ = nullptr;  // the last that let_in() named
  bool admits_ = false;         // the door is open
  SqlError refusal_{Severity::fatal, sqlstate::cannot_connect_now, ""};
};

}  // namespace pgsilo
