// Threads that parse long texts, for the parser neither gives way nor knows of interrupts: the
// session's fiber waits, its worker goes on. A session that is ended meanwhile leaves what it has
// asked for behind; the thread owns its copy of the text and throws the result away.
//
// Thread safety: any thread, behind start(). Destroyed when no session is left; waits for what is
// being parsed then.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "executor/plan_cache.h"

namespace pgsilo {

class MemoryBudget;
class MemoryCeiling;
class SessionInterrupts;

class ParserThreads {
 public:
  ParserThreads() = default;
  ~ParserThreads();
  ParserThreads(const ParserThreads&) = delete;
  ParserThreads& operator=(const ParserThreads&) = delete;

  // From a thread that is not pinned to a CPU. They share `memory`, which outlives them, as workers
  // do; `first_budget` is the index of the first one's budget.
  void start(MemoryCeiling& memory, unsigned first_budget);
  // As parse_text(), to be called in a session's fiber, which may wait meanwhile. Throws 57014 as
  // well.
  std::shared_ptr<CachedText> parse(std::string_view text, std::span<const Oid> declared_types,
                                    SessionInterrupts& interrupts);

 private:
  struct Job;
  void work(MemoryBudget& memory);

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::shared_ptr<Job>> jobs_;
  std::vector<std::thread> threads_;
  bool ends_ = false;
};

}  // namespace pgsilo
