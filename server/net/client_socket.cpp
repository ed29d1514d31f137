#include "server/net/client_socket.h"

#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "server/limits.h"
#include "server/pgwire/message_writer.h"
#include "sql/sql_error.h"

namespace pgsilo {

ClientSocket::~ClientSocket() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  seats_->give_back();
}

int ClientSocket::release() {
  if (descriptor_ >= 0) seats_->give_back();
  return std::exchange(descriptor_, -1);
}

void say_farewell(int descriptor, std::string_view message) {
  static_cast<void>(send(descriptor, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  shutdown(descriptor, SHUT_WR);
  // A TCP socket that is closed with unread bytes in it takes back what it has sent.
  char unread[4096];
  for (size_t taken = 0; taken < limits::max_startup_bytes;) {
    ssize_t count = recv(descriptor, unread, sizeof unread, MSG_DONTWAIT);
    if (count <= 0) break;
    taken += static_cast<size_t>(count);
  }
}

std::string_view out_of_memory_farewell() {
  static const std::string message = [] {
    ByteBuffer bytes;
    MessageWriter(bytes).diagnostic(
        SqlError(Severity::fatal, sqlstate::out_of_memory, "out of memory").diagnostic());
    return std::string(bytes.data(), bytes.size());
  }();
  return message;
}

}  // namespace pgsilo
