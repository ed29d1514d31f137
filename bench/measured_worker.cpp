#include "bench/measured_worker.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "bench/engine_run.h"
#include "bench/run_series.h"

namespace pgsilo {

namespace {
// Where transactions are counted and not timed: about what happens in 40 ms.
constexpr uint64_t transactions_per_epoch = 2500;

int64_t thread_cpu_ns() {
  timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}
}  // namespace

void WorkerCounts::add(const WorkerCounts& other) {
  for (size_t i = 0; i < committed.size(); ++i) {
    committed[i] += other.committed[i];
    rolled_back[i] += other.rolled_back[i];
  }
  for (size_t i = 0; i < aborts.size(); ++i) aborts[i] += other.aborts[i];
  latency.add(other.latency);
  cpu_ns += other.cpu_ns;
}

MeasuredWorker::MeasuredWorker(EngineWorker& worker, size_t types, const EngineRunOptions& options,
                               const std::atomic<bool>& stop, WorkerSeries* series)
    : worker_(worker),
      stop_(stop),
      series_(series),
      quota_(options.transactions / options.threads),
      clients_(options.clients),
      counts_(types) {}

void MeasuredWorker::run_transactions(EngineClient& client) {
  bool logged = worker_.database.wal() != nullptr;
  int64_t cpu_before_ns = thread_cpu_ns();
  int64_t start_ns = monotonic_ns();
  for (; !is_over(); ++done_) {
    size_t type = client.draw();
    ++(run_one(client) ? counts_.committed : counts_.rolled_back)[type];
    worker_.context.housekeep();
    int64_t now_ns = monotonic_ns();
    if (logged) {
      wait_for_log(worker_.transaction.newest_epoch(), start_ns, now_ns);
      answer(now_ns);
      if (unanswered_.size() >= clients_) answer_down_to(clients_ - 1);
    } else {
      counts_.latency.add(now_ns - start_ns);
      if (quota_ != 0) {
        count_epoch();
      } else if (series_ != nullptr) {
        series_->note_commit(now_ns);
        series_->note_answer(start_ns, now_ns);
      }
    }
    start_ns = now_ns;
  }
  if (logged) answer_down_to(0);
  counts_.cpu_ns = thread_cpu_ns() - cpu_before_ns;
}

bool MeasuredWorker::is_over() const {
  return quota_ != 0 ? done_ == quota_ : stop_.load(std::memory_order_relaxed);
}

// True if it committed, false if its answer is that a row is not there.
bool MeasuredWorker::run_one(EngineClient& client) {
  Transaction& transaction = worker_.transaction;
  for (;;) {
    transaction.begin(TransactionMode::one_shot);
    TransactionStatus answer = client.run(transaction);
    TransactionStatus status = answer;
    if (answer == TransactionStatus::ok) {
      status = transaction.commit();
    } else if (!ends_transaction(answer)) {
      status = transaction.validate();  // was true what the answer rests on?
    }
    if (transaction.is_open()) transaction.abort();
    if (status == TransactionStatus::ok) {
      if (answer == TransactionStatus::ok) return true;
      if (answer == TransactionStatus::not_found) return false;
      status = answer;
    }
    ++counts_.aborts[static_cast<size_t>(status)];
    if (is_conflict(status)) continue;
    std::fprintf(stderr, "a transaction failed: %s\n", std::string(name_of(status)).c_str());
    std::exit(1);
  }
}

// What rests on durable epochs alone, as many reads do, has its answer at once.
void MeasuredWorker::wait_for_log(Epoch epoch, int64_t start_ns, int64_t now_ns) {
  if (series_ != nullptr) series_->note_commit(now_ns);
  if (worker_.database.durable().covers(epoch)) {
    counts_.latency.add(now_ns - start_ns);
    if (series_ != nullptr) series_->note_answer_at_once(now_ns);
  } else {
    unanswered_.push_back({epoch, start_ns});
    newest_ = std::max(newest_, epoch);  // a read may rest on an older epoch than those before it
  }
}

// Those whose epochs are durable have their answers. When half of the clients wait, the logger is
// asked to sync; the others go on meanwhile.
void MeasuredWorker::answer(int64_t now_ns) {
  Epoch durable = worker_.database.durable().get();
  for (; !unanswered_.empty() && unanswered_.front().epoch <= durable; unanswered_.pop_front()) {
    int64_t start_ns = unanswered_.front().start_ns;
    counts_.latency.add(now_ns - start_ns);
    if (series_ != nullptr) series_->note_answer(start_ns, now_ns);
  }
  if (2 * unanswered_.size() < clients_ || asked_ > durable) return;
  asked_ = newest_;
  worker_.database.wal()->request_durable(worker_.index, asked_, LoggerWake::now);
}

void MeasuredWorker::answer_down_to(size_t unanswered) {
  Wal* wal = worker_.database.wal();
  while (unanswered_.size() > unanswered) {
    // Asked before it is looked at, so that no notice is missed.
    wal->request_durable(worker_.index, newest_, LoggerWake::later);
    answer(monotonic_ns());
    if (unanswered_.size() > unanswered && !wal->try_step(worker_.index))
      worker_.parker.park(Parker::no_deadline);
  }
}

void MeasuredWorker::count_epoch() {
  if (worker_.index == 0 && (done_ + 1) % transactions_per_epoch == 0)
    worker_.database.advance_epoch();
}

}  // namespace pgsilo
