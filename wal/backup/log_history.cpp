#include "wal/backup/log_history.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "wal/log/log_begin.h"
#include "wal/log/segment_reader.h"
#include "wal/recovery/log_analyzer.h"

namespace pgsilo {
namespace {

// A start of the server, as its blocks tell.
struct Start {
  Incarnation incarnation;  // number 0: no begin block of it is there; a log without a path: not
                            // that log's
  bool has_data = false;
  bool lost_begin = false;  // a log has blocks of it, and not the first
};
// Its number and its tag: one that died before the control file named it left its number to the
// next, and its begin blocks in logs that the next one did not have.
using StartName = std::pair<uint64_t, uint64_t>;

class Extension {
 public:
  Extension(FileSystem& files, const SourceLogs& logs, BackupLabel& label, std::string& loss,
            std::string& why)
      : files_(files), logs_(logs), label_(label), loss_(loss), why_(why) {
    loss_ = logs.lost_since_archived(label.control);
  }

  bool run() {
    if (!find_starts()) return false;
    for (auto last = starts_.rbegin(); last != starts_.rend(); ++last) {
      ControlFile control = label_.control;
      if (!is_whole(last->second)) {
        tell_if_lost(last->first.first, last->second);
        continue;
      }
      if (close_up_to(last->second.incarnation, &control) && take(control)) return true;
    }
    if (stray_ && !logs_.has_archived(copied())) return is_others_history(*stray_);
    if (logs_.is_of_others(label_.control)) return is_others_history({});
    return take(label_.control) || nothing_proven();
  }

 private:
  const Incarnation& copied() const { return label_.control.incarnations.back(); }

  // Those behind the backup's.
  bool find_starts() {
    for (size_t log = 0; log < logs_.logs().size(); ++log) {
      StartName before;
      for (const SegmentScan& scan : logs_.scans()[log]) {
        for (const BlockRun& run : scan.runs) {
          if (!note(logs_.logs()[log], scan, run, &before)) return false;
        }
      }
    }
    for (const auto& [name, start] : starts_) {
      if (start.incarnation.number == 0) continue;
      by_id_.emplace(start.incarnation.id, &start);
      by_parent_.emplace(start.incarnation.parent.incarnation, &start);
    }
    return true;
  }

  // A begin block that stands alone may be of a start that died before it was named.
  // `*before`: whose blocks come before these, in the log.
  bool note(const SourceLog& log, const SegmentScan& scan, const BlockRun& run, StartName* before) {
    StartName name(run.incarnation, run.incarnation_tag);
    if (logs_.is_strangers(label_.control, run)) return true;
    bool goes_on = std::exchange(*before, name) == name;
    if (run.incarnation <= copied().number) {
      bool others =
          std::ranges::any_of(label_.control.incarnations, [&](const Incarnation& incarnation) {
            return incarnation.number == run.incarnation && is_others(incarnation, run);
          });
      return !others || run.only_begins || refuse(scan, run);
    }
    Start& start = starts_[name];
    start.lost_begin |= !goes_on && run.first_number != 0;
    if (run.first_number == 0 && !begin(log, scan, run, &start.incarnation)) return false;
    start.has_data |= !run.only_begins;
    return run.only_begins || is_the_only_one(run) || refuse(scan, run);
  }

  // Of two with a number one was never named, so it has no data; or there are two histories.
  bool is_the_only_one(const BlockRun& run) const {
    auto first = starts_.lower_bound({run.incarnation, 0});
    auto end = starts_.upper_bound({run.incarnation, UINT64_MAX});
    return std::none_of(first, end, [&](const auto& each) {
      return each.second.has_data && each.first.second != run.incarnation_tag;
    });
  }

  bool refuse(const SegmentScan& scan, const BlockRun& run) {
    why_ = written_by_another_copy(scan.path, run.incarnation);
    return false;
  }

