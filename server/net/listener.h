// Listening sockets: a Unix socket `DIR/.s.PGSQL.PORT` with its lock file, and loopback TCP.
// Accepted connections are handed to a ConnectionTaker; accepting runs in a worker's loop, so no
// thread is needed for it. While no worker serves, a Doorkeeper accepts. Thread safety: open and
// close by one thread; on_io on the worker that watches, accept_all by one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "executor/worker/worker.h"

namespace pgsilo {

class ConnectionTaker {
 public:
  // A new client; the descriptor is non-blocking and now the taker's.
  virtual void take(int descriptor) = 0;

 protected:
  ~ConnectionTaker() = default;
};

// An advisory lock on a file that dies with the process. The file's text tells people whose it is.
class LockFile {
 public:
  ~LockFile();
  // False: somebody else has it; `*owner` is the process number found in the file, or 0.
  bool acquire(const std::string& path, int* owner);
  void write(std::string_view text);
  // Removes the file and gives the lock back.
  void release();

 private:
  int descriptor_ = -1;
  std::string path_;
};

class Listener final : public IoHandler {
 public:
  explicit Listener(ConnectionTaker& taker);
  ~Listener();

  // Each opens sockets; false: `why` says what PostgreSQL would say, hint in a second line.
  bool open_unix(const std::string& directory, int port, std::string_view lock_text,
                 std::string* why);
  bool open_tcp(const std::string& address, int port, std::string* why);
  // Starts accepting in the worker's loop; on its own thread or before it runs.
  void watch(Worker& worker);
  // Ends that; on the worker's thread.
  void unwatch(Worker& worker);
  const std::vector<int>& descriptors() const { return descriptors_; }
  // Takes in whoever waits at the socket.
  void accept_all(int descriptor, ConnectionTaker& taker);
  // No more connections. On the worker's thread or after it has stopped.
  void close();

  void on_io(bool readable, bool writable, bool closed) override;

  const std::string& unix_path() const { return unix_path_; }

 private:
  void drop_one(int descriptor);

  ConnectionTaker& taker_;
  std::vector<int> descriptors_;
  std::string unix_path_;
  LockFile unix_lock_;
  // Given up for a moment when descriptors run out, so that a client can be turned away instead of
  // left waiting.
  int reserve_ = -1;
};

}  // namespace pgsilo
