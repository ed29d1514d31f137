#include "wal/recovery/replay.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/file.h"
#include "storage/relation/relation_directory.h"
#include "wal/recovery/parallel.h"
#include "wal/recovery/range_walks.h"
#include "wal/recovery/record_restorer.h"
#include "wal/recovery/record_walk.h"
#include "wal/recovery/recovery_meter.h"
#include "wal/recovery/restored_relations.h"

namespace pgsilo {
namespace {

class Replayer {
 public:
  Replayer(FileSystem& files, const LogAnalysis& analysis, const RestoredRelations& restored,
           RelationDirectory& relations, Reclaimer& reclaimer, RecoveryMeter& meter)
      : files_(files),
        ranges_(restored.pass() == RestoredRelations::Pass::system ? analysis.system_ranges
                                                                   : analysis.ranges),
        restored_(restored),
        relations_(relations),
        reclaimer_(reclaimer),
        meter_(meter),
        walks_(ranges_) {}

  bool run(unsigned threads, ReplayCounts* counts, std::string* why) {
    run_all(ranges_.size(), threads, [this](Thread& thread, size_t i) { replay_range(thread, i); });
    if (!failed() && walks_.complete(&why_)) {
      long_records_ = walks_.long_records();
      run_all(long_records_.size(), threads,
              [this](Thread& thread, size_t i) { replay_long_record(thread, i); });
    }
    finish();
    for (const auto& thread : threads_) {
      counts->records += thread->counts.records;
      counts->entries += thread->counts.entries;
    }
    counts->bytes += walks_.bytes();
    counts->largest_seen = std::max(counts->largest_seen, walks_.largest_seen());
    *why = why_;
    return why_.empty();
  }

 private:
  struct Thread {
    Thread(const RestoredRelations& restored, RelationDirectory& relations, Reclaimer& reclaimer)
        : restorer(restored, relations, reclaimer) {}

    // What it views stays until restore_taken(). False: damaged.
    bool take(std::string_view record) {
      RecordReader reader(record);
      while (reader.next(&taken[taken_count].entry)) {
        taken[taken_count++].tid = reader.tid();
        ++counts.entries;
        if (taken_count == taken.size()) restore_taken();
      }
      ++counts.records;
      return !reader.damaged();
    }
    void restore_taken() {
      restorer.restore(std::span(taken).first(std::exchange(taken_count, 0)));
    }

    RecordRestorer restorer;
    PayloadReader payloads;
    ReplayCounts counts;
    std::array<TimedEntry, IndexTree::max_lookups> taken;
    size_t taken_count = 0;
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
    return [&thread, &range](std::string_view records) {
      bool sound = walk_records(records, [&](const RecordHeader& header, std::string_view record) {
        return !range.counts(header.tid.epoch()) || thread.take(record);
      });
      thread.restore_taken();
      return sound;
    };
  }

  template <typename Job>
  void run_all(size_t jobs, unsigned threads, Job job) {
    if (jobs == 0) return;
    run_jobs(
        jobs, threads,
        [this, &job] {
          auto worker = std::make_unique<Thread>(restored_, relations_, reclaimer_);
          Thread* mine = worker.get();
          std::lock_guard lock(mutex_);
          threads_.push_back(std::move(worker));
          return [this, mine, &job](size_t number) { run_job(*mine, job, number); };
        },
        [this] { meter_.report(); });
  }

  template <typename Job>
  void run_job(Thread& thread, Job& job, size_t number) {
    if (failed()) return;
    try {
      Pin pin(thread.restorer.handle());
      job(thread, number);
    } catch (const std::bad_alloc&) {
      fail("out of memory: the database is larger than the memory there is");
    }
    thread.restorer.handle().reclaim();
  }

  void replay_range(Thread& thread, size_t number) {
    const ReplayRange& range = ranges_[number];
    std::string why;
    if (!walk_range(files_, range, thread.payloads, replay_what_counts(thread, range),
                    &walks_[number], &why)) {
      fail(why);
    }
    meter_.add(range.end - range.begin);
  }

  void replay_long_record(Thread& thread, size_t number) {
    const LongRecord& record = long_records_[number];
    auto replay = replay_what_counts(thread, record.pieces.front());
    std::string why;
    if (!walk_long_record(files_, record, thread.payloads, replay, &why)) fail(why);
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
  const std::vector<ReplayRange>& ranges_;
  const RestoredRelations& restored_;
  RelationDirectory& relations_;
  Reclaimer& reclaimer_;
  RecoveryMeter& meter_;
  RangeWalks walks_;
  std::vector<LongRecord> long_records_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::string why_;
};

}  // namespace

bool replay_logs(FileSystem& files, const LogAnalysis& analysis, const RestoredRelations& restored,
                 unsigned threads, RelationDirectory& relations, Reclaimer& reclaimer,
                 RecoveryMeter& meter, ReplayCounts* counts, std::string* why) {
  return Replayer(files, analysis, restored, relations, reclaimer, meter).run(threads, counts, why);
}

}  // namespace pgsilo
