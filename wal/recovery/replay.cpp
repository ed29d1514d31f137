#include "wal/recovery/replay.h"

#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "base/file.h"
#include "storage/relation/relation_directory.h"
#include "wal/recovery/parallel.h"
#include "wal/recovery/record_restorer.h"
#include "wal/recovery/record_walk.h"
#include "wal/recovery/recovery_meter.h"

namespace pgsilo {
namespace {

class Replayer {
 public:
  Replayer(FileSystem& files, const LogAnalysis& analysis, RelationDirectory& relations,
           Reclaimer& reclaimer, RecoveryMeter& meter)
      : files_(files),
        analysis_(analysis),
        relations_(relations),
        reclaimer_(reclaimer),
        meter_(meter) {}

  bool run(unsigned threads, ReplayCounts* counts, std::string* why) {
    size_t jobs = analysis_.long_records.size() + analysis_.ranges.size();
    run_jobs(
        jobs, threads,
        [this] {
          auto worker = std::make_unique<Thread>(relations_, reclaimer_);
          Thread* mine = worker.get();
          std::lock_guard lock(mutex_);
          threads_.push_back(std::move(worker));
          return [this, mine](size_t job) { run_job(*mine, job); };
        },
        [this] { meter_.report(); });
    finish();
    for (const auto& thread : threads_) {
      counts->records += thread->counts.records;
      counts->entries += thread->counts.entries;
    }
    *why = why_;
    return why_.empty();
  }

 private:
  struct Thread {
    Thread(RelationDirectory& relations, Reclaimer& reclaimer) : restorer(relations, reclaimer) {}
    RecordRestorer restorer;
    PayloadReader payloads;
    ReplayCounts counts;
  };

  void fail(const std::string& why) {
    std::lock_guard lock(mutex_);
    if (why_.empty()) why_ = why;
  }

  bool failed() {
    std::lock_guard lock(mutex_);
    return !why_.empty();
  }

  auto replay_what_counts(Thread& thread, const ReplayRange& range) {
    return [this, &thread, &range](const RecordHeader& header, std::string_view record) {
      return !range.counts(header.tid.epoch()) || replay_record(thread, record);
    };
  }

  bool replay_record(Thread& thread, std::string_view record) {
    RecordReader reader(record);
    RedoEntry entry;
    while (reader.next(&entry)) {
      thread.restorer.restore(reader.tid(), entry);
      ++thread.counts.entries;
    }
    ++thread.counts.records;
    return !reader.damaged();
  }

  void run_job(Thread& thread, size_t job) {
    if (failed()) return;
    try {
      Pin pin(thread.restorer.handle());
      size_t long_records = analysis_.long_records.size();
      std::string why;
      if (job < long_records) {
        const LongRecord& record = analysis_.long_records[job];
        auto replay = replay_what_counts(thread, record.pieces.front());
        if (!walk_long_record(files_, record, thread.payloads, replay, &why)) fail(why);
      } else {
        const ReplayRange& range = analysis_.ranges[job - long_records];
        if (!walk_range(files_, range, thread.payloads, replay_what_counts(thread, range), &why))
          fail(why);
        meter_.add(range.end - range.begin);
      }
    } catch (const std::bad_alloc&) {
      fail("out of memory: the database is larger than the memory there is");
    }
    thread.restorer.handle().reclaim();
  }

  // Pins of all threads' handles: a record that two of them hold as a tombstone is freed only at
  // the end.
  void finish() {
    try {
      std::vector<std::unique_ptr<Pin>> pins;
      pins.reserve(threads_.size());
      for (const auto& thread : threads_)
        pins.push_back(std::make_unique<Pin>(thread->restorer.handle()));
      for (const auto& thread : threads_) thread->restorer.finish();
    } catch (const std::bad_alloc&) {
      fail("out of memory: the database is larger than the memory there is");
    }
  }

  FileSystem& files_;
  const LogAnalysis& analysis_;
  RelationDirectory& relations_;
  Reclaimer& reclaimer_;
  RecoveryMeter& meter_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::string why_;
};

}  // namespace

bool replay_logs(FileSystem& files, const LogAnalysis& analysis, unsigned threads,
                 RelationDirectory& relations, Reclaimer& reclaimer, RecoveryMeter& meter,
                 ReplayCounts* counts, std::string* why) {
  return Replayer(files, analysis, relations, reclaimer, meter).run(threads, counts, why);
}

}  // namespace pgsilo
