// Flags of which each ends a wait for the client. Thread safety: as that of the flags.
#pragma once

#include <atomic>

namespace pgsilo {

class StopFlags {
 public:
  using Flag = const std::atomic<bool>*;  // null: none
  StopFlags(Flag one = nullptr, Flag other = nullptr) : one_(one), other_(other) {}
  bool any() const { return is_up(one_) || is_up(other_); }

 private:
  static bool is_up(Flag flag) { return flag != nullptr && flag->load(std::memory_order_relaxed); }

  Flag one_;
  Flag other_;
};

}  // namespace pgsilo
