#include "wal/recovery/replay.h"

#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "base/file.h"
#include "storage/relation/relation_directory.h"
#include "wal/log/segment_reader.h"
#include "wal/recovery/parallel.h"
#include "wal/recovery/record_restorer.h"
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

  void run_job(Thread& thread, size_t job) {
    if (failed()) return;
    try {
      Pin pin(thread.restorer.handle());
      size_t long_records = analysis_.long_records.size();
      if (job < long_records) {
        replay_long(thread, analysis_.long_records[job]);
      } else {
        replay_range(thread, analysis_.ranges[job - long_records]);
      }
    } catch (const std::bad_alloc&) {
      fail("out of memory: the database is larger than the memory there is");
    }
    thread.restorer.handle().reclaim();
  }

  void replay_range(Thread& thread, const ReplayRange& range) {
    SegmentReader reader(files_, range.path, range.segment, range.log);
    if (!reader.open(range.end).ok()) return fail_range(range, range.begin);
    for (uint64_t at = range.begin; at < range.end;) {
      std::optional<BlockView> block = reader.next(at, at + log_format::block_unit);
      if (!block) return fail_range(range, at);
      if (block->header.kind == BlockKind::records) {
        if (!replay_records(thread, block->payload, range)) return fail_range(range, at);
      }
      at += block->bytes;
    }
    meter_.add(range.end - range.begin);
  }

  void replay_long(Thread& thread, const LongRecord& record) {
    std::string bytes;
    bytes.reserve(record.total);
    for (const ReplayRange& piece : record.pieces) {
      SegmentReader reader(files_, piece.path, piece.segment, piece.log);
      if (!reader.open(piece.end).ok()) return fail_range(piece, piece.begin);
      std::optional<BlockView> block =
          reader.next(piece.begin, piece.begin + log_format::block_unit);
      if (!block || block->header.piece_offset != bytes.size())
        return fail_range(piece, piece.begin);
      bytes.append(block->payload);
    }
    const ReplayRange& first = record.pieces.front();
    if (!replay_records(thread, bytes, first)) fail_range(first, first.begin);
  }

  bool replay_records(Thread& thread, std::string_view payload, const ReplayRange& range) {
    while (!payload.empty()) {
      std::optional<RecordHeader> header = peek_record(payload);
      if (!header) return false;
      Epoch epoch = header->tid.epoch();
      if (epoch >= range.first && epoch <= range.durable &&
          !replay_record(thread, payload.substr(0, header->bytes)))
        return false;
      payload.remove_prefix(header->bytes);
    }
    return true;
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

  void fail_range(const ReplayRange& range, uint64_t offset) {
    fail("log file \"" + range.path + "\" changed at offset " + std::to_string(offset) +
         " while it was being read");
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
