#include "tests/sessions/connection.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "tests/protocol/wire_messages.h"
#include "tests/sessions/message_reader.h"

namespace pgsilo::sessions {
namespace wire = protocol_test;
namespace {

constexpr size_t largest_reply = 1 << 30;

int connect_to(const Address& address) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::string path = address.directory + "/.s.PGSQL." + std::to_string(address.port);
  if (path.size() >= sizeof name.sun_path) return -1;
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  if (connect(descriptor, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0) return descriptor;
  close(descriptor);
  return -1;
}

}  // namespace

void send_cancel(const Address& address, int32_t process, int32_t secret) {
  int descriptor = connect_to(address);
  if (descriptor < 0) return;
  std::string packet =
      wire::int32(16) + wire::int32(80877102) + wire::int32(process) + wire::int32(secret);
  static_cast<void>(::send(descriptor, packet.data(), packet.size(), MSG_NOSIGNAL));
  close(descriptor);
}

Connection::Connection(const Address& address) : descriptor_(connect_to(address)) {
  if (descriptor_ >= 0) fcntl(descriptor_, F_SETFL, O_NONBLOCK);
}

Connection::~Connection() { end(); }

void Connection::end() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

void Connection::send(std::string_view message) {
  judge_.sent(message[0], message.substr(5));
  output_ += message;
}

void Connection::send_garbage(std::string_view bytes) {
  judge_.sent('?', bytes);
  output_ += bytes;
}

void Connection::send_startup(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string body = wire::int32(3 << 16);
  for (const auto& [name, value] : parameters) body += wire::cstring(name) + wire::cstring(value);
  body += '\0';
  output_ += wire::int32(static_cast<int64_t>(body.size()) + 4) + body;
}

bool Connection::write_some() {
  while (descriptor_ >= 0 && has_output()) {
    ssize_t count =
        ::send(descriptor_, output_.data() + written_, output_.size() - written_, MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    written_ += static_cast<size_t>(count);
  }
  output_.clear();
  written_ = 0;
  return descriptor_ >= 0;
}

bool Connection::read_some() {
  char buffer[65536];
  // All that is there, if that is the end.
  for (int turn = 0; turn < 16 && descriptor_ >= 0; ++turn) {
    ssize_t count = recv(descriptor_, buffer, sizeof buffer, 0);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (count == 0) {
      if (!input_.empty() && violation_.empty()) violation_ = "the connection ended in a message";
      return false;
    }
    input_.append(buffer, static_cast<size_t>(count));
    size_t at = 0;
    while (input_.size() - at >= 5) {
      MessageReader head(std::string_view(input_).substr(at + 1, 4));
      int32_t length = head.int32();
      if (length < 4 || static_cast<size_t>(length) > largest_reply) {
        violation_ = "a message of length " + std::to_string(length);
        return false;
      }
      size_t whole = static_cast<size_t>(length) + 1;
      if (input_.size() - at < whole) break;
      take(input_[at], std::string_view(input_).substr(at + 5, whole - 5));
      at += whole;
    }
    input_.erase(0, at);
  }
  return descriptor_ >= 0;
}

void Connection::take_startup(char type, std::string_view body) {
  MessageReader reader(body);
  if (type == 'K') {
    process_ = reader.int32();
    secret_ = reader.int32();
  } else if (type == 'Z') {
    is_started_ = true;
  } else if (type == 'E') {
    errors_.emplace_back(body);
  } else if (type != 'R' && type != 'S' && type != 'N') {
    violation_ = std::string("message '") + type + "' before the session began";
  }
}

void Connection::take(char type, std::string_view body) {
  ++messages_;
  if (!is_started_) return take_startup(type, body);
  std::string wrong = judge_.take(type, body);
  if (!wrong.empty() && violation_.empty()) violation_ = wrong;
  if (type == 'E') errors_.push_back(judge_.last_sqlstate() + " " + judge_.last_message());
  if (keeps_answers_) keep(type, body);
}

void Connection::keep(char type, std::string_view body) {
  MessageReader reader(body);
  if (type == 'C') {
    answers_.push_back({std::exchange(rows_, {}), std::string(reader.text())});
  } else if (type == 'E') {
    rows_.clear();
  } else if (type == 'D') {
    Row row;
    for (int i = reader.int16(); i > 0; --i) {
      int32_t length = reader.int32();
      row.emplace_back(length < 0 ? "\\N" : reader.bytes(static_cast<size_t>(length)));
    }
    rows_.push_back(std::move(row));
  }
}

std::vector<Connection::Answer> Connection::take_answers() { return std::exchange(answers_, {}); }

std::vector<Row> Connection::take_rows() {
  std::vector<Row> rows;
  for (Answer& each : take_answers()) rows.insert(rows.end(), each.rows.begin(), each.rows.end());
  return rows;
}

std::vector<std::string> Connection::take_errors() { return std::exchange(errors_, {}); }

bool Connection::finish(int milliseconds) {
  using Clock = std::chrono::steady_clock;
  auto until = Clock::now() + std::chrono::milliseconds(milliseconds);
  for (;;) {
    if (!has_output() && is_started_ && judge_.settled()) return true;
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0 || descriptor_ < 0) return false;
    pollfd state{.fd = descriptor_,
                 .events = static_cast<short>(POLLIN | (has_output() ? POLLOUT : 0)),
                 .revents = 0};
    poll(&state, 1, static_cast<int>(left));
    if (!write_some() || !read_some() || !violation_.empty()) return false;
  }
}

}  // namespace pgsilo::sessions
