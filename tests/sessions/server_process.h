// The server under test: started, watched, ended. Thread safety: one owner.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/sessions/connection.h"

namespace pgsilo::sessions {

class ServerProcess {
 public:
  // Everything lies below `directory`.
  ServerProcess(std::string binary, std::string directory, int port,
                std::vector<std::string> flags);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // False: it did not come up.
  bool start();
  // Once it is not, ended_as() tells how.
  bool is_running();
  // After a connection was lost: is_running(), once what ends has had the time to.
  bool goes_on();
  std::string ended_as() const { return ended_as_; }
  // Asks it to stop; false unless it did so cleanly in time.
  bool stop();
  void kill();
  // Where its threads stand, if a debugger is there.
  std::string stacks() const;

  const Address& address() const { return address_; }
  pid_t process() const { return process_; }
  // What it has said since the last start, its end.
  std::string last_words(size_t bytes = 12000) const;
  // The line that tells why it ended, if there is one.
  std::string cause_of_death() const;
  long resident_kilobytes() const;
  size_t descriptors() const;

 private:
  void note_end(int status);

  const std::string binary_, directory_;
  const std::vector<std::string> flags_;
  Address address_;
  pid_t process_ = -1;
  std::string ended_as_;
};

}  // namespace pgsilo::sessions
