// How many threads of the machine run or want to, as the kernel counts them (/proc/loadavg): one
// system call of a microsecond or two. Thread safety: none.
#pragma once

#include <optional>
#include <string_view>

namespace pgsilo {

class RunnableThreads {
 public:
  RunnableThreads() = default;
  ~RunnableThreads();
  RunnableThreads(const RunnableThreads&) = delete;
  RunnableThreads& operator=(const RunnableThreads&) = delete;

  // Nothing: the kernel does not tell.
  std::optional<int> count();
  // From "0.05 0.10 0.15 3/250 1234": 3.
  static std::optional<int> parse(std::string_view text);

 private:
  static constexpr int not_tried = -2;
  int file_ = not_tried;  // opened when it is needed first
};

}  // namespace pgsilo
