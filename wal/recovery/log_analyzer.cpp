#include "wal/recovery/log_analyzer.h"

#include <algorithm>
#include <map>

#include "base/file.h"
#include "wal/layout/log_directory.h"
#include "wal/log/segment_reader.h"
#include "wal/recovery/parallel.h"
#include "wal/recovery/recovery_meter.h"
#include "wal/recovery/segment_skim.h"

namespace pgsilo {
namespace {

// One incarnation's part of one log.
struct LogPart {
  const LogDirectory* directory = nullptr;
  struct Piece {
    const SegmentScan* scan;
    const BlockRun* run;
  };
  std::vector<Piece> prefix;  // runs that follow each other from block 0
  bool gap = false;           // undamaged blocks come after the prefix
  std::string end_path;       // where the prefix ends
  uint64_t end_offset = 0;
  Epoch reaches;  // `complete` of its last trailer
};

struct IncarnationParts {
  std::vector<LogPart> logs;  // by logger
  Epoch recorded;             // the largest D that any of its blocks records
  bool has_blocks = false;
  bool files_missing = false;  // a log has not one segment, though segments were prepared before
                               // the incarnation began
};

class Analyzer {
 public:
  Analyzer(FileSystem& files, const std::vector<LogDirectory*>& logs,
           const AnalyzerOptions& options, RecoveryMeter& meter, ControlFile* control,
           LogAnalysis* analysis, std::string* why)
      : files_(files),
        logs_(logs),
        options_(options),
        meter_(meter),
        control_(*control),
        analysis_(*analysis),
        why_(*why),
        scans_(logs.size()) {}

  bool run() {
    std::erase_if(control_.incarnations, [this](const Incarnation& incarnation) {
      return !needs_log(control_, incarnation);
    });
    analysis_.largest_seen = control_.checkpoint.ended;
    if (!list_segments() || !scan_segments() || !bridge_gaps() || !know_all_incarnations())
      return false;
    size_t kept = 0;
    bool lost = false;
    for (Incarnation& incarnation : control_.incarnations) {
      IncarnationParts parts = collect(incarnation);
      if (parts.files_missing && !options_.accept_data_loss) {
        return fail("a log directory holds no segments, but start " +
                    std::to_string(incarnation.number) + " of the server logged there" +
                    accept_hint);
      }
      analysis_.incarnations.push_back(report_on(incarnation, parts));
      if (!decide(incarnation, parts, &lost)) return false;
      analysis_.incarnations.back().durable = incarnation.durable;
      if (!parts.has_blocks) continue;
      add_ranges(incarnation, parts);
      control_.incarnations[kept++] = incarnation;
    }
    control_.incarnations.resize(kept);
    std::reverse(analysis_.ranges.begin(), analysis_.ranges.end());
    std::reverse(analysis_.system_ranges.begin(), analysis_.system_ranges.end());
    find_empty_segments();
    meter_.expect_only(analysis_.system_bytes + analysis_.replay_bytes);
    return true;
  }

 private:
  bool fail(const std::string& message) {
    why_ = message;
    return false;
  }

  // Nobody may try again in silence.
  bool fail_call(const std::string& message) {
    analysis_.call_failed = true;
    return fail(message);
  }

  bool list_segments() {
    for (size_t log = 0; log < logs_.size(); ++log) {
      std::vector<uint64_t> numbers;
      FileResult result = logs_[log]->list_segments(&numbers);
      if (!result.ok()) {
        return fail_call("could not read log directory \"" + logs_[log]->path() +
                         "\": " + result.text());
      }
      // Also between the cut and the first segment that is there.
      const LogCut* cut = cut_of(logs_[log]->log());
      uint64_t expected = cut == nullptr ? 0 : cut->segment;
      for (uint64_t number : numbers) {
        if (cut != nullptr && number < cut->segment) continue;
        if (expected != 0 && number != expected)
          gaps_.push_back({{log, scans_[log].size()}, expected});
        expected = number + 1;
        scans_[log].push_back({});
        scans_[log].back().number = number;
        segments_.push_back({log, scans_[log].size() - 1});
      }
    }
    return true;
  }

  bool scan_segments() {
    if (!sync_segments()) return false;
    SegmentSkim skim(files_, logs_, control_, scans_);
    if (!options_.scan_all) skim.trust();
    if (!options_.accept_data_loss && !all_readable()) return false;
    std::vector<SegmentIndex> untrusted;
    for (const SegmentIndex& segment : segments_) {
      if (!SegmentSkim::is_trusted(scan_of(segment))) untrusted.push_back(segment);
    }
    expect(untrusted);
    scan(untrusted);
    for (auto doubted = skim.doubt(); !doubted.empty(); doubted = skim.doubt()) scan(doubted);
    for (const SegmentIndex& segment : segments_)
      analysis_.trusted_segments += SegmentSkim::is_trusted(scan_of(segment)) ? 1 : 0;
    return options_.accept_data_loss || all_readable();
  }

