#include "wal/recovery/log_analyzer.h"

#include <algorithm>

#include "base/failed_call.h"
#include "base/file.h"
#include "wal/layout/log_directory.h"
#include "wal/log/segment_reader.h"
#include "wal/recovery/incarnation_parts.h"
#include "wal/recovery/known_progress.h"
#include "wal/recovery/parallel.h"
#include "wal/recovery/recovery_meter.h"
#include "wal/recovery/segment_skim.h"

namespace pgsilo {
namespace {

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
    analysis_.forgotten = forget_incarnations(&control_);
    analysis_.largest_seen = control_.checkpoint.ended;
    if (!list_segments() || !scan_segments() || !bridge_gaps() || !have_right_sizes() ||
        !know_all_incarnations()) {
      return false;
    }
    bool lost = false;
    for (Incarnation& incarnation : control_.incarnations) {
      if (!analyze(incarnation, &lost)) return false;
    }
    find_empty_segments();
    std::reverse(analysis_.ranges.begin(), analysis_.ranges.end());
    std::reverse(analysis_.system_ranges.begin(), analysis_.system_ranges.end());
    meter_.expect_only(analysis_.system_bytes + analysis_.replay_bytes);
    return true;
  }

 private:
  // Its blocks are read: what counts of them.
  bool analyze(Incarnation& incarnation, bool* lost) {
    const ProgressMark* mark =
        options_.mark != nullptr && options_.mark->id == incarnation.id ? options_.mark : nullptr;
    IncarnationParts parts = collect_parts(control_, incarnation, logs_, scans_, mark);
    ask_heirs(incarnation, scans_, parts);
    if (parts.files_missing) {
      std::string message = "a log directory holds no segments, but start " +
                            std::to_string(incarnation.number) + " of the server logged there";
      if (!lose(message)) return false;
    }
    analysis_.incarnations.push_back(report_on(incarnation, parts));
    if (!decide(incarnation, parts, lost)) return false;
    analysis_.incarnations.back().durable = incarnation.durable;
    add_ranges(incarnation, parts);
    return true;
  }

  bool fail(const std::string& message) {
    why_ = message;
    return false;
  }