  bool begin(const SourceLog& log, const SegmentScan& scan, const BlockRun& run,
             Incarnation* incarnation) {
    SegmentReader reader(files_, scan.path, scan.number, log.directory->log());
    FileResult result = reader.open();
    std::optional<BlockView> block;
    if (result.ok()) block = reader.next(run.begin, run.begin + log_format::block_unit);
    if (result.ok()) result = reader.result();
    if (!result.ok()) {
      why_ = failed_log("read", scan.path, result);
      return false;
    }
    std::optional<LogBegin> begin;
    if (block && block->header.kind == BlockKind::begin) begin = decode_log_begin(block->stored);
    if (!begin) return true;  // of a format that had none: nothing goes on there
    incarnation->number = run.incarnation;
    incarnation->id = begin->incarnation;
    incarnation->parent = begin->parent;
    incarnation->segment_bytes = begin->segment_bytes;
    incarnation->first_epoch = begin->first_epoch;
    incarnation->logs.resize(std::max<size_t>(incarnation->logs.size(), begin->logs));
    if (begin->index < incarnation->logs.size())
      incarnation->logs[begin->index] = {log.directory->log(), log.directory->path()};
    return true;
  }

  static bool is_named(const Incarnation& start) {
    return start.number != 0 && std::ranges::none_of(start.logs, [](const LogIdentity& log) {
             return log.path.empty();
           });
  }
  static bool is_whole(const Start& start) { return start.has_data && is_named(start.incarnation); }

  // What an archiver leaves that ended while it was copying a start is no loss: of each log the
  // beginning, or nothing, and no later start that goes on from it.
  void tell_if_lost(uint64_t number, const Start& start) {
    std::string name = "start " + std::to_string(number) + " of the server ";
    if (!start.has_data) {
      const bool is_lost = start.incarnation.number != 0 && !rests_on_what_is_there(start);
      if (is_lost && was_noted(start.incarnation)) note_lost_parent(number);
    } else if (start.lost_begin || counts(start)) {
      note_loss(name + "is not there from its beginning, in each of its logs");
    }
  }

  // Some of it does, as a later one says.
  bool counts(const Start& start) const {
    if (start.incarnation.number == 0) return false;
    auto [first, end] = by_parent_.equal_range(start.incarnation.id);
    return std::any_of(first, end, [&](const auto& later) {
      return later.second->incarnation.parent.durable >= start.incarnation.first_epoch;
    });
  }

  bool rests_on_what_is_there(const Start& start) const {
    const ControlFile& control = label_.control;
    const Uuid& parent = start.incarnation.parent.incarnation;
    return parent == control.checkpoint.incarnation_id || by_id_.contains(parent) ||
           std::ranges::find(control.incarnations, parent, &Incarnation::id) !=
               control.incarnations.end();
  }

  // The history of which `last` is the end. False: something of it is lost, which is noted.
  bool close_up_to(const Incarnation& last, ControlFile* control) {
    std::vector<Incarnation> behind = {last};
    if (!find_parents(&behind)) {
      for (const Incarnation& each : behind) lead_nowhere_.insert(each.id);
      return false;
    }
    const HistoryPoint& state = behind.back().parent;
    if (state.durable < label_.stop && state.durable < logged_by_backup()) {
      note_loss("start " + std::to_string(behind.back().number) +
                " of the server went on from epoch " + std::to_string(state.durable.value()) +
                ", and the backup has what was committed after that");
      for (const Incarnation& each : behind) lead_nowhere_.insert(each.id);
      return false;
    }
    stray_.reset();
    control->incarnations.back().closed = true;
    control->incarnations.back().durable = state.durable;
    add_lost(last.number, &behind);
    std::ranges::sort(behind, {}, &Incarnation::number);
    control->incarnations.insert(control->incarnations.end(), behind.begin(), behind.end());
    control->last_incarnation = last.number;
    return true;
  }

