#include "server/net/client_wait.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "server/limits.h"

namespace pgsilo {
namespace {

// What was sent and has not reached the client (over the network, its kernel), rounded somehow.
int unread_bytes(int socket) {
  int bytes = 0;
  return ioctl(socket, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

}  // namespace

void ClientWait::begin(int64_t now_us, int socket, bool is_full) {
  socket_.store(socket, std::memory_order_relaxed);
  unread_.store(is_full ? unread_bytes(socket) : 0, std::memory_order_relaxed);
  // Release: pairs with has_stalled().
  since_us_.store(now_us, std::memory_order_release);
}

bool ClientWait::has_stalled(int64_t now_us) const {
  int64_t since_us = since_us_.load(std::memory_order_acquire);
  if (since_us == 0) return false;
  int unread = unread_bytes(socket_.load(std::memory_order_relaxed));
  if (unread_.exchange(unread, std::memory_order_relaxed) != unread) {
    // Unless another wait has begun, or none lasts.
    since_us_.compare_exchange_strong(since_us, now_us, std::memory_order_relaxed);
    return false;
  }
  return now_us - since_us >= (unread == 0 ? limits::silent_client_us : limits::unread_client_us);
}

}  // namespace pgsilo
