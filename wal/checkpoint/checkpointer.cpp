#include "wal/checkpoint/checkpointer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <utility>

#include "base/parker.h"
#include "base/process_memory.h"
#include "base/server_log.h"
#include "wal/checkpoint/checkpoint_announcement.h"
#include "wal/log/logger.h"

namespace pgsilo {
namespace {

// Between two looks whether what is waited for has come.
constexpr auto short_wait = std::chrono::milliseconds(1);
constexpr auto longest_rest = std::chrono::milliseconds(20);
// After a failure.
constexpr int64_t retry_after_us = 10'000'000;

}  // namespace

struct Checkpointer::Attempt {
  Attempt(const CheckpointParts& parts, uint64_t number, CheckpointReason reason,
          CheckpointPace pace)
      : run(parts, number), reason(reason), pace(pace) {}

  CheckpointRun run;
  const CheckpointReason reason;
  const CheckpointPace pace;
  CheckpointPhase phase = CheckpointPhase::settling;
  int64_t begun_us = 0;
  uint64_t log_bytes_at_begin = 0;
  uint64_t repairs = 0;  // wanted when it began
  unsigned walkers_done = 0;
};

Checkpointer::Checkpointer(CheckpointParts parts, const Clock& clock, ControlFile& control,
                           SegmentKeeper& keeper, Options options)
    : parts_(std::move(parts)),
      clock_(clock),
      control_(control),
      keeper_(keeper),
      options_(options),
      retention_(parts_, control),
      last_number_(control.checkpoint.number),
      last_begun_us_(clock.now_us()),
      history_(clock) {}

Checkpointer::~Checkpointer() { stop(); }

uint64_t Checkpointer::log_bytes() const {
  uint64_t bytes = options_.log_bytes_before;
  for (const CheckpointedLog& log : parts_.logs) bytes += log.logger->bytes_written();
  return bytes;
}

// --- one attempt ---

// Throws std::bad_alloc, then there is no attempt, and those who asked are to hear of it.
void Checkpointer::begin(CheckpointReason reason) {
  {
    // Before the epoch: what they asked for is in it.
    std::lock_guard lock(mutex_);
    for (CheckpointRequest* request : requests_) request->begun_ = true;
  }
  history_.begin(++last_number_, reason);
  if (options_.announce) announce_checkpoint(reason);
  int64_t now = clock_.now_us();
  auto attempt = std::make_unique<Attempt>(parts_, last_number_, reason,
                                           CheckpointPace(options_.schedule, now));
  attempt->begun_us = now;
  attempt->log_bytes_at_begin = log_bytes();
  attempt->repairs = repairs_wanted_;
  attempt->run.begin();
  history_.note(attempt->run.walk());
  attempt_ = std::move(attempt);
}

// A piece of the attempt, which is begun if there is none. False: it has to wait for others.
// Afterwards there may be no attempt.
bool Checkpointer::advance(CheckpointReason reason) {
  try {
    if (attempt_ != nullptr) return advance_phase();
    begin(reason);
  } catch (const std::bad_alloc&) {
    fail({FileStatus::failed, ENOMEM});
  }
  return true;
}

bool Checkpointer::advance_phase() {
  CheckpointRun& run = attempt_->run;
  FileResult result;
  switch (attempt_->phase) {
    case CheckpointPhase::settling:
      if (!run.settled()) return false;
      result = run.open_files();
      history_.note(run.walk());
      break;
    case CheckpointPhase::walking: {
      if (run.walk().given_up()) {
        result = run.walk_failure();
        break;
      }
      CheckpointWalker& walker = run.walker(attempt_->walkers_done);
      bool more = walker.step();
      history_.note(run.walk());
      if (more) return true;
      result = walker.result();
      if (result.ok() && ++attempt_->walkers_done < run.walkers()) return true;
      break;
    }
    case CheckpointPhase::finishing:
      result = run.finish_files();
      break;
    case CheckpointPhase::becoming_durable:
      if (!run.durable()) return false;
      complete();
      return true;
  }
  if (result.ok()) {
    history_.phase_ended();
    attempt_->phase = static_cast<CheckpointPhase>(static_cast<int>(attempt_->phase) + 1);
  } else {
    fail(result);
  }
  return true;
}

// From the moment when the control file names it there is no way back.
void Checkpointer::complete() {
  const CheckpointManifest& manifest = attempt_->run.manifest();
  retention_.make_room();
  ControlFile control = control_;
  control.checkpoint = manifest;
  std::erase_if(control.incarnations,
                [&](const Incarnation& incarnation) { return !may_be_met(control, incarnation); });
  bool replaced = false;
  FileResult result = write_control_file(parts_.files, parts_.data_directory, control, &replaced);
  if (!result.ok() && replaced) {
    log_last_words(
        "could not make the control file in \"" + parts_.data_directory +
            "\" durable: " + result.text(),
        "The server stops: which checkpoint counts is uncertain, and only a restart finds out.");
    std::abort();
  }
  if (!result.ok()) return fail(result);
  retention_.replace(std::move(control));
  if (log_is_short()) retention_.give_up_holds();
  if (watcher_ != nullptr) watcher_->checkpoint_counts(control_.checkpoint);
  repairs_done_ = attempt_->repairs;
  history_.phase_ended();
  uint64_t distance = attempt_->log_bytes_at_begin - log_bytes_at_begin_;
  log_bytes_at_begin_ = attempt_->log_bytes_at_begin;
  last_begun_us_ = attempt_->begun_us;
  attempt_.reset();
  history_.complete(control_.checkpoint, distance, retire_segments());
  if (options_.announce) announce_end(history_.last());
  answer("");
  retention_.remove_files();
}

// Those that nobody needs any more; what cannot be retired is by the next start. Their bytes.
uint64_t Checkpointer::retire_segments() {
  uint64_t retired = retention_.retire_segments();
  keeper_.wake();
  return retired;
}

// What a hold kept that has gone.
void Checkpointer::tidy() {
  if (!retention_.is_untidy()) return;
  retire_segments();
  retention_.remove_files();
}

// Memory may be what has failed, and fail on: needs none.
void Checkpointer::fail(const FileResult& result) {
  give_up(result.words());
  if (result.status == FileStatus::no_space && retention_.give_up_holds()) {
    retire_segments();
    retention_.remove_files();
  }
  // Without space what is kept for later goes, and it is tried again at once.
  bool freed = result.status == FileStatus::no_space && remove_retired();
  retry_at_us_ = clock_.now_us() + (freed ? 0 : retry_after_us);
}

void Checkpointer::give_up(const char* why) {
  if (attempt_ != nullptr) attempt_->run.abandon();
  attempt_.reset();
  std::array<char, 1024> text;
  std::snprintf(text.data(), text.size(), "could not make a checkpoint: %s", why);
  write_server_log(LogLevel::warning, text.data());
  history_.fail(why);
  answer(why);
}

bool Checkpointer::remove_retired() {
  bool any = false;
  try {
    for (const CheckpointedLog& log : parts_.logs) any |= log.logger->segments().remove_retired();
  } catch (const std::bad_alloc&) {  // what has gone has gone
  }
  return any;
}

void Checkpointer::answer(const char* failure) {
  std::lock_guard lock(mutex_);
  bool done = *failure == '\0';
  for (CheckpointRequest* request : requests_) {
    if (!request->begun_) continue;
    request->outcome_ = done ? CheckpointOutcome::done : CheckpointOutcome::failed;
    assign_or_out_of_memory(&request->failure_, failure);
    request->parker_.unpark();
  }
  std::erase_if(requests_, [](const CheckpointRequest* request) { return request->begun_; });
  urgent_.store(!requests_.empty(), std::memory_order_relaxed);
}

Epoch Checkpointer::present_epoch() const { return parts_.epochs.current(); }

bool Checkpointer::proves(Epoch epoch, Epoch* recorded) {
  bool durable = parts_.commit.durable() >= epoch;
  *recorded = parts_.commit.recorded();
  if (*recorded >= epoch || (durable && log_is_short())) return true;
  parts_.commit.request_recorded(epoch);
  // Above D, so that a step finds work though `epoch` is durable already.
  parts_.commit.request_silently(present_epoch());
  for (const CheckpointedLog& log : parts_.logs) log.logger->wake();
  return false;
}

// --- by steps, or whole ---

bool Checkpointer::step() {
  tidy();
  uint64_t before = control_.checkpoint.number;
  advance(CheckpointReason::request);
  return control_.checkpoint.number != before;
}

bool Checkpointer::run_now(CheckpointReason reason, std::string* why) {
  return make(reason, /*paced=*/false, why);
}

bool Checkpointer::make(CheckpointReason reason, bool paced, std::string* why) {
  uint64_t before = control_.checkpoint.number;
  advance(reason);
  while (attempt_ != nullptr) {
    if (paced && interrupted()) {
      give_up("the server is shutting down");
      break;
    }
    bool walks = attempt_->phase == CheckpointPhase::walking;
    if (walks && (paced || attempt_->run.walkers() > 1)) {
      walk_on_all_threads(paced);
    } else if (!advance(reason)) {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, short_wait, [this] { return interrupted(); });
    }
  }
  if (control_.checkpoint.number != before) return true;
  history_.tell_failure(why);
  return false;
}

