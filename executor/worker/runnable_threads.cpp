#include "executor/worker/runnable_threads.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

namespace pgsilo {

RunnableThreads::~RunnableThreads() {
  if (file_ >= 0) close(file_);
}

std::optional<int> RunnableThreads::count() {
  if (file_ == not_tried) file_ = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  char text[96];
  ssize_t length = file_ < 0 ? -1 : pread(file_, text, sizeof text, 0);
  if (length <= 0) return std::nullopt;
  return parse({text, static_cast<size_t>(length)});
}

std::optional<int> RunnableThreads::parse(std::string_view text) {
  size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  size_t space = text.rfind(' ', slash);
  if (space == std::string_view::npos) return std::nullopt;
  int count = 0;
  const char* end = text.data() + slash;
  auto [next, error] = std::from_chars(text.data() + space + 1, end, count);
  if (error != std::errc() || next != end) return std::nullopt;
  return count;
}

}  // namespace pgsilo
