#include "executor/worker/worker.h"

#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>
#include <system_error>

#include "base/check.h"
#include "base/clock.h"
#include "base/limits.h"
#include "executor/worker/timed_epoll.h"

namespace pgsilo {
namespace {

constexpr int events_per_poll = 64;
thread_local Worker* current_worker = nullptr;

int64_t thread_cpu_us() {
  timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return int64_t{used.tv_sec} * 1000000 + used.tv_nsec / 1000;
}

int checked(int result, const char* call) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), call);
  return result;
}

}  // namespace

Worker::Worker(const WorkerOptions& options)
    : options_(options),
      stacks_(limits::fiber_stack_bytes, limits::kept_stack_bytes),
      background_share_(options.background_share_percent, options.background_slice_us),
      poll_rule_(options.poll_us, options.cpus) {
  epoll_ = checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
  event_ = checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
  // Edge-triggered: every write is an event of its own, so nobody ever has to read the counter.
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
  checked(epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &event), "epoll_ctl");
}

Worker::~Worker() {
  PGSILO_CHECK(fiber_count() == 0);
  close(event_);
  close(epoll_);
}

Worker* Worker::current() { return current_worker; }

void Worker::settle_thread() {
  // A worker that wakes does not push a client off their common CPU between two of its sends, it
  // finds all of them when the client waits (docs/decisions/worker-scheduling.md).
  if (options_.batch_scheduling) scheduling_.begin();
  // Refused, it only costs speed: a CPU may have gone offline since start-up.
  if (options_.cpu < 0) return;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(options_.cpu, &cpus);
  static_cast<void>(pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus));
}

void Worker::run() {
  settle_thread();
  current_worker = this;
  for (;;) {
    take_inbox();
    run_round();
    commit_queue_.release();
    if (stopping() && may_end()) break;
    wait_for_events();
  }
  current_worker = nullptr;
}

// Nobody posts anything behind that.
bool Worker::may_end() {
  if (fiber_count() != 0) return false;
  std::lock_guard lock(tasks_mutex_);
  ended_ = tasks_.empty();
  return ended_;
}

void Worker::run_round() {
  FiberQueue round = runnable_.take_all();
  bool others_runnable = !round.empty();
  if (others_runnable) {
    int64_t started_us = monotonic_us();
    foreground_at_us_.store(started_us, std::memory_order_relaxed);
    round_at_us_.store(started_us, std::memory_order_relaxed);
    if (scheduling_.is_due(started_us)) scheduling_.choose(started_us, turns_of_all());
    scheduling_.begin_round(started_us);
    if (load_.is_new_window(started_us)) begin_window(started_us);
    uint64_t turns = turns_.load(std::memory_order_relaxed);
    int64_t now_us = monotonic_us();
    for (; !round.empty(); ++turns)
      now_us = run_fiber(*round.pop(), options_.slice_us, now_us, started_us);
    turns_.store(turns, std::memory_order_relaxed);
    if (background_.empty()) return;
    background_share_.add_foreground(now_us - started_us);
  }
  if (!background_.empty()) take_background_turn(others_runnable);
}

void Worker::take_background_turn(bool others_runnable) {
  BackgroundShare::Turn turn{};
  turn.began_us = monotonic_us();
  turn.assists = background_.first()->assists_;
  if (!background_share_.is_due(turn.began_us, others_runnable, turn.assists)) return;
  round_at_us_.store(turn.began_us, std::memory_order_relaxed);
  int64_t cpu_before_us = thread_cpu_us();
  if (load_.is_new_window(turn.began_us)) begin_window(turn.began_us);
  WorkerFiber& fiber = *background_.pop();
  turn.ended_us = run_fiber(fiber, options_.background_slice_us, turn.began_us, fiber.queued_us_);
  turn.cpu_us = thread_cpu_us() - cpu_before_us;
  turn.others_active = others_active(turn.ended_us);
  background_share_.turn_ended(turn);
}

bool Worker::others_active(int64_t now_us) const {
  auto active = [now_us](const Worker* worker) {
    return worker->foreground_at_us_.load(std::memory_order_relaxed) > now_us - active_us;
  };
  return active(this) || std::ranges::any_of(peers_, active);
}

