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
// Between two for a log that is short of space, the first of which gave none of it back.
constexpr int64_t relief_pause_us = 60'000'000;

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
      options_(std::move(options)),
      slots_(parts_, *this, keeper, options_.slots),
      retention_(parts_, control, slots_),
      last_number_(std::max(control.checkpoint.number, options_.taken_number)),
      space_(parts_, options_.schedule.max_log_bytes),
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
  bool was_short = log_is_short();
  if (was_short) retention_.give_up_holds();
  slots_.enforce();
  if (watcher_ != nullptr) watcher_->checkpoint_counts(control_.checkpoint);
  repairs_done_ = attempt_->repairs;
  history_.phase_ended();
  uint64_t distance = attempt_->log_bytes_at_begin - log_bytes_at_begin_;
  log_bytes_at_begin_ = attempt_->log_bytes_at_begin;
  last_begun_us_ = attempt_->begun_us;
  attempt_.reset();
  made_ = true;
  uint64_t retired = retire_segments();
  relief_at_us_ = was_short && retired == 0 ? clock_.now_us() + relief_pause_us : 0;
  history_.complete(control_.checkpoint, distance, retired);
  if (options_.announce) announce_end(history_.last());
  free_at_failure_.reset();
  lack_.reset();
  end_need_of_room(/*made=*/true);
  answer(CheckpointOutcome::done, "");
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
  if (retention_.is_untidy()) {
    retire_segments();
    retention_.remove_files();
  }
  if (slots_.lag()) give_slots_room();
}

// Memory may be what has failed, and fail on: what needs some is tried again.
void Checkpointer::fail(const FileResult& result) {
  uint64_t wanted_bytes = expected_bytes();
  uint64_t planned_bytes = attempt_ == nullptr ? 0 : attempt_->run.walk().planned_bytes();
  bool lacks_room = lacks_room_still();
  give_up(result.words());
  bool no_space = result.status == FileStatus::no_space;
  bool too_much = no_space && slots_.enforce();
  if (no_space && (retention_.give_up_holds() || too_much)) {
    retire_segments();
    retention_.remove_files();
  }
  free_at_failure_.reset();
  // If the log can give what is missing, it does, and it is tried again before anybody is told.
  made_room_ = no_space && !lacks_room && make_room(wanted_bytes);
  if (made_room_) return;
  end_need_of_room(/*made=*/false);
  if (no_space) free_at_failure_ = free_bytes();
  if (no_space && !lacks_room) lack_ = {planned_bytes, *free_at_failure_};
  retry_at_us_ = clock_.now_us() + retry_after_us;
  answer(no_space                        ? CheckpointOutcome::no_space
         : result.error_number == ENOMEM ? CheckpointOutcome::no_memory
                                         : CheckpointOutcome::failed,
         result.words());
}

void Checkpointer::give_up(const char* why) {
  if (attempt_ != nullptr) attempt_->run.abandon();
  attempt_.reset();
  std::array<char, 1024> text;
  std::snprintf(text.data(), text.size(), "could not make a checkpoint: %s", why);
  write_server_log(LogLevel::warning, text.data());
  history_.fail(why);
}

// How long the files of the one that runs will be, as what they hold so far tells; 0: too little is
// known. What rows take in memory tells nothing: they may have been deleted.
uint64_t Checkpointer::expected_bytes() const {
  if (attempt_ == nullptr || attempt_->phase == CheckpointPhase::settling) return 0;
  const CheckpointWalk& walk = attempt_->run.walk();
  uint64_t planned = walk.planned_bytes();
  uint64_t walked = walk.walked_bytes();
  if (walked < planned / 16) return 0;
  return static_cast<uint64_t>(static_cast<double>(attempt_->run.bytes()) *
                               static_cast<double>(planned) / static_cast<double>(walked + 1));
}

// The log gave all that it may, in vain, and since then neither rows have gone nor space has come.
// What it gave again others on the device might take, and then there is nothing for the checkpoint
// that somebody asks for when he has made it shorter.
bool Checkpointer::lacks_room_still() const {
  if (!lack_ || attempt_ == nullptr || attempt_->reason == CheckpointReason::request) return false;
  return attempt_->run.walk().planned_bytes() >= lack_->planned_bytes &&
         free_bytes() < lack_->free_bytes + segment_bytes();
}

void Checkpointer::answer(CheckpointOutcome outcome, const char* failure) {
  std::lock_guard lock(mutex_);
  for (CheckpointRequest* request : requests_) {
    if (!request->begun_) continue;
    request->outcome_ = outcome;
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

bool Checkpointer::step(CheckpointReason reason) {
  tidy();
  uint64_t before = control_.checkpoint.number;
  advance(reason);
  return control_.checkpoint.number != before;
}

bool Checkpointer::run_now(CheckpointReason reason, std::string* why) {
  return make(reason, /*paced=*/false, why);
}

bool Checkpointer::make(CheckpointReason reason, bool paced, std::string* why) {
  uint64_t before = control_.checkpoint.number;
  do {
    made_room_ = false;
    attempt(reason, paced);
  } while (made_room_ && !(paced && interrupted()));
  if (control_.checkpoint.number != before) return true;
  history_.tell_failure(why);
  return false;
}

void Checkpointer::attempt(CheckpointReason reason, bool paced) {
  advance(reason);
  while (attempt_ != nullptr) {
    if (paced && interrupted()) return give_up("the server is shutting down");
    bool walks = attempt_->phase == CheckpointPhase::walking;
    if (walks && (paced || attempt_->run.walkers() > 1)) {
      walk_on_all_threads(paced);
    } else if (!advance(reason)) {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, short_wait, [this] { return interrupted(); });
    }
  }
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

// Of space, which the checkpoint will free.
bool Checkpointer::log_is_short() const {
  return std::any_of(parts_.logs.begin(), parts_.logs.end(),
                     [](const CheckpointedLog& log) { return log.logger->segments().is_short(); });
}

void Checkpointer::rest() {
  const Attempt& attempt = *attempt_;
  const CheckpointWalk& walk = attempt.run.walk();
  auto hurries = [this] {
    return interrupted() || urgent_.load(std::memory_order_relaxed) || wants_repair() ||
           attempt_->reason == CheckpointReason::recovery;
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

std::unique_ptr<CheckpointHold> Checkpointer::hold() {
  return std::make_unique<CheckpointHold>(*this);
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
  answer(CheckpointOutcome::failed, "the server is shutting down");
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
