// The first blocks of a log's segments, each read once: they tell which start of the server wrote
// a segment, and what that start went on from. Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "wal/layout/log_directory.h"
#include "wal/layout/log_format.h"
#include "wal/log/log_begin.h"

namespace pgsilo {

// The last read that failed, of which file or directory.
struct ReadFailure {
  FileResult result;
  std::string path;

  bool happened() const { return !result.ok(); }
  // False: it failed.
  bool note(const FileResult& read, const std::string& of) {
    if (read.ok()) return true;
    result = read;
    path = of;
    return false;
  }
};

// The first block of a segment; none: nothing was written there yet, or it is damaged. `*begin`, if
// not null: what it says if it is a begin block.
FileResult read_first_block(FileSystem& files, const LogDirectory& log, uint64_t segment,
                            std::optional<BlockHeader>* first, std::optional<LogBegin>* begin);

class FirstBlocks {
 public:
  FirstBlocks(FileSystem& files, const LogDirectory& log) : files_(files), log_(log) {}

  const LogDirectory& log() const { return log_; }

  // Lists the segments, and reads what it does not know of them. False: `failure`.
  bool look(ReadFailure* failure);
  // Looks unless it did.
  bool know(ReadFailure* failure) { return looked_ || look(failure); }

  // What one start has in this log.
  struct Start {
    uint64_t number = 0;
    std::optional<LogBegin> begin;                     // if it is there from its beginning
    std::set<uint64_t, std::greater<>> segments = {};  // the last one first
  };
  // By the tags of their ids.
  const std::map<uint64_t, Start>& starts() const { return starts_; }
  // Null: it has nothing here.
  const Start* start(uint64_t tag) const;

  // Whose each segment is, the last one first; none: its first block is not there.
  using Segments = std::map<uint64_t, std::optional<uint64_t>, std::greater<>>;
  const Segments& segments() const { return segments_; }

  // A server's: segments before that one are not kept for who copies the log.
  void set_kept_from(uint64_t segment) { kept_from_ = segment; }
  bool keeps(uint64_t tag) const;

  // Who writes the log himself says so.
  void note(uint64_t segment, const BlockHeader& first, std::optional<LogBegin> begin);
  void forget(uint64_t segment);

 private:
  bool read(uint64_t segment, ReadFailure* failure);

  FileSystem& files_;
  const LogDirectory& log_;
  bool looked_ = false;
  uint64_t kept_from_ = 0;
  Segments segments_;
  std::map<uint64_t, Start> starts_;
};

// All of several logs. False: `failure`.
bool know_all(const std::vector<FirstBlocks*>& logs, ReadFailure* failure);
// What the first of them has of a start that has anything, or its begin block. Null: none has.
const FirstBlocks::Start* start_in(const std::vector<FirstBlocks*>& logs, uint64_t tag);
const FirstBlocks::Start* begun_in(const std::vector<FirstBlocks*>& logs, uint64_t tag);

// A state of a start, by its tag.
struct StartState {
  uint64_t tag = 0;
  Epoch epoch;
};
// That one, and what each went on from, as far as the begin blocks in these logs tell.
std::vector<StartState> states_below(const std::vector<FirstBlocks*>& logs, const StartState& from);

}  // namespace pgsilo
