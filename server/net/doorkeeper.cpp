#include "server/net/doorkeeper.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>

#include "base/check.h"
#include "base/clock.h"
#include "server/pgwire/message_writer.h"
#include "server/pgwire/protocol.h"
#include "server/pgwire/startup.h"

namespace pgsilo {
namespace {

constexpr int events_per_poll = 64;

}  // namespace

void Doorkeeper::say(const SqlError& refusal) {
  std::lock_guard lock(mutex_);
  refusal_ = refusal;
}

void Doorkeeper::open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  stop_event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (!watch(stop_event_)) return;
  for (int descriptor : listener_.descriptors()) static_cast<void>(watch(descriptor));
  try {
    clients_.reserve(patience_.clients);
    thread_ = std::thread([this] { run(); });
  } catch (const std::exception&) {
    // As above: nobody is answered.
  }
}

void Doorkeeper::stop_thread() {
  if (thread_.joinable()) {
    uint64_t one = 1;
    PGSILO_CHECK(write(stop_event_, &one, sizeof one) == sizeof one);
    thread_.join();
  }
  for (int* descriptor : {&stop_event_, &epoll_}) {
    if (*descriptor >= 0) ::close(*descriptor);
    *descriptor = -1;
  }
}

std::vector<int> Doorkeeper::hand_over() {
  stop_thread();
  std::vector<int> descriptors;
  descriptors.reserve(clients_.size());
  for (const Client& client : clients_) descriptors.push_back(client.descriptor);
  clients_.clear();
  return descriptors;
}

void Doorkeeper::close() {
  stop_thread();
  for (const Client& client : clients_) answer(client);
  clients_.clear();
}

// Edge-triggered: a client whose packet comes in pieces is looked at once for each.
bool Doorkeeper::watch(int descriptor) {
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data = {.fd = descriptor}};
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void Doorkeeper::run() {
  for (;;) {
    epoll_event events[events_per_poll];
    int count = epoll_wait(epoll_, events, events_per_poll, timeout_ms());
    PGSILO_CHECK(count >= 0 || errno == EINTR);
    bool stops = false;
    for (int i = 0; i < count; ++i) {
      int descriptor = events[i].data.fd;
      const std::vector<int>& doors = listener_.descriptors();
      if (descriptor == stop_event_) {
        stops = true;
      } else if (std::find(doors.begin(), doors.end(), descriptor) != doors.end()) {
        listener_.accept_all(descriptor, *this);
      } else {
        attend(descriptor);
      }
    }
    if (stops) return;
    answer_silent();
  }
}

int Doorkeeper::timeout_ms() const {
  if (clients_.empty()) return -1;
  int64_t left_us = clients_.front().leaves_us - monotonic_us();
  return static_cast<int>(std::max<int64_t>(0, (left_us + 999) / 1000));
}

void Doorkeeper::answer_silent() {
  int64_t now_us = monotonic_us();
  while (!clients_.empty() && clients_.front().leaves_us <= now_us) {
    answer(clients_.front());
    clients_.erase(clients_.begin());
  }
}

void Doorkeeper::take(int descriptor) {
  Client client{descriptor, monotonic_us() + patience_.silence_us};
  if (!watch(descriptor)) return answer(client);
  if (clients_.size() == patience_.clients) {
    answer(clients_.front());
    clients_.erase(clients_.begin());
  }
  clients_.push_back(client);
}

// An event of a client that went earlier in the same round finds nobody.
void Doorkeeper::attend(int descriptor) {
  auto client = std::find_if(clients_.begin(), clients_.end(),
                             [&](const Client& each) { return each.descriptor == descriptor; });
  if (client != clients_.end() && !look(*client)) clients_.erase(client);
}

// Nothing is taken out of the socket before all of a packet is there. False: the client has gone.
bool Doorkeeper::look(Client& client) {
  char input[limits::max_startup_bytes];
  try {
    for (;;) {
      ssize_t count = recv(client.descriptor, input, sizeof input, MSG_PEEK);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return true;
      if (count <= 0) break;
      auto packet = find_startup_packet({input, static_cast<size_t>(count)});
      if (!packet) return true;
      if (packet->version == cancel_request_code) break;
      if (!packet->asks_for_encryption() || client.encryption_requests == max_encryption_requests) {
        static_cast<void>(parse_startup(packet->version, packet->body));
        answer(client);
        return false;
      }
      ++client.encryption_requests;
      static_cast<void>(recv(client.descriptor, input, packet->total_bytes, 0));
      static_cast<void>(send(client.descriptor, "N", 1, MSG_NOSIGNAL));
    }
  } catch (const SqlError& error) {
    tell(client, error);
  } catch (const std::bad_alloc&) {
    // As tell().
  }
  let_go(client);
  return false;
}

void Doorkeeper::answer(const Client& client) {
  {
    std::lock_guard lock(mutex_);
    tell(client, refusal_);
  }
  let_go(client);
}

// Room for one message is in every new socket. Without memory nothing is told.
void Doorkeeper::tell(const Client& client, const SqlError& error) {
  try {
    ByteBuffer message;
    MessageWriter(message).diagnostic(error.diagnostic());
    static_cast<void>(send(client.descriptor, message.data(), message.size(), MSG_NOSIGNAL));
  } catch (const std::bad_alloc&) {
  }
}

// A TCP socket that is closed with unread bytes in it takes back what it has sent.
void Doorkeeper::let_go(const Client& client) {
  char unread[4096];
  shutdown(client.descriptor, SHUT_WR);
  for (size_t taken = 0; taken < limits::max_startup_bytes;) {
    ssize_t count = recv(client.descriptor, unread, sizeof unread, 0);
    if (count <= 0) break;
    taken += static_cast<size_t>(count);
  }
  ::close(client.descriptor);
}

}  // namespace pgsilo