uint64_t Worker::turns_of_all() const {
  uint64_t turns = 0;
  for (const Worker* worker : peers_) turns += worker->turns_.load(std::memory_order_relaxed);
  return turns;
}

bool Worker::background_is_due() const {
  if (background_.empty()) return false;
  return background_.first()->assists_ || monotonic_us() >= background_share_.rest_until_us();
}

// When the loop has something to do again without anybody's waking it.
int64_t Worker::next_deadline_us() const {
  int64_t deadline_us = sleepers_.empty() ? Parker::no_deadline : sleepers_.begin()->deadline_us_;
  if (background_.empty()) return deadline_us;
  return std::min(deadline_us, background_share_.rest_until_us());
}

int64_t Worker::run_fiber(WorkerFiber& fiber, int64_t slice_us, int64_t now_us, int64_t since_us) {
  slice_us_ = slice_us;
  slice_started_us_ = now_us;
  fiber.fiber_.resume();
  now_us = monotonic_us();
  load_.add(fiber.load_, now_us - since_us);
  if (!fiber.fiber_.finished()) return now_us;
  fiber_count_.store(fiber_count() - 1, std::memory_order_relaxed);
  if (asked_ == &fiber) asked_ = nullptr;
  delete &fiber;
  return now_us;
}

WorkerFiber& Worker::add(WorkerFiber* fiber) {
  fiber_count_.store(fiber_count() + 1, std::memory_order_relaxed);
  return *fiber;
}

WorkerFiber& Worker::spawn(Fiber::Body body, void* argument) {
  WorkerFiber& fiber = add(new WorkerFiber(*this, stacks_, body, argument));
  runnable_.push(&fiber);
  return fiber;
}

WorkerFiber& Worker::spawn_background(Fiber::Body body, void* argument) {
  WorkerFiber& fiber = add(new WorkerFiber(*this, stacks_, body, argument));
  fiber.busy_us_ = options_.background_after_us;
  fiber.queued_us_ = monotonic_us();
  fiber.assists_ = true;
  background_.push(&fiber);
  return fiber;
}

bool Worker::slice_spent() const { return monotonic_us() - slice_started_us_ >= slice_us_; }

void Worker::requeue(WorkerFiber& fiber) {
  fiber.queued_us_ = monotonic_us();
  fiber.busy_us_ += fiber.queued_us_ - slice_started_us_;
  (fiber.busy_us_ >= options_.background_after_us ? background_ : runnable_).push(&fiber);
}

void Worker::make_runnable(WorkerFiber& fiber) {
  fiber.busy_us_ = 0;
  if (current_worker == this) {
    runnable_.push(&fiber);
    return;
  }
  WorkerFiber* head = inbox_.load(std::memory_order_relaxed);
  do {
    fiber.next_ = head;
  } while (!inbox_.compare_exchange_weak(head, &fiber, std::memory_order_seq_cst,
                                         std::memory_order_relaxed));
  wake_if_asleep();
}

void Worker::take_inbox() {
  if (awakened_.load(std::memory_order_relaxed)) {
    // Acquire pairs with the release in post(): the task list it announced is taken below.
    awakened_.exchange(false, std::memory_order_acquire);
    commit_queue_.pass_on();
    std::vector<std::unique_ptr<WorkerTask>> tasks;
    {
      std::lock_guard lock(tasks_mutex_);
      tasks.swap(tasks_);
    }
    for (auto& task : tasks) task->run(*this);
  }
  if (inbox_.load(std::memory_order_relaxed) == nullptr) return;
  // Acquire pairs with the sender's push: what it did before unpark() is visible to the fiber.
  WorkerFiber* newest = inbox_.exchange(nullptr, std::memory_order_acquire);
  WorkerFiber* oldest = nullptr;
  while (newest != nullptr) {
    WorkerFiber* next = newest->next_;
    newest->next_ = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest != nullptr) {
    WorkerFiber* next = oldest->next_;
    runnable_.push(oldest);
    oldest = next;
  }
}

bool Worker::offer(std::unique_ptr<WorkerTask>& task) {
  {
    std::lock_guard lock(tasks_mutex_);
    if (ended_) return false;
    tasks_.push_back(std::move(task));
  }
  wake();
  return true;
}

bool Worker::wake() {
  awakened_.store(true, std::memory_order_seq_cst);
  return wake_if_asleep();
}

