#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {

RawClient::RawClient() {
  const char* host = std::getenv("PGHOST");
  const char* port = std::getenv("PGPORT");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string path = std::string(host == nullptr ? "/tmp" : host) + "/.s.PGSQL." +
                     (port == nullptr ? "5432" : port);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  descriptor_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    ADD_FAILURE() << "cannot connect to " << path << ": " << std::strerror(errno);
  }
}

RawClient::~RawClient() { close(descriptor_); }

pid_t RawClient::server_process() const {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(descriptor_, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    ADD_FAILURE() << "cannot tell whose socket it is: " << std::strerror(errno);
  return peer.pid;
}

void RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;  // the server has closed: what it said before is read next
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

std::string RawClient::startup_packet(
    const std::vector<std::pair<std::string, std::string>>& parameters, uint32_t version) {
  std::string body = int32(version);
  for (const auto& [name, value] : parameters) body += cstring(name) + cstring(value);
  body += '\0';
  return int32(static_cast<int64_t>(body.size()) + 4) + body;
}

void RawClient::start(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::vector<std::pair<std::string, std::string>> all = {{"user", "postgres"},
                                                          {"database", "postgres"}};
  all.insert(all.end(), parameters.begin(), parameters.end());
  send(startup_packet(all));
  for (const Message& each : read_answer()) {
    if (each.type == 'E') ADD_FAILURE() << field(each, 'M');
    if (each.type != 'K') continue;
    auto number = [&](size_t at) {
      uint32_t value = 0;
      for (size_t i = at; i < at + 4; ++i)
        value = value << 8 | static_cast<unsigned char>(each.body[i]);
      return static_cast<int32_t>(value);
    };
    process = number(0);
    secret = number(4);
  }
}

namespace {

bool read_exactly(int descriptor, char* to, size_t bytes) {
  while (bytes > 0) {
    ssize_t count = recv(descriptor, to, bytes, 0);
    if (count <= 0) return false;
    to += count;
    bytes -= static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

char RawClient::read_byte() {
  char byte = '\0';
  return read_exactly(descriptor_, &byte, 1) ? byte : '\0';
}

Message RawClient::read() {
  char head[5];
  if (!read_exactly(descriptor_, head, sizeof head)) return {};
  uint32_t length = 0;
  for (int i = 1; i < 5; ++i) length = length << 8 | static_cast<unsigned char>(head[i]);
  Message read{head[0], std::string(length - 4, '\0')};
  if (!read_exactly(descriptor_, read.body.data(), read.body.size())) return {};
  return read;
}

std::vector<Message> RawClient::read_answer() {
  std::vector<Message> messages;
  do {
    messages.push_back(read());
  } while (messages.back().type != 'Z' && messages.back().type != '\0');
  return messages;
}

std::string summary(const std::vector<Message>& messages) {
  std::string types;
  for (const Message& each : messages) {
    if (each.type == 'N' || each.type == 'S') continue;
    if (each.type == '\0') {
      types += "(end)";
    } else if (each.type == 'E') {
      types += "E(" + field(each, 'C') + ")";
    } else if (each.type == 'Z') {
      types += "Z" + each.body;
    } else {
      types += each.type;
    }
  }
  return types;
}

std::string RawClient::answer() { return summary(read_answer()); }

std::string RawClient::first_value(std::string_view sql) {
  send(query(sql));
  for (const Message& each : read_answer()) {
    if (each.type == 'D') return row_values(each)[0];
    if (each.type == 'E') return field(each, 'C');
  }
  return "";
}

std::string RawClient::column(std::string_view sql) {
  send(query(sql));
  return first_column(read_answer());
}

std::string RawClient::ask(std::string_view bytes) {
  send(bytes);
  return answer();
}

bool RawClient::is_silent(int milliseconds) {
  pollfd state{.fd = descriptor_, .events = POLLIN, .revents = 0};
  return poll(&state, 1, milliseconds) == 0;
}

void RawClient::shut_down() { shutdown(descriptor_, SHUT_WR); }

std::string field(const Message& message, char code) {
  for (size_t at = 0; at < message.body.size() && message.body[at] != '\0';) {
    size_t end = message.body.find('\0', at);
    if (message.body[at] == code) return message.body.substr(at + 1, end - at - 1);
    at = end + 1;
  }
  return {};
}

std::vector<std::string> row_values(const Message& message) {
  std::vector<std::string> values;
  auto number = [&](size_t at, int bytes) {
    uint32_t value = 0;
    for (int i = 0; i < bytes; ++i)
      value = value << 8 | static_cast<unsigned char>(message.body[at + i]);
    return value;
  };
  uint32_t count = number(0, 2);
  size_t at = 2;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t length = number(at, 4);
    at += 4;
    if (length == UINT32_MAX) {
      values.push_back("\\N");
      continue;
    }
    values.push_back(message.body.substr(at, length));
    at += length;
  }
  return values;
}

std::string first_column(const std::vector<Message>& messages) {
  std::string values;
  for (const Message& each : messages) {
    if (each.type == 'D') values += row_values(each)[0] + " ";
    if (each.type == 'E') values += field(each, 'C') + " ";
  }
  return values;
}

}  // namespace pgsilo::protocol_test