  // The last epoch that its start logged records in, up to its end.
  Epoch logged_by_backup() const {
    Epoch logged;
    for (const std::vector<SegmentScan>& scans : logs_.scans()) {
      for (const SegmentScan& scan : scans) {
        for (const BlockRun& run : scan.runs) {
          if (run.incarnation != copied().number || is_others(copied(), run)) continue;
          for (const BatchTrailer& trailer : run.trailers) {
            if (trailer.complete > label_.stop) continue;
            for (Epoch data : trailer.last_data) logged = std::max(logged, data);
          }
        }
      }
    }
    return logged;
  }

  // That of the backup, or what that went on from, if it had logged nothing when the backup ended.
  bool is_backups(const HistoryPoint& state) const {
    return state.incarnation == copied().id ||
           (label_.stop < copied().first_epoch && state == copied().parent);
  }

  // Of the one that is there, up to the backup's. Of those that lead nowhere it was told why.
  bool find_parents(std::vector<Incarnation>* behind) {
    for (HistoryPoint parent = behind->back().parent; !is_backups(parent);) {
      if (lead_nowhere_.contains(parent.incarnation)) return false;
      auto found = by_id_.find(parent.incarnation);
      if (found == by_id_.end()) return is_stray(*behind);
      Incarnation closed = found->second->incarnation;
      closed.closed = true;
      closed.durable = parent.durable;
      // It may have made a checkpoint and logged nothing.
      if (closed.durable < closed.first_epoch) forget_lost_logs(&closed);
      if (!is_named(closed)) return lacks_log_of(closed);
      parent = closed.parent;
      behind->push_back(std::move(closed));
    }
    return true;
  }

  // A start between may be lost, or there is none that leads to the backup's: then it is a history
  // of its own, unless older ones of the archive belong to the backup's.
  bool is_stray(const std::vector<Incarnation>& starts) {
    if (std::ranges::any_of(starts, [this](const Incarnation& each) { return was_noted(each); }))
      note_lost_parent(starts.back().number);
    stray_ = starts.back().number;
    return false;
  }

  // An archiver that was killed may have come to a log that was new before it came to the parent's.
  bool was_noted(const Incarnation& start) const { return logs_.was_noted(start.number); }

  bool is_others_history(std::optional<uint64_t> start) {
    why_ = "the archive does not go on from the backup: " +
           (start ? "start " + std::to_string(*start) + " of the server" : "what it has") +
           " rests on another state\nHINT:  A newer backup, or another archive, belongs to it.";
    return false;
  }

  bool lacks_log_of(const Incarnation& start) {
    note_loss("a log of start " + std::to_string(start.number) +
              " of the server is neither in the backup nor in the archive");
    return false;
  }

  // Starts before `last` of which nothing became durable: their blocks are there, and known.
  void add_lost(uint64_t last, std::vector<Incarnation>* behind) const {
    std::set<Uuid> counting;
    for (const Incarnation& each : *behind) counting.insert(each.id);
    for (const auto& [name, start] : starts_) {
      if (name.first >= last || !start.has_data || start.incarnation.number == 0) continue;
      if (counting.contains(start.incarnation.id)) continue;
      behind->push_back(start.incarnation);
      behind->back().closed = true;
      forget_lost_logs(&behind->back());
    }
  }

  // Of a start of which nothing counts: those of which no begin block is there, for a later start
  // has begun in its place, or they were out of the server when it was archived.
  static void forget_lost_logs(Incarnation* start) {
    std::erase_if(start->logs, [](const LogIdentity& each) { return each.path.empty(); });
  }