  // Refuses, or notes what is given up.
  bool lose(const std::string& message) {
    if (!options_.accept_data_loss) return fail(message + accept_hint);
    if (!analysis_.data_loss.empty()) analysis_.data_loss += '\n';
    analysis_.data_loss += message;
    return true;
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
      const LogCut* cut = control_.checkpoint.cut_of(logs_[log]->log());
      uint64_t expected = cut == nullptr ? 0 : cut->segment;
      for (uint64_t number : numbers) {
        if (cut != nullptr && number < cut->segment) continue;
        if (expected != 0 && number != expected)
          gaps_.push_back({{log, scans_[log].size()}, expected});
        expected = number + 1;
        scans_[log].push_back({});
        scans_[log].back().number = number;
        scans_[log].back().path = logs_[log]->segment_path(number);
        segments_.push_back({log, scans_[log].size() - 1});
      }
    }
    return true;
  }

  bool scan_segments() {
    SegmentSkim skim(files_, logs_, control_, scans_);
    if (!options_.scan_all) skim.trust();
    if (!options_.accept_data_loss && !all_readable()) return false;
    std::vector<SegmentIndex> used;
    std::vector<SegmentIndex> untrusted;
    for (const SegmentIndex& segment : segments_) {
      if (scan_of(segment).skipped) continue;
      used.push_back(segment);
      if (!SegmentSkim::is_trusted(scan_of(segment))) untrusted.push_back(segment);
    }
    if (!sync(used)) return false;
    expect(untrusted);
    scan(untrusted);
    for (auto doubted = skim.doubt(); !doubted.empty(); doubted = skim.doubt()) {
      if (!sync(doubted)) return false;
      scan(doubted);
    }
    for (const SegmentIndex& segment : segments_)
      analysis_.trusted_segments += SegmentSkim::is_trusted(scan_of(segment)) ? 1 : 0;
    return all_readable();
  }

  SegmentScan& scan_of(const SegmentIndex& segment) { return scans_[segment.log][segment.index]; }

  // An earlier process may have left writes in the caches; they must be on disk before anything
  // rests on them. So they were before a clean shutdown; a backup's may have been copied just now.
  // On this thread, for the simulated disk's sake.
  bool sync(const std::vector<SegmentIndex>& segments) {
    if (!options_.scan_all && ended_cleanly()) return true;
    for (const SegmentIndex& segment : segments) {
      SegmentScan& scan = scan_of(segment);
      const LogDirectory& directory = *logs_[segment.log];
      SegmentReader reader(files_, scan.path, scan.number, directory.log());
      FileResult result = reader.sync(&scan.bytes);
      if (!result.ok()) return fail_call(failed_log("sync", scan.path, result));
    }
    return true;
  }

  bool ended_cleanly() const {
    return control_.all_closed() &&
           (control_.incarnations.empty() || control_.incarnations.back().clean);
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
      if (!scan.result.ok()) {
        std::string message = failed_log("read", scan.path, scan.result);
        if (!options_.accept_data_loss) return fail_call(message);
        static_cast<void>(lose(message.substr(0, message.find('\n'))));
      }
      if (scan.foreign &&
          !lose("log segment \"" + scan.path + "\" holds blocks of another log directory")) {
        return false;
      }
    }
    return true;
  }

  // A missing segment is damage, unless the checkpoint holds everything and the log ended before
  // it, or it is known already what counts of all that could have been in it.
  bool bridge_gaps() {
    for (const Gap& gap : gaps_) {
      const std::vector<SegmentScan>& scans = scans_[gap.behind.log];
      auto behind = scans.begin() + static_cast<ptrdiff_t>(gap.behind.index);
      bool nothing_behind = std::all_of(
          behind, scans.end(), [this](const SegmentScan& scan) { return holds_nothing(scan); });
      if (control_.incarnations.empty() && nothing_behind) continue;
      auto next = std::find_if(behind, scans.end(),
                               [](const SegmentScan& scan) { return !scan.runs.empty(); });
      const BlockRun* run = next == scans.end() ? nullptr : &next->runs.front();
      const Incarnation* incarnation = run == nullptr ? nullptr : find(*run);
      std::string missing =
          "log segment \"" + logs_[gap.behind.log]->segment_path(gap.missing) + "\" is missing";
      if (incarnation != nullptr && (incarnation->closed || run->first_number == 0)) {
        missing_ += missing + "\n";
      } else if (!lose(missing)) {
        return false;
      }
    }
    return true;
  }

  // A segment has its size from the beginning: a shorter one was cut, perhaps between two blocks.
  // Looked at behind what is closed, of which it is known what counts.
  bool have_right_sizes() {
    for (const auto& scans : scans_) {
      for (size_t i = scans.size(); i-- > 0;) {
        const SegmentScan& scan = scans[i];
        const Incarnation* incarnation = scan.runs.empty() ? nullptr : find(scan.runs.back());
        if (!scan.runs.empty() && (incarnation == nullptr || incarnation->closed)) break;
        uint64_t expected = incarnation == nullptr ? 0 : incarnation->segment_bytes;
        if (has_right_size(scan, expected) || !scan.result.ok()) continue;
        std::string size =
            expected == 0 ? "as no segment has" : "instead of " + std::to_string(expected);
        if (!lose("log segment \"" + scan.path + "\" has " + std::to_string(scan.bytes) +
                  " bytes, " + size + ": it was cut"))
          return false;
      }
    }
    return true;
  }

  // `expected`; 0: not known.
  static bool has_right_size(const SegmentScan& scan, uint64_t expected) {
    if (expected != 0) return scan.bytes == expected;
    return scan.bytes >= log_format::min_segment_bytes &&
           scan.bytes % log_format::segment_granule == 0;
  }

  bool know_all_incarnations() {
    for (const SegmentIndex& segment : segments_) {
      const SegmentScan& scan = scan_of(segment);
      for (const BlockRun& run : scan.runs) {
        analysis_.largest_seen = std::max(analysis_.largest_seen, run.largest_seen);
        analysis_.newest_time_us = std::max(analysis_.newest_time_us, run.newest_time_us);
        std::string stranger = describe_stranger(run);
        if (stranger.empty()) continue;
        if (!lose("log segment \"" + scan.path + "\" " + stranger)) return false;
        remember(run);
      }
    }
    return true;
  }

  // Nothing of it counts, and nobody asks again.
  void remember(const BlockRun& run) {
    Incarnation stranger{.number = run.incarnation,
                         .id = {.high = run.incarnation_tag, .low = 0},
                         .parent = {},
                         .segment_bytes = 0,
                         .first_epoch = Epoch(1),
                         .closed = true,
                         .clean = false,
                         .durable = Epoch(0),
                         .logs = {}};
    auto later = std::find_if(
        control_.incarnations.begin(), control_.incarnations.end(),
        [&](const Incarnation& incarnation) { return incarnation.number > run.incarnation; });
    control_.incarnations.insert(later, stranger);
    control_.last_incarnation = std::max(control_.last_incarnation, run.incarnation);
  }

  // Null: it is none that the control file knows.
  const Incarnation* find(const BlockRun& run) const {
    for (const Incarnation& incarnation : control_.incarnations) {
      if (incarnation.number == run.incarnation && !is_others(incarnation, run))
        return &incarnation;
    }
    return nullptr;
  }

  bool made_checkpoint_in_force(const BlockRun& run) const {
    const CheckpointManifest& checkpoint = control_.checkpoint;
    return run.incarnation == checkpoint.incarnation &&
           (checkpoint.incarnation_id == Uuid{} ||
            run.incarnation_tag == short_identity(checkpoint.incarnation_id));
  }

  // Whose blocks the run is of, if not of a start that counts or once did; else empty.
  std::string describe_stranger(const BlockRun& run) const {
    const CheckpointManifest& checkpoint = control_.checkpoint;
    // Of a start that came no further, or ended without having logged anything; or older than all
    // that is needed.
    if (run.only_begins || run.incarnation < checkpoint.incarnation || find(run) != nullptr)
      return "";
    if (made_checkpoint_in_force(run)) return "";
    std::string start = "start " + std::to_string(run.incarnation) + " of the server";
    bool others = run.incarnation == checkpoint.incarnation ||
                  std::any_of(control_.incarnations.begin(), control_.incarnations.end(),
                              [&](const Incarnation& incarnation) {
                                return incarnation.number == run.incarnation;
                              });
    if (!others) return "was written by " + start + ", of which the control file knows nothing";
    return "was written by another copy of this database: its " + start +
           " is not the one that the control file knows";
  }

  // Which epochs of the incarnation count. After `*lost`, none of the later incarnations': they
  // rest on what was lost.
  bool decide(Incarnation& incarnation, const IncarnationParts& parts, bool* lost) {
    Epoch durable = proven_epoch(control_, incarnation, parts);
    analysis_.largest_seen = std::max(
        {analysis_.largest_seen, incarnation.durable, Epoch(incarnation.first_epoch.value() - 1)});
    Epoch known = incarnation.closed
                      ? std::max(incarnation.durable, Epoch(incarnation.first_epoch.value() - 1))
                      : parts.recorded;
    if (incarnation.closed && incarnation.durable < incarnation.first_epoch)
      known = durable;  // nothing of it counts
    analysis_.incarnations.back().readable = durable;
    analysis_.incarnations.back().recorded = known;
    bool lacks = std::any_of(parts.logs.begin(), parts.logs.end(),
                             [&](const LogPart& part) { return lacks_blocks(incarnation, part); });
    if ((durable < known || lacks) && !*lost) {
      std::string message = missing_ + describe_loss(incarnation, parts, known, durable);
      if (!options_.accept_data_loss) return fail(message);
      // Rows that changed while it was made are in the logs only, in whichever version.
      if (made_checkpoint(control_, incarnation) &&
          durable < std::min(control_.checkpoint.recorded, control_.checkpoint.ended)) {
        return fail(message +
                    "\nDETAIL:  The checkpoint cannot be used without them, and there is none "
                    "before it.");
      }
      static_cast<void>(lose(message));
      *lost = true;
      incarnation.durable = durable;
    } else if (*lost) {
      incarnation.durable = Epoch(0);
    } else if (!incarnation.closed) {
      // Where nothing was logged behind the checkpoint, it ends with what a trailer before that
      // proves: empty epochs followed, and in an archive of the log nothing else tells of them.
      bool only_checkpointed =
          made_checkpoint(control_, incarnation) && durable < first_needed(control_, incarnation);
      incarnation.durable = only_checkpointed ? std::min(durable, known) : durable;
    }
    incarnation.closed = true;
    return true;
  }

  void add_ranges(const Incarnation& incarnation, const IncarnationParts& parts) {
    for (const LogPart& part : parts.logs) {
      for (const LogPart::Piece& piece : part.prefix) {
        ReplayRange range{.path = piece.scan->path,
                          .incarnation = incarnation.number,
                          .incarnation_tag = piece.run->incarnation_tag,
                          .segment = piece.scan->number,
                          .log = part.directory->log(),
                          .begin = 0,
                          .end = 0,
                          .first = first_needed(control_, incarnation),
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

  // Holds nothing that any start needs, or has to find where it is, once the control file has
  // closed whose it is. The start that made the checkpoint may have logged to other logs: an
  // archive looks for its begin block in all of them. So it does for one that later ones went on
  // from, of earlier versions though it logged nothing at all.
  bool holds_nothing(const SegmentScan& scan) const {
    return scan.result.ok() && !scan.foreign &&
           std::all_of(scan.runs.begin(), scan.runs.end(), [this](const BlockRun& run) {
             const Incarnation* incarnation = find(run);
             return run.only_begins && !made_checkpoint_in_force(run) &&
                    !is_parent(control_, run) &&
                    (incarnation == nullptr ||
                     (incarnation->closed && incarnation->durable < incarnation->first_epoch));
           });
  }

  // A log that was out when the checkpoint was made (no cut) may hold begin blocks of starts that
  // have been forgotten since and logged something, if not here: they may be archived, and numbers
  // do not come again. Not so of a start that died before anything knew of it: the next one has
  // its number, and begins in its place wherever it can.
  bool can_be_written(const SegmentScan& scan, const LogCut* cut) const {
    auto is_forgotten = [this](const BlockRun& run) {
      return find(run) == nullptr && run.incarnation <= control_.last_incarnation;
    };
    return holds_nothing(scan) &&
           (cut != nullptr || std::none_of(scan.runs.begin(), scan.runs.end(), is_forgotten));
  }

  // The newest start, whose mark it is: it is forgotten, and an older one made the newest state.
  bool logged_nothing(const ProgressMark* mark) const {
    const std::vector<Incarnation>& kept = control_.incarnations;
    const Uuid& newest = analysis_.forgotten.incarnation;
    return mark != nullptr && newest != mark->id && (!kept.empty() || newest != Uuid{}) &&
           std::ranges::find(kept, mark->id, &Incarnation::id) == kept.end();
  }

  void find_empty_segments() {
    analysis_.next_segment.assign(logs_.size(), 1);
    analysis_.empty_segments.resize(logs_.size());
    for (size_t log = 0; log < logs_.size(); ++log) {
      const LogCut* cut = control_.checkpoint.cut_of(logs_[log]->log());
      uint64_t& next = analysis_.next_segment[log];
      if (cut != nullptr || !scans_[log].empty())
        next = cut != nullptr ? cut->segment : scans_[log].front().number;
      // Of begin blocks that stand alone, one behind the other, the last one is written over: an
      // archive that has them looks at no other again.
      for (const SegmentScan& scan : scans_[log]) {
        if (!can_be_written(scan, cut)) next = scan.number + 1;
        if (!scan.runs.empty()) next = std::max(next, scan.number);
      }
      // Who accepts damage gives up what an archive has under that number; and the begin block of
      // a start that logged nothing is written over.
      if (!options_.accept_data_loss) {
        uint64_t lost = lost_segment(options_.mark, logs_[log]->log(), scans_[log]);
        if (lost != 0 && !logged_nothing(options_.mark)) ++lost;
        next = std::max(next, lost);
      }
      for (const SegmentScan& scan : scans_[log]) {
        if (scan.number < next) {
          if (&scan != &scans_[log].front()) analysis_.segment_bytes += scan.bytes;
          continue;
        }
        analysis_.empty_segments[log].push_back(scan.number);
        for (const BlockRun& run : scan.runs) analysis_.close_first |= find(run) != nullptr;
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
  std::string missing_;  // segments without which what is known to count may be there, or not
};

}  // namespace

std::string failed_log(const char* what, const std::string& path, const FileResult& result) {
  return failed_call(std::string(what) + " log segment", path, result);
}

std::string failed_call(const std::string& what, const std::string& path,
                        const FileResult& result) {
  return could_not(what, path, result) +
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
