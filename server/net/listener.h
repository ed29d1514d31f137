// Listening sockets: a Unix socket `DIR/.s.PGSQL.PORT` with its lock file, and loopback TCP.
// Accepted connections are handed to a ConnectionTaker; a Doorkeeper accepts. Thread safety: open
// and close by one thread; accept_all by one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pgsilo {

class ConnectionTaker {
 public:
  // A new client; the descriptor is non-blocking and now the taker's.
  virtual void take(int descriptor) = 0;
  // One for whom there is no descriptor to spare; as above, to be closed before it returns.
  virtual void turn_away(int descriptor) = 0;

 protected:
  ~ConnectionTaker() = default;
};

// An advisory lock on a file that dies with the process. The file's text tells people whose it is,
// and PostgreSQL by its first line. A file that names another running program and was not written
// by us stays as it is: that program goes by the file's content alone.
class LockFile {
 public:
  ~LockFile();
  // Who has locked the file, if it tells no number.
  static constexpr int somebody = -1;
  // False: somebody else has it, `*owner` by the file, which may be about to be written: waits a
  // second for that. Or 0, and errno says why.
  bool acquire(const std::string& path, int* owner);
  // What is said then of the file `name`; `deed`: what the other one does.
  static std::string refusal(const std::string& name, int owner, const std::string& deed);
  void write(std::string_view text);
  // Removes the file and gives the lock back.
  void release();

 private:
  void let_go();

  int descriptor_ = -1;
  std::string path_;
};

class Listener final {
 public:
  Listener();
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Each opens sockets; false: `why` says what PostgreSQL would say, hint in a second line.
  bool open_unix(const std::string& directory, int port, std::string_view lock_text,
                 std::string* why);
  bool open_tcp(const std::string& address, int port, std::string* why);
  const std::vector<int>& descriptors() const { return descriptors_; }
  // Takes in whoever waits at the socket. False: somebody may still wait, for descriptors have run
  // out; no event will tell of him.
  bool accept_all(int descriptor, ConnectionTaker& taker);
  // No more connections.
  void close();

  const std::string& unix_path() const { return unix_path_; }

 private:
  bool turn_one_away(int descriptor, ConnectionTaker& taker);

  std::vector<int> descriptors_;
  std::string unix_path_;
  LockFile unix_lock_;
  // Given up for a moment when descriptors run out, so that a client can be turned away instead of
  // left waiting.
  int reserve_ = -1;
};

}  // namespace pgsilo
