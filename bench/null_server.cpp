// The ceiling: a PostgreSQL v3 server that answers every statement with the same one-row result and
// does nothing else. What a client measures against it is the most that any server answering one
// statement per round trip can reach on this machine. One thread, one unix socket. usage:
// null_server SOCKET_DIRECTORY PORT
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

struct Connection {
  int socket;
  bool started = false;
  std::string in;
  std::string out;
};

uint32_t load32(const char* from) {
  uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return ntohl(value);
}

void put_message(std::string& out, char type, std::string_view body) {
  uint32_t length = htonl(static_cast<uint32_t>(body.size() + 4));
  out += type;
  out.append(reinterpret_cast<const char*>(&length), sizeof length);
  out += body;
}

using namespace std::string_view_literals;
constexpr std::string_view row_description =
    "\0\1abalance\0\0\0\0\0\0\0\0\0\0\x17\0\4\xff\xff\xff\xff\0\0"sv;  // one int4 column, text
constexpr std::string_view data_row =
    "\0\1\0\0\0\1"
    "0"sv;
constexpr std::string_view command_tag = "SELECT 1\0"sv;
constexpr uint32_t ssl_request = 80877103;
constexpr uint32_t gss_request = 80877104;

void answer_start(Connection& connection, uint32_t code) {
  if (code == ssl_request || code == gss_request) {
    connection.out += 'N';
    return;
  }
  put_message(connection.out, 'R', "\0\0\0\0"sv);
  put_message(connection.out, 'S',
              "server_version\0"
              "15.0\0"sv);
  put_message(connection.out, 'S', "client_encoding\0UTF8\0"sv);
  put_message(connection.out, 'S', "standard_conforming_strings\0on\0"sv);
  put_message(connection.out, 'K', "\0\0\0\1\0\0\0\1"sv);
  put_message(connection.out, 'Z', "I");
  connection.started = true;
}

// False when the client says good-bye.
bool answer_message(Connection& connection, char type) {
  std::string& out = connection.out;
  switch (type) {
    case 'P':
      put_message(out, '1', "");
      break;
    case 'B':
      put_message(out, '2', "");
      break;
    case 'C':
      put_message(out, '3', "");
      break;
    case 'D':
      put_message(out, 'T', row_description);
      break;
    case 'E':
      put_message(out, 'D', data_row);
      put_message(out, 'C', command_tag);
      break;
    case 'S':
      put_message(out, 'Z', "I");
      break;
    case 'Q':
      put_message(out, 'T', row_description);
      put_message(out, 'D', data_row);
      put_message(out, 'C', command_tag);
      put_message(out, 'Z', "I");
      break;
    case 'X':
      return false;
    default:
      break;
  }
  return true;
}

bool answer_all(Connection& connection) {
  size_t position = 0;
  for (;;) {
    std::string_view left = std::string_view(connection.in).substr(position);
    size_t head = connection.started ? 1 : 0;
    if (left.size() < head + 4) break;
    size_t length = head + load32(left.data() + head);
    if (left.size() < length) break;
    if (!connection.started) {
      answer_start(connection, load32(left.data() + 4));
    } else if (!answer_message(connection, left[0])) {
      return false;
    }
    position += length;
  }
  connection.in.erase(0, position);
  return true;
}

// False when the connection is over.
bool serve(Connection& connection) {
  char buffer[65536];
  ssize_t got = recv(connection.socket, buffer, sizeof buffer, 0);
  if (got <= 0) return false;
  connection.in.append(buffer, static_cast<size_t>(got));
  if (!answer_all(connection)) return false;
  if (connection.out.empty()) return true;
  ssize_t sent =
      send(connection.socket, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
  bool whole = sent == static_cast<ssize_t>(connection.out.size());
  connection.out.clear();
  return whole;
}

int listen_on(const std::string& path) {
  unlink(path.c_str());
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path.c_str());
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener, 128) != 0) {
    std::perror("null_server");
    std::exit(1);
  }
  return listener;
}

void watch(int poll, int socket, Connection* connection) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.ptr = connection;
  epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: null_server SOCKET_DIRECTORY PORT\n");
    return 2;
  }
  int listener = listen_on(std::string(arguments[1]) + "/.s.PGSQL." + arguments[2]);
  int poll = epoll_create1(0);
  watch(poll, listener, nullptr);
  for (;;) {
    epoll_event events[64];
    int ready = epoll_wait(poll, events, 64, -1);
    for (int i = 0; i < ready; ++i) {
      auto* connection = static_cast<Connection*>(events[i].data.ptr);
      if (connection == nullptr) {
        int socket = accept(listener, nullptr, nullptr);
        if (socket >= 0) watch(poll, socket, new Connection{socket, false, {}, {}});
      } else if (!serve(*connection)) {
        close(connection->socket);
        delete connection;
      }
    }
  }
}
