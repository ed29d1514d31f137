// What begin blocks tell of the starts of the server whose blocks an archive holds: up to which
// epoch each counts, for a later one says what it went on from; and whether the archive has it that
// far, for nothing else tells damage at the end of a start from its end. Thread safety: none; one
// owner. What cannot be read is told (failure()): then no answer counts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "wal/backup/archive_directory.h"
#include "wal/backup/first_blocks.h"
#include "wal/layout/control_file.h"
#include "wal/layout/log_format.h"
#include "wal/log/log_begin.h"
#include "wal/recovery/segment_scan.h"

namespace pgsilo {

class ArchivedStarts {
 public:
  // Those of an archive, and of the server it follows, whose begin blocks tell as well. `restored`:
  // where the server's history left another one, if it is a copy; there nothing was lost. `named`:
  // those that the server's control file knows yet. `had`: what was committed up to there was
  // archived once, or lies before the backup that the archive rests on. `tip`: nothing of any start
  // behind it was, but of the one that made `had` durable.
  ArchivedStarts(FileSystem& files, std::vector<FirstBlocks*> archived,
                 std::vector<FirstBlocks*> server, std::optional<HistoryPoint> restored,
                 std::vector<Incarnation> named, const ArchivedHad& had,
                 std::optional<ArchivedTip> tip)
      : files_(files),
        archived_(std::move(archived)),
        server_(std::move(server)),
        restored_(restored),
        named_(std::move(named)),
        had_(had),
        tip_(tip) {}

  // Up to which epoch the start counts that wrote `block`, as the begin block of a later one tells;
  // one before its first: nothing of it does. None: it is not known.
  std::optional<Epoch> counted(const BlockHeader& block, const LogBegin& later);
  // A start that went on from one of which neither archive nor server has a block, or the archive
  // a part and the server nothing, though some of that came behind what was had.
  struct Unfounded {
    uint64_t start = 0;
    Epoch parents;     // which it went on from
    std::string ends;  // of the logs of the part, as far as that is known
  };
  // That start or one that it rests on; none: they rest on what is known.
  std::optional<Unfounded> unfounded(const LogBegin& start);
  // The start that went on from one, of those that `later` rests on, and itself. 0: none is known.
  uint64_t heir_of(uint64_t tag, const LogBegin& later);
  // What the archive has of a start, in all of its logs.
  struct Extent {
    bool has_data = false;     // more than begin blocks
    bool has_records = false;  // in what is there, or may have had some before that
    Epoch recorded;            // as durable, by any block
  };
  Extent extent(uint64_t tag);
  // What its begin block says, in the archive or in the server.
  std::optional<LogBegin> begin_of(uint64_t tag);
  // False: the archive lacks something of the start that counts, and `*damaged` are the ends of its
  // logs, one of which is damage; empty: a log of it was never archived. All that the archive can
  // have of it, it has.
  bool holds(const BlockHeader& block, Epoch counted, std::string* damaged);
  // Whether what the archive has of a start that the control file names proves that an epoch behind
  // what was had is durable. `*ends`: of its logs.
  bool proves(const Incarnation& start, Epoch epoch, std::string* ends);

  const ReadFailure& failure() const { return failure_; }

 private:
  // What one log has of a start, as far as it tells how far the start got.
  struct Part {
    const FirstBlocks* log = nullptr;
    Epoch reaches;
    Epoch oldest;                        // of its trailers that were read
    std::vector<BatchTrailer> trailers;  // of epochs from the one that counts on
    size_t loggers = 0;                  // of the start; 0: no trailer tells
    uint64_t segment = 0;
    uint64_t end = 0;
  };
  // Which of a start's logs one is.
  struct Place {
    size_t index = 0;
    size_t logs = 1;
    Epoch first_epoch = Epoch(1);  // of the start
    bool begins = false;           // the log is there from its beginning
  };
  bool may_be_in_server(uint64_t tag);
  bool rests_on_what_was_had(const LogBegin& start);
  bool is_below_had(const HistoryPoint& state);
  // By its tag.
  static std::optional<uint64_t> oldest_in(const FirstBlocks& log);
  // None, too, if none of its segments was taken out.
  static std::optional<uint64_t> oldest_left_in(const FirstBlocks& log);
  bool is_oldest_archived(const LogBegin& start);
  bool was_pruned(const HistoryPoint& state);
  bool rests_on(const HistoryPoint& state, const LogBegin& start);
  std::optional<uint64_t> number_of(uint64_t tag);
  bool is_there_up_to(Epoch epoch, uint64_t tag, std::string* ends);
  bool scan(const FirstBlocks& log, uint64_t segment, SegmentScan* scan);
  std::optional<Part> part_in(const FirstBlocks& log, uint64_t tag, Epoch counted);
  void note_beginless(const FirstBlocks& log);
  void add_extent(const FirstBlocks& log, uint64_t tag, Extent* extent);
  const Incarnation* named(uint64_t tag) const;
  std::optional<Place> place_of(const Part& part, uint64_t tag);
  bool began_here(const Part& part, const Place& place, uint64_t tag) const;
  // False: there are more than places.
  static bool place_anywhere(std::vector<Part> anywhere, std::vector<Part>* parts);
  // By logger. False: not all of them are known, or what they prove.
  bool find_parts(uint64_t tag, Epoch counted, std::vector<Part>* parts);
  static bool any_proves(const std::vector<Part>& parts);
  bool may_lack_logs(uint64_t tag, Epoch counted, const std::vector<Part>& parts) const;
  std::string ends_of(const std::vector<Part>& parts) const;

  FileSystem& files_;
  const std::vector<FirstBlocks*> archived_;
  const std::vector<FirstBlocks*> server_;
  const std::optional<HistoryPoint> restored_;
  const std::vector<Incarnation> named_;
  const ArchivedHad had_;
  const std::optional<ArchivedTip> tip_;
  // Segments whose first block is damaged, of logs that seem to have nothing of a start.
  std::vector<std::string> beginless_;
  bool began_here_ = false;               // the start that is looked at, when the archive was there
  std::set<uint64_t> founded_;            // by tag: they rest on what is known
  std::map<uint64_t, Epoch> had_states_;  // what was had, and what that rests on, by tag
  ReadFailure failure_;
};

// Whether they were written in one start of the server.
bool same_incarnation(const BlockHeader& one, const BlockHeader& other);

}  // namespace pgsilo
