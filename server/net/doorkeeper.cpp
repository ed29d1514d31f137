#include "server/net/doorkeeper.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>

#include "base/byte_order.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/process_memory.h"
#include "server/net/client_socket.h"
#include "server/not_serving.h"
#include "server/pgwire/message_writer.h"
#include "server/pgwire/protocol.h"
#include "server/pgwire/startup.h"

namespace pgsilo {
namespace {

constexpr int events_per_poll = 64;
// Who could not even be turned away for want of descriptors is looked for again after so long.
constexpr int64_t left_out_us = 50'000;

}  // namespace

void Doorkeeper::say(const SqlError& refusal) {
  std::lock_guard lock(mutex_);
  admits_ = false;
  refusal_ = refusal;
}

void Doorkeeper::let_in(ClientHost& host) {
  {
    std::lock_guard lock(mutex_);
    host_ = &host;
    admits_ = true;
  }
  wake();
}

bool Doorkeeper::start(std::string* why) {
  static_cast<void>(out_of_memory_farewell());
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  bool watching = watch(wake_event_);
  for (int descriptor : listener_.descriptors()) watching = watching && watch(descriptor);
  if (!watching) {
    *why = std::string("could not watch the listening sockets: ") + std::strerror(errno);
    return false;
  }
  try {
    clients_.reserve(patience_.clients);
    thread_ = std::thread([this] { run(); });
  } catch (const std::exception& error) {
    *why = std::string("could not start the thread that accepts clients: ") + error.what();
    return false;
  }
  return true;
}

void Doorkeeper::wake() {
  uint64_t one = 1;
  // Never full. Before start(): nobody has to be woken.
  if (wake_event_ >= 0) PGSILO_CHECK(write(wake_event_, &one, sizeof one) == sizeof one);
}

void Doorkeeper::close() {
  if (thread_.joinable()) {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake();
    thread_.join();
    stopping_ = false;
  }
  for (int* descriptor : {&wake_event_, &epoll_}) {
    if (*descriptor >= 0) ::close(*descriptor);
    *descriptor = -1;
  }
  for (const Client& client : clients_) answer(client);
  clients_.clear();
}

// Edge-triggered: a client whose packet comes in pieces is looked at once for each.
bool Doorkeeper::watch(int descriptor) {
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data = {.fd = descriptor}};
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void Doorkeeper::unwatch(int descriptor) { epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr); }

void Doorkeeper::run() {
  take_thread_memory();
  for (;;) {
    epoll_event events[events_per_poll];
    int count = epoll_wait(epoll_, events, events_per_poll, timeout_ms());
    PGSILO_CHECK(count >= 0 || errno == EINTR);
    for (int i = 0; i < count; ++i) handle(events[i].data.fd);
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    if (left_out_) accept_left_out();
    answer_silent();
  }
}

void Doorkeeper::handle(int descriptor) {
  const std::vector<int>& doors = listener_.descriptors();
  if (descriptor == wake_event_) {
    show_in_waiting();
  } else if (std::find(doors.begin(), doors.end(), descriptor) != doors.end()) {
    left_out_ |= !listener_.accept_all(descriptor, *this);
  } else {
    attend(descriptor);
  }
}

void Doorkeeper::accept_left_out() {
  left_out_ = false;
  for (int descriptor : listener_.descriptors()) {
    left_out_ |= !listener_.accept_all(descriptor, *this);
  }
}

// Until it has something to do unasked.
int Doorkeeper::timeout_ms() {
  int64_t until_us = INT64_MAX;
  {
    std::lock_guard lock(mutex_);
    if (admits_) until_us = host_->look_after_waiting();
  }
  int64_t now_us = monotonic_us();
  if (left_out_) until_us = std::min(until_us, now_us + left_out_us);
  if (!clients_.empty()) until_us = std::min(until_us, clients_.front().leaves_us);
  if (until_us == INT64_MAX) return -1;
  return static_cast<int>(std::max<int64_t>(0, (until_us - now_us + 999) / 1000));
}

void Doorkeeper::answer_silent() {
  int64_t now_us = monotonic_us();
  while (!clients_.empty() && clients_.front().leaves_us <= now_us) {
    answer(clients_.front());
    clients_.erase(clients_.begin());
  }
}

void Doorkeeper::take(int descriptor) {
  if (show_in(descriptor)) return;
  Client client{descriptor, monotonic_us() + patience_.silence_us};
  if (!watch(descriptor)) return answer(client);
  if (clients_.size() == patience_.clients) {
    answer(clients_.front());
    clients_.erase(clients_.begin());
  }
  clients_.push_back(client);
}

void Doorkeeper::turn_away(int descriptor) { answer({descriptor, 0}); }

// An event of a client that went earlier in the same round finds nobody.
void Doorkeeper::attend(int descriptor) {
  auto client = std::find_if(clients_.begin(), clients_.end(),
                             [&](const Client& each) { return each.descriptor == descriptor; });
  if (client != clients_.end() && !look(*client)) clients_.erase(client);
}

// The door was opened.
void Doorkeeper::show_in_waiting() {
  std::erase_if(clients_, [this](const Client& client) {
    if (show_in(client.descriptor)) return true;
    if (watch(client.descriptor)) return false;
    answer(client);
    return true;
  });
}

// True: somebody else takes care of the client. False: it is not watched any more.
bool Doorkeeper::show_in(int descriptor) {
  std::lock_guard lock(mutex_);
  if (!admits_) return false;
  // An event of it that is not handled yet finds nobody, as in attend().
  unwatch(descriptor);
  return host_->take_in(descriptor);
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
      if (packet->version == cancel_request_code) {
        cancel(packet->body);
        break;
      }
      if (!packet->asks_for_encryption() || client.encryption_requests == max_encryption_requests) {
        static_cast<void>(parse_startup(packet->version, packet->body));
        // Somebody may have left meanwhile.
        if (!show_in(client.descriptor)) answer(client);
        return false;
      }
      ++client.encryption_requests;
      static_cast<void>(recv(client.descriptor, input, packet->total_bytes, 0));
      static_cast<void>(send(client.descriptor, "N", 1, MSG_NOSIGNAL));
    }
  } catch (const SqlError& error) {
    tell(client, error);
    return false;
  } catch (const std::bad_alloc&) {
    say_farewell(client.descriptor, out_of_memory_farewell());
  }
  ::close(client.descriptor);
  return false;
}

void Doorkeeper::cancel(std::string_view request) {
  if (request.size() != 8) return;
  std::lock_guard lock(mutex_);
  // Also while nobody is let in: those who are there go on.
  if (host_ == nullptr) return;
  host_->cancel(static_cast<int32_t>(load_be32(request.data())),
                static_cast<int32_t>(load_be32(request.data() + 4)));
}

void Doorkeeper::answer(const Client& client) {
  std::lock_guard lock(mutex_);
  tell(client, admits_ ? too_many_clients() : refusal_);
}

void Doorkeeper::tell(const Client& client, const SqlError& error) {
  try {
    ByteBuffer message;
    MessageWriter(message).diagnostic(error.diagnostic());
    say_farewell(client.descriptor, {message.data(), message.size()});
  } catch (const std::bad_alloc&) {
    say_farewell(client.descriptor, out_of_memory_farewell());
  }
  ::close(client.descriptor);
}

}  // namespace pgsilo