// Leaves the end of the walk to advance(), which finds every walker at its end. Threads that cannot
// be had are done without: walkers share what there is to walk.
void Checkpointer::walk_on_all_threads(bool paced) {
  CheckpointRun& run = attempt_->run;
  std::vector<std::thread> others;
  try {
    others.reserve(run.walkers());
    for (unsigned i = 1; i < run.walkers(); ++i)
      others.emplace_back([this, &run, i, paced] { walk_whole(run.walker(i), paced); });
  } catch (const std::exception&) {
  }
  walk_whole(run.walker(0), paced);
  for (std::thread& other : others) other.join();
  CheckpointReason reason = attempt_->reason;
  // A walker that failed ends the attempt, and `run` with it.
  for (unsigned i = 0; attempt_ != nullptr && i < run.walkers() && !interrupted(); ++i)
    advance(reason);
}

void Checkpointer::walk_whole(CheckpointWalker& walker, bool paced) {
  while (walker.step()) {
    history_.note(attempt_->run.walk());
    if (attempt_->run.walk().given_up()) return;
    if (!paced) continue;
    if (interrupted()) return;
    rest();
  }
}

// Whether writers wait for log space, which the checkpoint will free.
bool Checkpointer::log_is_short() const {
  return std::any_of(parts_.logs.begin(), parts_.logs.end(), [](const CheckpointedLog& log) {
    return log.logger->segments().state() == LogSpace::exhausted;
  });
}