  SegmentScan& scan_of(const SegmentIndex& segment) { return scans_[segment.log][segment.index]; }

  // An earlier process may have left writes in the caches; they must be on disk before anything
  // rests on them. On this thread, for the simulated disk's sake.
  bool sync_segments() {
    for (const SegmentIndex& segment : segments_) {
      SegmentScan& scan = scan_of(segment);
      const LogDirectory& directory = *logs_[segment.log];
      scan.path = directory.segment_path(scan.number);
      SegmentReader reader(files_, scan.path, scan.number, directory.log());
      FileResult result = reader.sync(&scan.bytes);
      if (!result.ok()) return fail_call(failed_log("sync", scan.path, result));
    }
    return true;
  }

  void expect(const std::vector<SegmentIndex>& scanned) {
    for (const SegmentIndex& segment : segments_) meter_.expect(scan_of(segment).bytes);
    for (const SegmentIndex& segment : scanned) meter_.expect(scan_of(segment).bytes);
  }

  void scan(const std::vector<SegmentIndex>& segments) {
    TrailerRule rule{.keep_all = options_.accept_data_loss, .closed_at = {}};
    for (const Incarnation& incarnation : control_.incarnations) {
      if (incarnation.closed) rule.closed_at[incarnation.number] = incarnation.durable;
    }
    run_jobs(
        segments.size(), options_.threads,
        [&] {
          return [&](size_t number) {
            const SegmentIndex& segment = segments[number];
            SegmentScan& scan = scan_of(segment);
            scan = scan_segment(files_, scan.path, scan.number, logs_[segment.log]->log(), rule);
            meter_.add(scan.bytes);
          };
        },
        [this] { meter_.report(); });
  }

  bool all_readable() {
    for (const SegmentIndex& segment : segments_) {
      const SegmentScan& scan = scan_of(segment);
      if (!scan.result.ok()) return fail_call(failed_log("read", scan.path, scan.result));
      if (scan.foreign) {
        return fail("log segment \"" + scan.path + "\" holds blocks of another log directory" +
                    accept_hint);
      }
    }
    return true;
  }

  // A missing segment is damage, unless the checkpoint holds everything and the log ended before
  // it.
  bool bridge_gaps() {
    for (const Gap& gap : gaps_) {
      const std::vector<SegmentScan>& scans = scans_[gap.behind.log];
      bool empty_behind = std::all_of(
          scans.begin() + static_cast<ptrdiff_t>(gap.behind.index), scans.end(),
          [](const SegmentScan& scan) { return scan.result.ok() && scan.runs.empty(); });
      if (control_.incarnations.empty() && empty_behind) continue;
      std::string message =
          "log segment \"" + logs_[gap.behind.log]->segment_path(gap.missing) + "\" is missing";
      if (!options_.accept_data_loss) return fail(message + accept_hint);
      if (analysis_.data_loss.empty()) analysis_.data_loss = message;
    }
    return true;
  }

  bool know_all_incarnations() {
    for (const auto& scans : scans_) {
      for (const SegmentScan& scan : scans) {
        for (const BlockRun& run : scan.runs) {
          analysis_.largest_seen = std::max(analysis_.largest_seen, run.largest_seen);
          bool known =
              run.incarnation <= control_.checkpoint.incarnation ||
              std::any_of(control_.incarnations.begin(), control_.incarnations.end(),
                          [&](const Incarnation& i) { return i.number == run.incarnation; });
          if (!known) {
            return fail("log segment \"" + scan.path + "\" was written by start " +
                        std::to_string(run.incarnation) +
                        " of the server, of which the control file knows nothing");
          }
        }
      }
    }
    return true;
  }

  size_t directory_of(const Uuid& log) const {
    size_t index = 0;
    while (index < logs_.size() && logs_[index]->log() != log) ++index;
    return index;  // there is one: Wal::open checked
  }

  // Null: the log is read from its first segment on.
  const LogCut* cut_of(const Uuid& log) const {
    for (const LogCut& cut : control_.checkpoint.cuts) {
      if (cut.log == log) return &cut;
    }
    return nullptr;
  }

  bool made_checkpoint(const Incarnation& incarnation) const {
    return control_.checkpoint.exists() && incarnation.number == control_.checkpoint.incarnation;
  }

