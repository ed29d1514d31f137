#include "server/net/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "sql/sql_error.h"

namespace pgsilo {
namespace {

constexpr int backlog = 1024;

// For the number of who has locked a file.
constexpr auto between_looks = std::chrono::milliseconds(10);
constexpr int most_looks = 100;

std::string system_error_text() { return std::strerror(errno); }

// The last line of lock files that we write. PostgreSQL's hold no system lock: who wrote one of
// them is asked by its number whether it is still there.
constexpr std::string_view our_mark = "pgsilo";

// Of a lock file of PostgreSQL's, which writes its first line in one piece; 0: it is none.
int process_in(const std::string& text) {
  return text.find('\n') == std::string::npos ? 0 : std::atoi(text.c_str());
}

bool is_running(int process) {
  return process > 0 && process != getpid() && (kill(process, 0) == 0 || errno == EPERM);
}

bool same_file(int descriptor, const std::string& path) {
  struct stat ours, named;
  return fstat(descriptor, &ours) == 0 && stat(path.c_str(), &named) == 0 &&
         ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

// False: errno says why.
bool read_some(int descriptor, std::string* text) {
  text->resize(4096);
  ssize_t bytes = pread(descriptor, text->data(), text->size(), 0);
  text->resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
  return bytes >= 0;
}

}  // namespace

// --- LockFile ---

LockFile::~LockFile() { release(); }

bool LockFile::acquire(const std::string& path, int* owner) {
  for (int looks = 0;; ++looks) {
    *owner = 0;
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor_ < 0) return false;
    bool locked = flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    std::string text;
    // Whose it is cannot be told then.
    if (!read_some(descriptor_, &text)) {
      int error = errno;
      let_go();
      errno = error;
      return false;
    }
    bool ours = text.ends_with(concat(our_mark, "\n"));
    if (!locked || (!ours && is_running(process_in(text)))) {
      *owner = std::atoi(text.c_str());
      let_go();
      if (is_running(*owner) || looks >= most_looks) {
        if (*owner == 0) *owner = somebody;
        return false;
      }
      // Who has the lock may not have come to write its number.
      std::this_thread::sleep_for(between_looks);
      continue;
    }
    // Its last owner may have removed it between our open and our lock.
    if (same_file(descriptor_, path)) break;
    let_go();
  }
  path_ = path;
  return true;
}

std::string LockFile::refusal(const std::string& name, int owner, const std::string& deed) {
  if (owner == 0)
    return "could not create or read lock file \"" + name + "\": " + system_error_text();
  std::string process = owner == somebody ? "" : " (PID " + std::to_string(owner) + ")";
  return "lock file \"" + name + "\" already exists\nHINT:  Is another postmaster" + process + " " +
         deed + "?";
}

// The first line last: whoever finds it, be it the writer's last deed, finds the mark as well.
void LockFile::write(std::string_view text) {
  if (ftruncate(descriptor_, 0) != 0) return;
  std::string marked = concat(text, our_mark, "\n");
  size_t first = marked.find('\n') + 1;
  size_t rest = marked.size() - first;
  ssize_t written = pwrite(descriptor_, marked.data() + first, rest, static_cast<off_t>(first));
  if (written != static_cast<ssize_t>(rest)) return;
  static_cast<void>(!pwrite(descriptor_, marked.data(), first, 0));
}

void LockFile::release() {
  if (descriptor_ < 0) return;
  if (same_file(descriptor_, path_)) unlink(path_.c_str());
  let_go();
}

void LockFile::let_go() {
  ::close(descriptor_);
  descriptor_ = -1;
}

// --- Listener ---

Listener::Listener() : reserve_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {}

Listener::~Listener() {
  close();
  if (reserve_ >= 0) ::close(reserve_);
}

bool Listener::open_unix(const std::string& directory, int port, std::string_view lock_text,
                         std::string* why) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string path = directory + "/.s.PGSQL." + std::to_string(port);
  if (path.size() >= sizeof address.sun_path) {
    *why = "Unix-domain socket path \"" + path + "\" is too long (maximum " +
           std::to_string(sizeof address.sun_path - 1) + " bytes)";
    return false;
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  std::string lock_path = path + ".lock";
  int owner = 0;
  if (!unix_lock_.acquire(lock_path, &owner)) {
    *why = LockFile::refusal(lock_path, owner, "using socket file \"" + path + "\"");
    return false;
  }
  unix_lock_.write(lock_text);
  // We hold the lock: a socket that is there was left behind by a server that died.
  unlink(path.c_str());
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0 ||
      bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      chmod(path.c_str(), 0777) != 0 || listen(descriptor, backlog) != 0) {
    *why = "could not bind Unix address \"" + path + "\": " + system_error_text();
    if (descriptor >= 0) ::close(descriptor);
    unix_lock_.release();
    return false;
  }
  // From here on it is ours to remove.
  unix_path_ = path;
  descriptors_.push_back(descriptor);
  return true;
}

bool Listener::open_tcp(const std::string& address, int port, std::string* why) {
  bool v6 = address.find(':') != std::string::npos;
  sockaddr_storage storage{};
  socklen_t length;
  if (v6) {
    auto* in6 = reinterpret_cast<sockaddr_in6*>(&storage);
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET6, address.c_str(), &in6->sin6_addr);
    length = sizeof *in6;
  } else {
    auto* in4 = reinterpret_cast<sockaddr_in*>(&storage);
    in4->sin_family = AF_INET;
    in4->sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, address.c_str(), &in4->sin_addr);
    length = sizeof *in4;
  }
  int descriptor = socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int on = 1;
  if (descriptor >= 0) setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (descriptor >= 0 && v6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (descriptor < 0 || bind(descriptor, reinterpret_cast<sockaddr*>(&storage), length) != 0 ||
      listen(descriptor, backlog) != 0) {
    *why = std::string("could not bind ") + (v6 ? "IPv6" : "IPv4") + " address \"" + address +
           "\": " + system_error_text();
    if (errno == EADDRINUSE) {
      *why += "\nHINT:  Is another postmaster already running on port " + std::to_string(port) +
              "? If not, wait a few seconds and retry.";
    }
    if (descriptor >= 0) ::close(descriptor);
    return false;
  }
  descriptors_.push_back(descriptor);
  return true;
}

void Listener::close() {
  for (int descriptor : descriptors_) ::close(descriptor);
  descriptors_.clear();
  if (!unix_path_.empty()) unlink(unix_path_.c_str());
  unix_path_.clear();
  unix_lock_.release();
}

bool Listener::accept_all(int descriptor, ConnectionTaker& taker) {
  for (;;) {
    int accepted = accept4(descriptor, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted >= 0) {
      // Replies are whole when they are sent. A Unix socket has no such option.
      int on = 1;
      setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      taker.take(accepted);
    } else if (errno == EMFILE || errno == ENFILE) {
      if (!turn_one_away(descriptor, taker)) return false;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
  }
}

bool Listener::turn_one_away(int descriptor, ConnectionTaker& taker) {
  if (reserve_ < 0) reserve_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (reserve_ < 0) return false;
  ::close(reserve_);
  int accepted = accept4(descriptor, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (accepted >= 0) taker.turn_away(accepted);
  reserve_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  return accepted >= 0;
}

}  // namespace pgsilo
