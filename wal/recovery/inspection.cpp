#include "wal/recovery/inspection.h"

#include <mutex>
#include <new>

#include "base/file.h"
#include "storage/transaction/redo_sink.h"
#include "wal/recovery/log_analyzer.h"
#include "wal/recovery/parallel.h"
#include "wal/recovery/range_walks.h"
#include "wal/recovery/record_walk.h"
#include "wal/recovery/recovery_meter.h"

namespace pgsilo {
namespace {

struct RecordCounts {
  uint64_t records = 0;
  uint64_t entries = 0;
  uint64_t ignored = 0;
};

// Replay's place: counts what that would restore.
class RecordChecker {
 public:
  RecordChecker(FileSystem& files, const LogAnalysis& analysis, RecoveryMeter& meter,
                RecoveryReport& report)
      : files_(files),
        ranges_(analysis.ranges),
        meter_(meter),
        report_(report),
        walks_(analysis.ranges) {}

  bool run(unsigned threads, std::string* why) {
    auto between = [this] { meter_.report(); };
    run_jobs(
        ranges_.size(), threads, [this] { return [this](size_t i) { check_range(i); }; }, between);
    long_records_ = walks_.long_records();
    run_jobs(
        long_records_.size(), threads,
        [this] { return [this](size_t i) { check_long_record(i); }; }, between);
    if (!why_.empty()) *why = why_;
    return why_.empty();
  }

 private:
  static auto counter(const ReplayRange& range, RecordCounts& counts) {
    return [&range, &counts](std::string_view records) {
      return walk_records(records, [&](const RecordHeader& header, std::string_view record) {
        bool matters = range.counts(header.tid.epoch());
        ++(matters ? counts.records : counts.ignored);
        RecordReader reader(record);
        for (RedoEntry entry; reader.next(&entry);) counts.entries += matters ? 1 : 0;
        // Replay does not look into what does not count.
        return !matters || !reader.damaged();
      });
    };
  }

  void check_range(size_t number) {
    const ReplayRange& range = ranges_[number];
    check(range, [&](auto visit, PayloadReader& payloads, std::string* why) {
      walk_range(files_, range, payloads, visit, &walks_[number], why);
    });
    meter_.add(range.end - range.begin);
  }

  void check_long_record(size_t number) {
    const LongRecord& record = long_records_[number];
    check(record.pieces.front(), [&](auto visit, PayloadReader& payloads, std::string* why) {
      walk_long_record(files_, record, payloads, visit, why);
    });
  }

  template <typename Walk>
  void check(const ReplayRange& range, Walk walk) {
    RecordCounts counts;
    PayloadReader payloads;
    std::string why;
    try {
      walk(counter(range, counts), payloads, &why);
    } catch (const std::bad_alloc&) {
      why = "out of memory";
    }
    add(range, counts, why);
  }

  void add(const ReplayRange& range, const RecordCounts& counts, const std::string& why) {
    std::lock_guard lock(mutex_);
    if (why_.empty()) why_ = why;
    report_.records += counts.records;
    report_.entries += counts.entries;
    for (IncarnationReport& incarnation : report_.incarnations) {
      if (incarnation.number != range.incarnation) continue;
      for (LogReport& log : incarnation.logs) {
        if (log.log != range.log) continue;
        log.records += counts.records;
        log.entries += counts.entries;
        log.ignored_records += counts.ignored;
      }
    }
  }

  FileSystem& files_;
  const std::vector<ReplayRange>& ranges_;
  RecoveryMeter& meter_;
  RecoveryReport& report_;
  RangeWalks walks_;
  std::vector<LongRecord> long_records_;
  std::mutex mutex_;
  std::string why_;
};

}  // namespace

bool inspect_logs(FileSystem& files, const std::vector<LogDirectory*>& logs,
                  const ControlFile& control, AnalyzerOptions options, RecoveryMeter& meter,
                  RecoveryReport* report, LogAnalysis* analysis, std::string* why) {
  unsigned threads = options.threads;
  report->database = control.database;
  report->last_incarnation = control.last_incarnation;
  // Analysis closes incarnations.
  ControlFile closed = control;
  bool sound = analyze_logs(files, logs, options, meter, &closed, analysis, why);
  if (!sound) {
    options.accept_data_loss = true;
    closed = control;
    *analysis = {};
    std::string nothing_left;
    if (!analyze_logs(files, logs, options, meter, &closed, analysis, &nothing_left)) return false;
  }
  // A start reads those with catalog rows twice; here they are checked with the others.
  meter.expect_only(analysis->replay_bytes);
  report->incarnations = analysis->incarnations;
  report->replay_bytes = analysis->replay_bytes;
  report->first_epoch = next(analysis->largest_seen);
  std::string changed;
  if (!RecordChecker(files, *analysis, meter, *report).run(threads, &changed) && sound) {
    *why = changed;
    return false;
  }
  return sound;
}

}  // namespace pgsilo