  // The first epoch of which the logs are needed.
  Epoch first_needed(const Incarnation& incarnation) const {
    return made_checkpoint(incarnation) ? control_.checkpoint.begun : incarnation.first_epoch;
  }

  IncarnationParts collect(const Incarnation& incarnation) {
    IncarnationParts parts;
    if (made_checkpoint(incarnation)) parts.recorded = control_.checkpoint.recorded;
    for (const LogIdentity& identity : incarnation.logs) {
      size_t directory = directory_of(identity.log);
      parts.files_missing |= scans_[directory].empty();
      LogPart part = collect_log(incarnation, *logs_[directory], scans_[directory], parts);
      parts.logs.push_back(std::move(part));
    }
    return parts;
  }

  LogPart collect_log(const Incarnation& incarnation, const LogDirectory& directory,
                      const std::vector<SegmentScan>& scans, IncarnationParts& parts) {
    LogPart part;
    part.directory = &directory;
    part.end_path = directory.path();
    part.reaches = Epoch(first_needed(incarnation).value() - 1);
    const LogCut* cut = made_checkpoint(incarnation) ? cut_of(directory.log()) : nullptr;
    uint64_t expected = cut == nullptr ? 0 : cut->block;
    for (const SegmentScan& scan : scans) {
      for (const BlockRun& run : scan.runs) {
        if (run.incarnation != incarnation.number) continue;
        parts.has_blocks = true;
        parts.recorded = std::max(parts.recorded, run.recorded);
        if (run.first_number != expected) part.gap = true;
        if (part.gap) {
          if (part.prefix.empty()) part.end_path = scan.path;
          continue;
        }
        expected = run.next_number;
        part.prefix.push_back({&scan, &run});
        part.end_path = scan.path;
        part.end_offset = run.end;
        if (!run.trailers.empty())
          part.reaches = std::max(part.reaches, run.trailers.back().complete);
      }
    }
    return part;
  }

  static bool is_durable(const BatchTrailer& trailer, const IncarnationParts& parts) {
    if (trailer.last_data.size() != parts.logs.size()) return false;
    for (size_t log = 0; log < parts.logs.size(); ++log) {
      if (trailer.last_data[log] > parts.logs[log].reaches) return false;
    }
    return true;
  }

  Epoch readable(const Incarnation& incarnation, const IncarnationParts& parts) const {
    Epoch durable = Epoch(first_needed(incarnation).value() - 1);
    for (const LogPart& part : parts.logs) {
      for (const LogPart::Piece& piece : part.prefix) {
        for (const BatchTrailer& trailer : piece.run->trailers) {
          if (trailer.complete > durable && is_durable(trailer, parts)) durable = trailer.complete;
        }
      }
    }
    return durable;
  }

  static IncarnationReport report_on(const Incarnation& incarnation,
                                     const IncarnationParts& parts) {
    IncarnationReport report{.number = incarnation.number,
                             .first_epoch = incarnation.first_epoch,
                             .closed = incarnation.closed,
                             .clean = incarnation.clean,
                             .recorded = {},
                             .readable = {},
                             .durable = {},
                             .logs = {}};
    for (const LogPart& part : parts.logs) {
      LogReport log;
      log.log = part.directory->log();
      log.path = part.directory->path();
      log.reaches = part.reaches;
      log.end_path = part.end_path;
      log.end_offset = part.end_offset;
      log.gap = part.gap;
      for (const LogPart::Piece& piece : part.prefix) {
        log.blocks += piece.run->next_number - piece.run->first_number;
        log.bytes += piece.run->end - piece.run->begin;
      }
      report.logs.push_back(std::move(log));
    }
    return report;
  }

  // Which epochs of the incarnation count. After `*lost`, none of the later incarnations': they
  // rest on what was lost.
  bool decide(Incarnation& incarnation, const IncarnationParts& parts, bool* lost) {
    Epoch durable = readable(incarnation, parts);
    analysis_.largest_seen = std::max(
        {analysis_.largest_seen, incarnation.durable, Epoch(incarnation.first_epoch.value() - 1)});
    Epoch known = incarnation.closed
                      ? std::max(incarnation.durable, Epoch(incarnation.first_epoch.value() - 1))
                      : parts.recorded;
    if (incarnation.closed && incarnation.durable < incarnation.first_epoch)
      known = durable;  // nothing of it counts
    analysis_.incarnations.back().readable = durable;
    analysis_.incarnations.back().recorded = known;
    if (durable < known && !*lost) {
      std::string message = describe_loss(incarnation, parts, known, durable);
      if (!options_.accept_data_loss) return fail(message);
      // Rows that changed while it was made are in the logs only, in whichever version.
      if (made_checkpoint(incarnation) &&
          durable < std::min(control_.checkpoint.recorded, control_.checkpoint.ended)) {
        return fail(message +
                    "\nDETAIL:  The checkpoint cannot be used without them, and there is none "
                    "before it.");
      }
      analysis_.data_loss += (analysis_.data_loss.empty() ? "" : "\n") + message;
      *lost = true;
      incarnation.durable = durable;
    } else if (*lost) {
      incarnation.durable = Epoch(0);
    } else if (!incarnation.closed) {
      incarnation.durable = durable;
    }
    incarnation.closed = true;
    return true;
  }