  // If its last start has anything that is proven. What a later one says of it counts, too.
  bool take(const ControlFile& control) {
    const Incarnation& last = control.incarnations.back();
    IncarnationParts parts = logs_.parts(control, last);
    Epoch proven = proven_epoch(control, last, parts);
    Epoch known = parts.recorded;
    auto [first, end] = by_parent_.equal_range(last.id);
    for (auto later = first; later != end; ++later) {
      proven = std::min(proven, later->second->incarnation.parent.durable);
      known = std::min(known, later->second->incarnation.parent.durable);
    }
    if (known > proven) note_loss(last, parts, known, proven);
    if (proven < last.first_epoch && last.id != copied().id) return false;
    if (proven < earliest_stop(label_)) return false;
    if (proven < label_.stop) {
      loss_ += (loss_.empty() ? "" : "\n") +
               ("the backup ended at epoch " + std::to_string(label_.stop.value()) +
                ", and its logs can be read up to epoch " + std::to_string(proven.value()));
    }
    const Epoch archived = logs_.archived_up_to();
    if (proven < archived && loss_.empty()) {
      loss_ = "all up to epoch " + std::to_string(archived.value()) +
              " was archived once, and the logs can be read up to epoch " +
              std::to_string(proven.value());
    }
    label_.control = control;
    label_.stop = proven;
    return true;
  }

  // Blocks behind a gap tell that more of it was durable, in the server. In the archive it was only
  // if an archiver had come to its end since: one that is killed leaves gaps in what it was
  // writing, and logs that reach further than others.
  void note_loss(const Incarnation& last, const IncarnationParts& parts, Epoch known,
                 Epoch proven) {
    bool is_named = !loss_.empty();
    for (const LogPart& part : parts.logs) {
      bool damaged = part.gap && logs_.was_archived(part.directory->log(), last, part.next_number);
      if (damaged && !is_named) loss_ += damaged_log(part.end_path, part.end_offset) + "\n";
    }
    if (loss_.empty() || std::exchange(is_detailed_, true)) return;
    if (is_named) loss_ += "\n";
    loss_ += "DETAIL:  Epochs up to " + std::to_string(known.value()) +
             " were durable; the logs can be read up to epoch " + std::to_string(proven.value()) +
             ".";
  }

  void note_lost_parent(uint64_t start) {
    note_loss("start " + std::to_string(start) +
              " of the server went on from a state that is not there");
  }

  // Later starts may rest on the same one.
  void note_loss(const std::string& what) {
    if (loss_.find(what) == std::string::npos) loss_ += (loss_.empty() ? "" : "\n") + what;
  }

  bool nothing_proven() {
    why_ =
        "the logs of the backup and of the archive prove no state\nHINT:  If the archive is of "
        "what "
        "came behind another backup, this one gives its own state without it.";
    return false;
  }

  FileSystem& files_;
  const SourceLogs& logs_;
  BackupLabel& label_;
  std::string& loss_;
  std::string& why_;
  std::map<StartName, Start> starts_;
  // Of starts_, those of which a begin block is there.
  std::map<Uuid, const Start*> by_id_;
  std::multimap<Uuid, const Start*> by_parent_;
  std::set<Uuid> lead_nowhere_;    // by parents that are lost
  std::optional<uint64_t> stray_;  // a start whose parents do not lead to the backup's
  bool is_detailed_ = false;       // loss_ tells epochs
};

}  // namespace

bool extend_label(FileSystem& files, const SourceLogs& logs, BackupLabel* label, std::string* loss,
                  std::string* why) {
  return Extension(files, logs, *label, *loss, *why).run();
}

void end_label_at(Epoch epoch, uint64_t copied, BackupLabel* label) {
  std::vector<Incarnation>& incarnations = label->control.incarnations;
  auto comes_later = [&](const Incarnation& last) {
    bool counts = !last.closed || last.durable >= last.first_epoch;
    return last.number > copied && (last.first_epoch > epoch || !counts);
  };
  while (comes_later(incarnations.back())) incarnations.pop_back();
  const Incarnation& last = incarnations.back();
  label->stop = last.closed ? std::min(epoch, last.durable) : epoch;
}

}  // namespace pgsilo
