#include "base/stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/detail/fcontext.hpp>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "base/sanitizers.h"

#ifdef PGSILO_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef PGSILO_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace pgsilo {
namespace {

namespace context = boost::context::detail;

constexpr unsigned char depth_mark_byte = 0xA5;

size_t page_bytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// What a context needs before its first instruction of its own; lives on the new stack.
struct FirstEntry {
  void (*entry)(void*);
  void* argument;
  StackContext* self;
};

struct ThreadStacks {
  StackContext own;  // the stack the system gave this thread
  StackContext* current = nullptr;
};
thread_local ThreadStacks thread_stacks;

void describe_own_stack(StackContext& own) {
  pthread_attr_t attributes;
  PGSILO_CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
  void* bottom = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &bottom, &bytes);
  pthread_attr_destroy(&attributes);
  own.bottom = static_cast<const char*>(bottom);
  own.bytes = bytes;
#ifdef PGSILO_TSAN
  own.tsan_fiber = __tsan_get_current_fiber();
#endif
}

// Frames that never returned leave their red zones on a stack. Only of the part that was used:
// AddressSanitizer clears an eighth as many bytes, of a whole large stack 128 MiB.
void unpoison([[maybe_unused]] const char* begin, [[maybe_unused]] size_t bytes) {
#ifdef PGSILO_ASAN
  __asan_unpoison_memory_region(begin, bytes);
#endif
}

// Whether a flow left red zones close below `mark` although the mark itself is whole.
bool poisoned_below([[maybe_unused]] const char* mark) {
#ifdef PGSILO_ASAN
  constexpr size_t looked_at = 4096;
  return __asan_region_is_poisoned(const_cast<char*>(mark) - looked_at, looked_at) != nullptr;
#else
  return false;
#endif
}

// The first thing that runs in a context after a switch to it.
void arrive([[maybe_unused]] void* fake_stack, context::transfer_t transfer) {
#ifdef PGSILO_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  auto* arrived = static_cast<StackContext*>(transfer.data);
  arrived->switched_from->resume_point = transfer.fctx;
  thread_stacks.current = arrived;
}

PGSILO_NO_TSAN_FRAME void first_entry(context::transfer_t transfer) {
  auto* self = static_cast<StackContext*>(transfer.data);
  arrive(nullptr, transfer);
  auto* first = reinterpret_cast<FirstEntry*>(const_cast<char*>(self->bottom) + self->bytes) - 1;
  first->entry(first->argument);
  PGSILO_CHECK(!"a context's entry function returned");
}

}  // namespace

Stack::Stack(size_t bytes, size_t kept_bytes) {
  size_t page = page_bytes();
  bytes_ = (bytes + page - 1) / page * page;
  kept_bytes_ = kept_bytes < bytes_ ? (kept_bytes + page - 1) / page * page : bytes_;
  void* mapping = mmap(nullptr, bytes_ + page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  if (mprotect(mapping, page, PROT_NONE) != 0) {
    munmap(mapping, bytes_ + page);
    throw std::bad_alloc();
  }
  bottom_ = static_cast<char*>(mapping) + page;
  set_depth_mark();
}

Stack::~Stack() {
  if (bottom_ != nullptr) munmap(bottom_ - page_bytes(), bytes_ + page_bytes());
}

Stack::Stack(Stack&& other) noexcept
    : bottom_(std::exchange(other.bottom_, nullptr)),
      bytes_(other.bytes_),
      kept_bytes_(other.kept_bytes_) {}

Stack& Stack::operator=(Stack&& other) noexcept {
  std::swap(bottom_, other.bottom_);
  std::swap(bytes_, other.bytes_);
  std::swap(kept_bytes_, other.kept_bytes_);
  return *this;
}

// A page's worth of known bytes just below the part that stays resident: whoever went deeper has
// most likely overwritten it, and asking the system which pages are resident after every use would
// cost more than it saves.
char* Stack::depth_mark() const { return top() - kept_bytes_; }

void Stack::set_depth_mark() {
  if (kept_bytes_ == bytes_) return;
  for (size_t i = 0; i < 64; ++i) depth_mark()[i] = static_cast<char>(depth_mark_byte);
}

void Stack::recycle() {
  unpoison(depth_mark(), kept_bytes_);
  if (kept_bytes_ == bytes_) return;
  bool deeper = poisoned_below(depth_mark());
  for (size_t i = 0; i < 64; ++i) {
    if (!deeper && static_cast<unsigned char>(depth_mark()[i]) == depth_mark_byte) continue;
    unpoison(bottom_, bytes_ - kept_bytes_);
    madvise(bottom_, bytes_ - kept_bytes_, MADV_DONTNEED);
    set_depth_mark();
    return;
  }
}

StackPool::StackPool(size_t stack_bytes, size_t kept_bytes)
    : stack_bytes_(stack_bytes), kept_bytes_(kept_bytes) {}

Stack StackPool::acquire() {
  if (free_.empty()) return Stack(stack_bytes_, kept_bytes_);
  Stack stack = std::move(free_.back());
  free_.pop_back();
  return stack;
}

void StackPool::release(Stack stack) {
  if (free_.size() >= limits::pooled_stacks) return;
  stack.recycle();
  free_.push_back(std::move(stack));
}

void prepare_stack_context(StackContext& prepared, const Stack& stack, void (*entry)(void*),
                           void* argument) {
  prepared.bottom = stack.bottom();
  prepared.bytes = stack.bytes();
  prepared.asan_fake_stack = nullptr;
  auto* first = reinterpret_cast<FirstEntry*>(stack.top()) - 1;
  *first = FirstEntry{entry, argument, &prepared};
  size_t used = (sizeof(FirstEntry) + 63) / 64 * 64;
  prepared.resume_point =
      context::make_fcontext(stack.top() - used, stack.bytes() - used, first_entry);
#ifdef PGSILO_TSAN
  if (!prepared.shares_tsan_fiber) prepared.tsan_fiber = __tsan_create_fiber(0);
#endif
}

void discard_stack_context([[maybe_unused]] StackContext& discarded) {
#ifdef PGSILO_TSAN
  if (discarded.tsan_fiber != nullptr && !discarded.shares_tsan_fiber)
    __tsan_destroy_fiber(discarded.tsan_fiber);
  discarded.tsan_fiber = nullptr;
#endif
}

PGSILO_NO_TSAN_FRAME void switch_stack(StackContext& from, StackContext& to,
                                       [[maybe_unused]] bool from_ends) {
  to.switched_from = &from;
#ifdef PGSILO_ASAN
  __sanitizer_start_switch_fiber(from_ends ? nullptr : &from.asan_fake_stack, to.bottom, to.bytes);
#endif
#ifdef PGSILO_TSAN
  // A detour keeps the flow it came from: both sides then carry the same fiber.
  if (to.tsan_fiber != from.tsan_fiber) __tsan_switch_to_fiber(to.tsan_fiber, 0);
#endif
  context::transfer_t transfer = context::jump_fcontext(to.resume_point, &to);
  arrive(from.asan_fake_stack, transfer);
}

StackContext& current_stack_context() {
  ThreadStacks& stacks = thread_stacks;
  if (stacks.current == nullptr) {
    describe_own_stack(stacks.own);
    stacks.current = &stacks.own;
  }
  return *stacks.current;
}

size_t stack_bytes_left() {
  const char* here = static_cast<const char*>(__builtin_frame_address(0));
  const char* bottom = current_stack_context().bottom;
  return here > bottom ? static_cast<size_t>(here - bottom) : 0;
}

bool stack_has_room() { return stack_bytes_left() > limits::stack_reserve_bytes; }

}  // namespace pgsilo
