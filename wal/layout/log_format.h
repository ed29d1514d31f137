// The log's bytes (docs/log_format.md). A log directory holds segments; a segment is a row of
// blocks; a block holds records of redo, or a piece of a record too long for one block, and perhaps
// a trailer that closes a batch; or it begins the log of an incarnation (wal/log/log_begin.h).
// Thread safety: plain functions and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "storage/epoch/epoch.h"
#include "storage/record/tid_word.h"
#include "storage/transaction/redo_sink.h"

namespace pgsilo {

namespace log_format {
inline constexpr uint32_t block_magic = 0x474c5350;  // "PSLG"
inline constexpr uint8_t version = 5;
inline constexpr uint8_t oldest_version = 1;
inline constexpr uint8_t first_compressed_version = 2;
inline constexpr uint8_t first_marked_version = 3;   // blocks tell whether they hold catalog rows
inline constexpr uint8_t first_chained_version = 4;  // and whether the segment before does
inline constexpr uint8_t first_itemized_version =
    5;  // trailers are items, headers tell their length
// Blocks begin and end at multiples of this: no device writes less, so that a synced block is never
// rewritten in part.
inline constexpr size_t block_unit = 4096;
inline constexpr size_t block_header_bytes = 112;
inline constexpr size_t fixed_header_bytes = 96;  // of versions before 5
inline constexpr size_t raw_size_bytes = 4;       // before a compressed payload
inline constexpr size_t record_header_bytes = 16;
inline constexpr size_t entry_header_bytes = 10;
inline constexpr size_t item_header_bytes = 4;
// Of a trailer's items, all but the epochs of `last_data`.
inline constexpr size_t trailer_fixed_bytes = 2 * item_header_bytes + 16;
inline constexpr uint32_t tombstone_row = UINT32_MAX;
// Among the number of entries: some are of system relations.
inline constexpr uint32_t system_mark = uint32_t{1} << 31;
inline constexpr size_t max_loggers = 64;
inline constexpr size_t min_segment_bytes = size_t{256} << 10;
inline constexpr size_t segment_granule = size_t{64} << 10;

constexpr size_t round_up(size_t bytes) { return (bytes + block_unit - 1) & ~(block_unit - 1); }
constexpr size_t trailer_bytes(size_t loggers) { return trailer_fixed_bytes + 8 * loggers; }
// The longest block of a segment of this size.
constexpr size_t max_block_bytes(size_t segment_bytes) {
  constexpr size_t limit = size_t{1} << 20;
  return segment_bytes / 4 < limit ? segment_bytes / 4 : limit;
}
// What fits into a block beside its header and the longest trailer.
constexpr size_t max_payload_bytes(size_t segment_bytes) {
  return max_block_bytes(segment_bytes) - block_header_bytes - trailer_bytes(max_loggers);
}
}  // namespace log_format

// Where a block lies, and in whose log: covered by its checksum, so that it counts nowhere else.
struct BlockPlace {
  Uuid log;
  uint64_t segment = 0;
  uint64_t offset = 0;
};

enum class BlockKind : uint8_t {
  records = 1,  // whole records
  piece = 2,    // part of one long record
  begin = 3,    // none: the first block of an incarnation in a log
};

enum class BlockCompression : uint8_t { none = 0, lz4 = 1 };

// "Everything of my workers up to `complete` is in my log; to know that all of `complete` is
// durable, check that each logger's own last trailer reaches last_data[that logger]"
// (docs/log_format.md, Batch and trailer).
struct BatchTrailer {
  Epoch complete;
  std::vector<Epoch>
      last_data;  // by logger: the last epoch <= complete in which it had data, or a later one
  // When the batch was closed, since 1970; never before the log's trailer before. 0: not known.
  uint64_t unix_time_us = 0;
};

// What a block tells of a Uuid; 0: nothing, as the versions before 5 of an incarnation's.
uint64_t short_identity(const Uuid& uuid);

// Whose block it is: the incarnation's number and short_identity() of its id.
struct IncarnationName {
  uint64_t number = 0;
  uint64_t tag = 0;
};

struct BlockHeader {
  BlockKind kind = BlockKind::records;
  BlockCompression compression = BlockCompression::none;
  // Holds entries of system relations, or may.
  bool system = false;
  // A segment's first block: so does the segment before it in this incarnation, or may.
  bool system_before = false;
  uint64_t incarnation = 0;
  uint64_t incarnation_tag = 0;  // short_identity() of its id
  uint64_t number = 0;           // of the log in this incarnation, from 0, without gaps
  Epoch recorded_durable;        // D that trailers on disk proved when the block was submitted
  Epoch largest_epoch;           // in this segment so far, this block included
  uint64_t piece_offset = 0;
  uint64_t piece_total = 0;    // bytes of the long record
  uint32_t stored_bytes = 0;   // of the payload, as it lies in the block
  uint32_t trailer_bytes = 0;  // 0: the batch goes on
};

// A block in memory, checked.
struct BlockView {
  BlockHeader header;
  uint64_t segment = 0;
  uint64_t offset = 0;
  size_t bytes = 0;  // on disk, padding included
  size_t header_bytes = 0;
  std::string_view stored;   // the payload, perhaps compressed: PayloadReader
  size_t payload_bytes = 0;  // uncompressed
  std::optional<BatchTrailer> trailer;
};

// The largest epoch that any field of its header and trailer mentions.
Epoch largest_mentioned(const BlockView& block);

// Writes header, trailer, padding and checksum around a payload that lies at block +
// block_header_bytes already, compressed as `header` says; the sizes in it are set from the
// arguments. Returns the block's bytes; `block` has room for them.
size_t seal_block(char* block, const BlockPlace& place, BlockHeader header, size_t stored_bytes,
                  const BatchTrailer* trailer);

// How long the block that begins at `bytes` says it is on disk, whole or not; 0: no block begins
// there. `bytes` are a unit or more.
size_t claimed_bytes(std::string_view bytes);

// What the block that begins at `bytes` says of its own place, whole or not; none: no block begins
// there. Of the log's identity a block tells only as much as open_block() compares.
struct BlockClaim {
  BlockPlace place;
  bool intact = false;
};
std::optional<BlockClaim> read_claim(std::string_view bytes);

// Whether an undamaged block of another log is at the start of `bytes`: then the file is in the
// wrong directory.
bool is_foreign_block(std::string_view bytes, const Uuid& log);

// The block at the start of `bytes` if there is a whole, undamaged one that belongs to this place.
std::optional<BlockView> open_block(std::string_view bytes, const BlockPlace& place);

// --- items ---
// Of a trailer and of a begin block: tag u16, bytes u16, content. A reader goes over optional tags
// that it does not know, and takes a block with a required one that it does not know for none.
inline constexpr uint16_t required_item = 1 << 15;
struct BlockItem {
  uint16_t tag = 0;
  std::string_view content;
};
// Writes tag and length; returns where the content begins.
char* begin_item(char* to, uint16_t tag, size_t bytes);
// Takes the first item off `bytes`; none: they are malformed.
std::optional<BlockItem> take_item(std::string_view* bytes);

// --- records ---
// Bytes of a record of `entries` entries whose keys and rows have `bytes` bytes together.
constexpr size_t record_bytes(size_t entries, size_t bytes) {
  return log_format::record_header_bytes + entries * log_format::entry_header_bytes + bytes;
}
inline size_t entry_bytes(const RedoEntry& entry) {
  return log_format::entry_header_bytes + entry.key.size() + entry.row.size();
}
// Writes one record; returns its bytes.
size_t encode_record(char* to, Tid tid, std::span<const RedoEntry> entries);

struct RecordHeader {
  uint32_t bytes = 0;  // of the whole record
  uint32_t entries = 0;
  bool system = false;  // some are of system relations; false also where older servers wrote it
  Tid tid;
};
// The header at the start of `bytes`; none if they cannot hold the record.
std::optional<RecordHeader> peek_record(std::string_view bytes);

// Walks the entries of one record.
class RecordReader {
 public:
  // `record` is exactly one record.
  explicit RecordReader(std::string_view record);
  Tid tid() const { return tid_; }
  // False at the end or where the bytes are malformed; then damaged() tells which.
  bool next(RedoEntry* entry);
  bool damaged() const { return damaged_; }

 private:
  std::string_view rest_;
  uint32_t entries_left_ = 0;
  Tid tid_;
  bool damaged_ = false;
};

// --- names ---
std::string segment_name(uint64_t number);
std::optional<uint64_t> parse_segment_name(std::string_view name);
// A segment under preparation.
std::string unfinished_segment_name(uint64_t number);
bool is_unfinished_segment_name(std::string_view name);

}  // namespace pgsilo