  std::string describe_loss(const Incarnation& incarnation, const IncarnationParts& parts,
                            Epoch known, Epoch durable) {
    std::string message;
    for (const LogPart& part : parts.logs) {
      bool short_end = std::none_of(parts.logs.begin(), parts.logs.end(),
                                    [](const LogPart& p) { return p.gap; }) &&
                       part.reaches < known;
      if (!part.gap && !short_end) continue;
      message += damaged_log(part.end_path, part.end_offset) + "\n";
    }
    return message + "DETAIL:  Start " + std::to_string(incarnation.number) +
           " of the server had made everything up to epoch " + std::to_string(known.value()) +
           " durable; the logs can be read up to epoch " + std::to_string(durable.value()) +
           ".\nHINT:  Set recovery_accept_data_loss=on to start from there, giving up what was "
           "committed after it.";
  }

  void add_ranges(const Incarnation& incarnation, const IncarnationParts& parts) {
    for (const LogPart& part : parts.logs) {
      for (const LogPart::Piece& piece : part.prefix) {
        ReplayRange range{.path = piece.scan->path,
                          .incarnation = incarnation.number,
                          .segment = piece.scan->number,
                          .log = part.directory->log(),
                          .begin = 0,
                          .end = 0,
                          .first = first_needed(incarnation),
                          .durable = incarnation.durable,
                          .trusted = {}};
        if (!piece.run->scanned)
          range.trusted = {piece.run->first_number, piece.run->next_number, piece.run->end};
        for (size_t i = 0; i + 1 < piece.run->splits.size(); ++i) {
          range.begin = piece.run->splits[i];
          range.end = piece.run->splits[i + 1];
          analysis_.ranges.push_back(range);
          analysis_.replay_bytes += range.end - range.begin;
        }
        for (const BlockSpan& span : piece.run->system) {
          range.begin = span.begin;
          range.end = span.end;
          analysis_.system_ranges.push_back(range);
          analysis_.system_bytes += range.end - range.begin;
        }
      }
    }
  }

  void find_empty_segments() {
    analysis_.next_segment.assign(logs_.size(), 1);
    analysis_.empty_segments.resize(logs_.size());
    for (size_t log = 0; log < logs_.size(); ++log) {
      if (const LogCut* cut = cut_of(logs_[log]->log())) analysis_.next_segment[log] = cut->segment;
      for (const SegmentScan& scan : scans_[log]) {
        if (!scan.runs.empty() || !scan.result.ok()) analysis_.next_segment[log] = scan.number + 1;
      }
      for (const SegmentScan& scan : scans_[log]) {
        if (scan.number >= analysis_.next_segment[log])
          analysis_.empty_segments[log].push_back(scan.number);
      }
    }
  }

  // In the numbers of a log's segments.
  struct Gap {
    SegmentIndex behind;  // the first one behind it
    uint64_t missing;     // the first number in it
  };

  FileSystem& files_;
  const std::vector<LogDirectory*>& logs_;
  const AnalyzerOptions& options_;
  RecoveryMeter& meter_;
  ControlFile& control_;
  LogAnalysis& analysis_;
  std::string& why_;
  SegmentSkim::Scans scans_;
  std::vector<SegmentIndex> segments_;  // all
  std::vector<Gap> gaps_;
};

}  // namespace

std::string failed_log(const char* what, const std::string& path, const FileResult& result) {
  return "could not " + std::string(what) + " log segment \"" + path + "\": " + result.text() +
         "\nHINT:  Nothing is known to be lost: start again when the cause is gone. From a device "
         "that fails, copy the file to a sound one first.";
}

std::string damaged_log(const std::string& path, uint64_t offset) {
  return "log file \"" + path + "\" is damaged at offset " + std::to_string(offset);
}

bool analyze_logs(FileSystem& files, const std::vector<LogDirectory*>& logs,
                  const AnalyzerOptions& options, RecoveryMeter& meter, ControlFile* control,
                  LogAnalysis* analysis, std::string* why) {
  return Analyzer(files, logs, options, meter, control, analysis, why).run();
}

}  // namespace pgsilo
