#include "base/long_work.h"

#include <cstring>
#include <exception>

#include "base/arena.h"
#include "base/fiber.h"

namespace pgsilo {
namespace {
// It only says when to look at the clock next: that fibers take turns in it does not matter.
thread_local WorkMeter thread_work;

// Null: not here.
WorkPause* pause_of_running_fiber() {
  Fiber* fiber = Fiber::current();
  if (fiber == nullptr || std::uncaught_exceptions() != 0 || std::current_exception() != nullptr)
    return nullptr;
  return fiber->work_pause();
}

}  // namespace

void did_work(size_t bytes) { thread_work.did(bytes); }

void did_needed_work(size_t bytes) {
  if (!thread_work.is_block_done(bytes)) return;
  if (WorkPause* pause = pause_of_running_fiber()) pause->give_way();
}

void pause_work() {
  if (WorkPause* pause = pause_of_running_fiber()) pause->pause_work();
}

UnpausedWork::UnpausedWork() : fiber_(Fiber::current()) {
  if (fiber_ == nullptr) return;
  pause_ = fiber_->work_pause();
  fiber_->set_work_pause(nullptr);
}

UnpausedWork::~UnpausedWork() {
  if (fiber_ != nullptr) fiber_->set_work_pause(pause_);
}

char* copy_long_value(char* to, std::string_view from) {
  in_blocks(from.size(), [&](size_t begin, size_t end) {
    std::memcpy(to + begin, from.data() + begin, end - begin);
  });
  return to + from.size();
}

char* fill_value(char* to, char byte, size_t count) {
  if (count == 0) return to;  // where `to` may be null
  in_blocks(count, [&](size_t begin, size_t end) { std::memset(to + begin, byte, end - begin); });
  return to + count;
}

char* repeat_value(char* to, std::string_view pattern, size_t bytes) {
  // What is there is doubled as long as it stays in the processor's cache.
  size_t unit = std::max<size_t>(1, WorkMeter::block / pattern.size()) * pattern.size();
  char* start = to;
  char* end = to + bytes;
  to = copy_value(to, pattern.substr(0, bytes));
  while (to != end) {
    size_t count = std::min({static_cast<size_t>(to - start), unit, static_cast<size_t>(end - to)});
    to = copy_value(to, {start, count});
    if (count == unit) pause_work();
  }
  return end;
}

std::string_view copy_value(std::string_view value, Arena& arena) {
  char* start = static_cast<char*>(arena.allocate(value.size(), 1));
  copy_value(start, value);
  return {start, value.size()};
}

}  // namespace pgsilo