void Checkpointer::rest() {
  const Attempt& attempt = *attempt_;
  const CheckpointWalk& walk = attempt.run.walk();
  auto hurries = [this] {
    return interrupted() || urgent_.load(std::memory_order_relaxed) || wants_repair();
  };
  while (!log_is_short() && !walk.given_up() &&
         attempt.pace.should_rest(clock_.now_us(), log_bytes() - attempt.log_bytes_at_begin,
                                  walk.walked_bytes(), walk.planned_bytes())) {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, longest_rest, hurries)) return;
  }
}

// --- the thread ---

void Checkpointer::start() {
  stopping_.store(false, std::memory_order_relaxed);
  thread_ = std::thread([this] { run(); });
}

void Checkpointer::stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stopping_.store(true, std::memory_order_relaxed);
  }
  changed_.notify_all();
  thread_.join();
  stopping_.store(false, std::memory_order_relaxed);
}

void Checkpointer::log_has_grown() {
  {
    std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_all();
}

void Checkpointer::repair() {
  {
    std::lock_guard lock(mutex_);
    ++repairs_wanted_;
  }
  changed_.notify_all();
}

void Checkpointer::run() {
  take_thread_memory();
  CheckpointReason reason;
  std::string why;
  while (wait_for_reason(&reason)) make(reason, /*paced=*/true, &why);
  {
    std::lock_guard lock(mutex_);
    for (CheckpointRequest* request : requests_) request->begun_ = true;
  }
  answer("the server is shutting down");
}

bool Checkpointer::has_request() const {
  return std::any_of(requests_.begin(), requests_.end(),
                     [](const CheckpointRequest* request) { return !request->begun_; });
}

bool Checkpointer::wait_for_reason(CheckpointReason* reason) {
  const CheckpointSchedule& schedule = options_.schedule;
  std::unique_lock lock(mutex_);
  while (!interrupted()) {
    woken_ = false;
    if (retention_.is_untidy()) {
      lock.unlock();
      tidy();
      lock.lock();
    }
    if (has_request()) {
      *reason = CheckpointReason::request;
      return true;
    }
    int64_t now = clock_.now_us();
    if (now >= retry_at_us_ && wants_repair()) {
      *reason = CheckpointReason::damage;
      return true;
    }
    int64_t due = std::max(last_begun_us_ + schedule.timeout_us, retry_at_us_);
    uint64_t grown = log_bytes() - log_bytes_at_begin_;
    bool pressed = grown >= schedule.trigger_log_bytes() || (grown != 0 && log_is_short());
    if (now >= retry_at_us_ && pressed) {
      *reason = CheckpointReason::log_volume;
      return true;
    }
    if (now >= due && grown != 0) {
      *reason = CheckpointReason::time;
      return true;
    }
    if (now >= due) due = now + schedule.timeout_us;
    bool waits_for_retry = pressed || wants_repair();
    if (waits_for_retry) due = std::min(due, retry_at_us_);
    changed_.wait_for(lock, std::chrono::microseconds(due - now), [this, waits_for_retry] {
      return woken_ || interrupted() || has_request() || (!waits_for_retry && wants_repair());
    });
  }
  return false;
}

// --- those who ask ---

CheckpointRequest::CheckpointRequest(Checkpointer& checkpointer, Parker& parker)
    : checkpointer_(checkpointer), parker_(parker) {
  {
    std::lock_guard lock(checkpointer_.mutex_);
    checkpointer_.requests_.push_back(this);
    checkpointer_.urgent_.store(true, std::memory_order_relaxed);
  }
  checkpointer_.changed_.notify_all();
}

CheckpointRequest::~CheckpointRequest() {
  std::lock_guard lock(checkpointer_.mutex_);
  std::erase(checkpointer_.requests_, this);
}

CheckpointOutcome CheckpointRequest::outcome(std::string* why) const {
  std::lock_guard lock(checkpointer_.mutex_);
  *why = failure_;
  return outcome_;
}

}  // namespace pgsilo
