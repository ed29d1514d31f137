// Work in one call whose length grows with a value's size: building a text of a gigabyte, matching
// a pattern. Who does it says so as he goes on, and now and then the fiber that it is done for may
// give way to others, or learn that nobody wants the work any more:
//
//   WorkMeter meter;
//   for (...) { ...; meter.did(bytes); }
//
// Work of many small steps that share no function, over the nodes of a tree, says it with
// did_work().
//
// So nobody calls this who holds what others may want at once (a latch, a mutex), or where an
// exception must not pass; the latter may say so (UnpausedWork). Work outside of fibers, inside of
// a catch block or in a destructor that an exception calls never pauses. Thread safety: one owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace pgsilo {

class Arena;
class Fiber;

// What a fiber does about its long work (Fiber::set_work_pause()).
class WorkPause {
 public:
  // May suspend the fiber; throws what is to end the work.
  virtual void pause_work() = 0;
  // May suspend the fiber; throws nothing.
  virtual void give_way() = 0;

 protected:
  ~WorkPause() = default;
};

// Asks the running fiber's WorkPause.
void pause_work();

// While one lives the running fiber's work does not pause.
class UnpausedWork {
 public:
  UnpausedWork();
  ~UnpausedWork();
  UnpausedWork(const UnpausedWork&) = delete;
  UnpausedWork& operator=(const UnpausedWork&) = delete;

 private:
  Fiber* fiber_;
  WorkPause* pause_ = nullptr;
};

class WorkMeter {
 public:
  // Bytes that were copied, or as much work as that: some 10 microseconds' worth.
  static constexpr size_t block = size_t{64} << 10;
  void did(size_t bytes) {
    if (is_block_done(bytes)) [[unlikely]]
      pause_work();
  }
  bool is_block_done(size_t bytes) {
    if (bytes < left_) [[likely]] {
      left_ -= bytes;
      return false;
    }
    left_ = block;
    return true;
  }

 private:
  size_t left_ = block;
};

// Counted for all such work of the thread: some nanoseconds.
void did_work(size_t bytes);
// The same of work that must come to its end: nothing is thrown.
void did_needed_work(size_t bytes);

// work(begin, end) for the blocks of a value of `size` bytes, in order.
template <typename Work>
inline void in_blocks(size_t size, Work&& work) {
  size_t begin = 0;
  for (; size - begin > WorkMeter::block; begin += WorkMeter::block) {
    work(begin, begin + WorkMeter::block);
    pause_work();
  }
  work(begin, size);
}

// memcpy and memset of values; each returns the end of what it has written.
char* copy_long_value(char* to, std::string_view from);
inline char* copy_value(char* to, std::string_view from) {
  if (from.size() > WorkMeter::block) [[unlikely]]
    return copy_long_value(to, from);
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
  return to + from.size();
}
char* fill_value(char* to, char byte, size_t count);
// `pattern` (not empty) again and again, `bytes` in all.
char* repeat_value(char* to, std::string_view pattern, size_t bytes);
// A copy in the arena.
std::string_view copy_value(std::string_view value, Arena& arena);

}  // namespace pgsilo