void Worker::request_stop() {
  stopping_.store(true, std::memory_order_release);
  wake();
}

bool Worker::wake_if_asleep() {
  if (!asleep_.load(std::memory_order_seq_cst) ||
      !asleep_.exchange(false, std::memory_order_seq_cst)) {
    return false;
  }
  uint64_t one = 1;
  // It fails only when the counter is full, and then the event is pending anyway.
  static_cast<void>(!write(event_, &one, sizeof one));
  return true;
}

void Worker::watch(int descriptor, IoHandler& handler) {
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.ptr = &handler}};
  checked(epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
}

void Worker::unwatch(int descriptor) { epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr); }

void Worker::sleep_until(WorkerFiber& fiber, int64_t deadline_us) {
  fiber.deadline_us_ = deadline_us;
  sleepers_.insert(fiber);
}

void Worker::cancel_sleep(WorkerFiber& fiber) {
  sleepers_.erase(sleepers_.iterator_to(fiber));
  fiber.deadline_us_ = Parker::no_deadline;
}

void Worker::wake_sleepers() {
  if (sleepers_.empty()) return;
  int64_t now_us = monotonic_us();
  // unpark() leaves the set alone; the fiber takes itself out when it runs.
  for (WorkerFiber& sleeper : sleepers_) {
    if (sleeper.deadline_us_ > now_us) break;
    sleeper.unpark();
  }
}

void Worker::wait_for_events() {
  bool more_chores = chores_ != nullptr && chores_->run();
  bool busy = more_chores || !runnable_.empty() || background_is_due();
  if (!commit_queue_.empty()) {
    // Sockets first: whoever is ready joins the batch that is about to be synced.
    handle_events(0);
    if (busy || !runnable_.empty()) {
      commit_queue_.hurry();
      return;
    }
    if (commit_queue_.size() < fiber_count()) {
      // A session that may have work any moment would find its worker inside the sync.
      commit_queue_.hand_over();
    } else if (commit_queue_.step_log()) {
      return;
    }
  } else if (busy) {
    handle_events(0);
    return;
  }
  if (poll_for_events()) return;
  int64_t deadline_us = next_deadline_us();
  asleep_.store(true, std::memory_order_seq_cst);
  if (inbox_.load(std::memory_order_seq_cst) == nullptr &&
      !awakened_.load(std::memory_order_seq_cst)) {
    const int64_t now_us = monotonic_us();
    scheduling_.waits(now_us);
    handle_events(deadline_us == Parker::no_deadline ? -1
                                                     : std::max<int64_t>(0, deadline_us - now_us));
  }
  // An exchange: of one who took the flag down before, it shows why (wake() has promised so).
  asleep_.exchange(false, std::memory_order_seq_cst);
}

// Whoever calls meanwhile finds it awake, and needs no system call for it.
bool Worker::poll_for_events() {
  int64_t now_us = monotonic_us();
  if (fiber_count() == 0 || !poll_rule_.may_begin(now_us)) return false;
  const int64_t end_us = std::min(poll_rule_.begin(now_us), next_deadline_us());
  for (; now_us < end_us; now_us = monotonic_us()) {
    if (is_sent_for() || handle_events(0)) {
      poll_rule_.found_work();
      return true;
    }
    if (!poll_rule_.counts(now_us)) continue;
    std::optional<int> runnable = runnable_threads_.count();
    if (!poll_rule_.goes_on(now_us, runnable.value_or(INT_MAX))) return false;
  }
  poll_rule_.found_nothing(now_us);
  return false;
}

bool Worker::is_sent_for() const {
  return is_called() || inbox_.load(std::memory_order_relaxed) != nullptr;
}

bool Worker::handle_events(int64_t timeout_us) {
  epoll_event events[events_per_poll];
  int count = timed_epoll_wait(epoll_, events, timeout_us);
  PGSILO_CHECK(count >= 0 || errno == EINTR);
  for (int i = 0; i < count; ++i) {
    auto* handler = static_cast<IoHandler*>(events[i].data.ptr);
    if (handler == nullptr) continue;
    uint32_t flags = events[i].events;
    bool closed = (flags & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0;
    handler->on_io(closed || (flags & EPOLLIN) != 0, closed || (flags & EPOLLOUT) != 0, closed);
  }
  wake_sleepers();
  return count > 0;
}

}  // namespace pgsilo
