// Prints what a log holds, one line per entry of a record:
//
//   log: wal, segment: 0000000000000001, offset: 96, tid: 5.0, relation: 7, key: "k", row: "r\x00"
//   log: wal, segment: 0000000000000001, offset: 4192, tid: 6.0, relation: 7, key: "k", tombstone
//
// The offset is the record's in the segment; of a record in pieces, that of its first one. What is
// damaged is named with file and offset, and gone over. Reads only, locks nothing, and knows
// nothing of what is durable. Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "wal/layout/log_format.h"
#include "wal/log/block_payload.h"
#include "wal/tool/dump_statistics.h"

namespace pgsilo {

struct DumpOptions {
  Epoch first{};  // entries of these epochs
  Epoch last{UINT64_MAX};
  std::optional<RelationId> relation{};  // of this one only
  uint64_t limit = UINT64_MAX;           // entries
  bool blocks = false;                   // headers and trailers of blocks, too
  bool statistics = false;               // counts instead of entries and blocks
};

class LogDump {
 public:
  // `out` is written to, never closed.
  LogDump(FileSystem& files, const DumpOptions& options, std::FILE* out)
      : files_(files), options_(options), out_(out) {}

  // What follows is of this log; `name` is printed.
  void begin_log(std::string name, const Uuid& log);
  // Segments of a log in ascending order. Fails where reading does; then go on with the next.
  FileResult dump_segment(const std::string& path, uint64_t number);
  // A segment of which nothing is known but the file; the log's identity and the number are taken
  // from its name, or from its first whole block.
  FileResult dump_file(const std::string& path);
  bool limit_reached() const { return printed_ >= options_.limit; }
  // After the last segment: what is left over, and the counts.
  void finish();
  uint64_t damaged_places() const { return damaged_places_; }

 private:
  struct Place {
    const std::string* path = nullptr;
    uint64_t segment = 0;
    uint64_t offset = 0;
    uint64_t incarnation = 0;
  };

  void dump_block(const BlockView& block);
  void dump_header(const BlockView& block);
  void dump_begin(const BlockView& block, std::string_view payload);
  void dump_trailer(const BlockView& block);
  void dump_payload(Place place, std::string_view payload);
  void dump_record(const Place& place, std::string_view record);
  void dump_entry(const Place& place, Tid tid, const RedoEntry& entry);
  void add_piece(const BlockView& block, std::string_view payload);
  void drop_open_record(std::string_view why);
  FileResult dump_tail(uint64_t offset);
  void begin_line(uint64_t segment, uint64_t offset);
  void end_line();
  void incomplete(const std::string& path, uint64_t offset, std::string_view why);
  void damaged(const std::string& path, uint64_t offset, std::string_view what);

  FileSystem& files_;
  const DumpOptions options_;
  std::FILE* const out_;
  std::string name_;
  Uuid log_;
  std::string path_;  // of the segment at hand
  uint64_t number_ = 0;
  std::string line_;
  PayloadReader payloads_;
  std::string open_record_;  // pieces so far, if any
  Place open_place_;         // of the first
  std::string open_path_;
  DumpStatistics statistics_;
  uint64_t printed_ = 0;
  uint64_t damaged_places_ = 0;
};

}  // namespace pgsilo
