#include "server/parser_threads.h"

#include <exception>
#include <new>
#include <utility>

#include "base/asking_allocator.h"
#include "base/crash_report.h"
#include "base/long_work.h"
#include "base/memory_budget.h"
#include "base/process_memory.h"
#include "server/limits.h"
#include "server/session/session_interrupts.h"

namespace pgsilo {

struct ParserThreads::Job {
  // Throws what a pause throws, and MemoryLimitReached.
  Job(std::string_view sql, std::span<const Oid> types)
      : declared_types(types.begin(), types.end()) {
    text.reserve(sql.size());
    in_blocks(sql.size(),
              [&](size_t begin, size_t end) { text.append(sql.substr(begin, end - begin)); });
  }

  AskingString text;  // until it runs
  const std::vector<Oid> declared_types;

  std::mutex mutex;           // guards what follows
  Parker* waiting = nullptr;  // null: nobody wants it any more
  bool done = false;
  std::shared_ptr<CachedText> parsed;
  std::exception_ptr error;

  bool is_done() {
    std::lock_guard lock(mutex);
    return done;
  }
  void forget() {
    std::lock_guard lock(mutex);
    waiting = nullptr;
  }
  void run();
};

void ParserThreads::Job::run() {
  std::shared_ptr<CachedText> made;
  std::exception_ptr failed;
  try {
    made = parse_own_text(std::move(text), declared_types);
  } catch (const MemoryLimitReached&) {
    failed = std::current_exception();
  } catch (const std::bad_alloc&) {
    // This thread has no large stack, perhaps; who waits has one.
  } catch (...) {
    failed = std::current_exception();
  }
  std::lock_guard lock(mutex);
  parsed = std::move(made);
  error = std::move(failed);
  done = true;
  if (waiting != nullptr) waiting->unpark();
}

ParserThreads::~ParserThreads() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
    jobs_.clear();
  }
  arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ParserThreads::start(MemoryCeiling& memory, unsigned first_budget) {
  for (unsigned i = 0; i < limits::parser_threads; ++i) {
    threads_.emplace_back([this, &memory, index = first_budget + i] {
      MemoryBudget budget(memory, index);
      work(budget);
    });
  }
}

void ParserThreads::work(MemoryBudget& memory) {
  take_thread_memory();
  MemoryBudget::Use use(memory);
  CrashStack crash_stack;
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [this] { return ends_ || !jobs_.empty(); });
    if (ends_) return;
    std::shared_ptr<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job->run();
    job.reset();
    lock.lock();
  }
}

std::shared_ptr<CachedText> ParserThreads::parse(std::string_view text,
                                                 std::span<const Oid> declared_types,
                                                 SessionInterrupts& interrupts) {
  if (text.size() <= limits::text_parsed_at_once) return parse_text(text, declared_types);
  auto job = std::make_shared<Job>(text, declared_types);
  job->waiting = &interrupts;
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(job);
  }
  arrived_.notify_one();
  struct Wait {
    Job& job;
    ~Wait() { job.forget(); }
  } wait{*job};
  while (!job->is_done()) {
    interrupts.park_for(WaitEvent::parse);
    interrupts.check();
  }
  if (job->error != nullptr) std::rethrow_exception(std::move(job->error));
  return job->parsed != nullptr ? std::move(job->parsed) : parse_text(text, declared_types);
}

}  // namespace pgsilo
