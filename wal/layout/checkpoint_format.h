// A checkpoint's bytes (docs/checkpoints.md): files of blocks, each with rows of one relation in
// the order of their keys, and a footer that lists the blocks. Thread safety: plain functions and
// values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/compression.h"
#include "base/random.h"
#include "base/strong_id.h"
#include "storage/record/tid_word.h"
#include "storage/relation/relation_encoding.h"

namespace pgsilo {

namespace checkpoint_format {
inline constexpr uint32_t block_magic = 0x42435350;   // "PSCB"
inline constexpr uint32_t footer_magic = 0x46435350;  // "PSCF"
inline constexpr uint16_t oldest_version = 1;         // knew no forks, last keys, TIDs or encodings
inline constexpr uint16_t version = 2;
inline constexpr size_t block_unit = 4096;
inline constexpr size_t block_header_bytes = 96;
inline constexpr size_t entry_header_bytes = 14;
// A block is closed when it holds so many bytes; a row that is longer has a block of its own.
inline constexpr size_t block_raw_bytes = size_t{256} << 10;

constexpr size_t round_up(size_t bytes) { return (bytes + block_unit - 1) & ~(block_unit - 1); }
}  // namespace checkpoint_format

// Whose file it is: covered by every checksum, so that a block counts nowhere else.
struct CheckpointFileIdentity {
  Uuid database;
  uint64_t checkpoint = 0;  // under which it was written
  uint32_t file = 0;
  // The incarnation that wrote it: copies of a database go on with the same numbers. None in files
  // of version 1.
  Uuid incarnation;

  bool operator==(const CheckpointFileIdentity&) const = default;
  std::string name() const;
};

// What the footer says of a block.
struct CheckpointBlock {
  RelationId relation;
  uint32_t records = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;  // on disk, padding included
  uint64_t checksum = 0;
  RelationEncoding encoding;
  std::string first_key;
  // Not known (empty, Tid()) of a file of version 1.
  std::string last_key;
  Tid smallest;
  Tid largest;
};

// Largest hidden row id of a relation that has them: rows that are gone tell it no more.
struct RowIdFloor {
  RelationId relation;
  uint64_t floor = 0;
};

struct CheckpointFooter {
  std::vector<CheckpointBlock> blocks;
  std::vector<RowIdFloor> row_ids;
};

// Collects the entries of one block.
class CheckpointBlockBuilder {
 public:
  void begin(RelationId relation, RelationEncoding encoding);
  // Keys ascend. Throws std::bad_alloc.
  void add(Tid tid, std::string_view key, std::string_view row);
  bool empty() const { return records_ == 0; }
  bool full() const { return entries_.size() >= checkpoint_format::block_raw_bytes; }
  uint32_t records() const { return records_; }
  // The most that seal() may write.
  size_t sealed_bytes() const {
    return checkpoint_format::round_up(checkpoint_format::block_header_bytes + entries_.size());
  }
  // Writes the whole block to `to`, which has room for sealed_bytes(), and describes it. Compressed
  // if there is a compressor and the block gets shorter by a unit.
  CheckpointBlock seal(char* to, const CheckpointFileIdentity& identity, uint64_t offset,
                       Compressor* compressor) const;

 private:
  size_t store_entries(char* to, Compressor* compressor) const;

  RelationId relation_;
  RelationEncoding encoding_;
  uint32_t records_ = 0;
  Tid smallest_;
  Tid largest_;
  size_t last_at_ = 0;  // the last entry, in entries_
  std::string entries_;
};

struct CheckpointEntry {
  Tid tid;
  std::string_view key;
  std::string_view row;
};

// Reads the entries of one block.
class CheckpointBlockReader {
 public:
  // `bytes` are those that the footer names. False: they are not that block, undamaged. Throws
  // std::bad_alloc.
  bool open(std::string_view bytes, const CheckpointFileIdentity& identity,
            const CheckpointBlock& block);
  // False at the end or where the bytes are malformed; then damaged() tells which.
  bool next(CheckpointEntry* entry);
  bool damaged() const { return damaged_; }

 private:
  bool unpack(std::string_view stored, const char* header);

  std::string unpacked_;
  std::string_view rest_;
  uint32_t left_ = 0;
  bool damaged_ = false;
};

std::string encode_footer(const CheckpointFooter& footer, const CheckpointFileIdentity& identity);
// By which the control file knows it.
uint64_t checksum_of_footer(std::string_view footer);
// None: damaged, of another file, or of another version.
std::optional<CheckpointFooter> decode_footer(std::string_view bytes,
                                              const CheckpointFileIdentity& identity);

// Whether the bytes begin with a block of the same name's file, undamaged, but written by another
// incarnation: a copy of the database has gone on for itself.
bool is_block_of_a_copy(std::string_view bytes, const CheckpointFileIdentity& identity);

// Whose file it is in which the block or footer at the beginning of `bytes`, a unit of the file or
// what there is of it, was written, as that says itself, damaged or not; none: neither begins
// there. Of another database, or of a version that is not known: a null database.
std::optional<CheckpointFileIdentity> claimed_identity(std::string_view bytes,
                                                       const Uuid& database);

// Where a footer is lost. How long the block that begins at `bytes`, a unit or more, says it is on
// disk, whole or not; 0: none begins there.
uint64_t claimed_block_bytes(std::string_view bytes);
// What a footer would say of the block at that offset of the file; none: it is not one, undamaged.
// Throws std::bad_alloc.
std::optional<CheckpointBlock> describe_block(std::string_view bytes,
                                              const CheckpointFileIdentity& identity,
                                              uint64_t offset);

// Whether a file of this name is a checkpoint's of that database.
bool is_checkpoint_file_name(std::string_view name, const Uuid& database);
// The number of the checkpoint in such a name; 0: there is none.
uint64_t checkpoint_number_in(std::string_view name);

}  // namespace pgsilo
