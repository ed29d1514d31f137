#include "wal/checkpoint/checkpoint_format.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <span>

#include "base/byte_order.h"
#include "base/checksum.h"
#include "wal/layout/checked_bytes.h"

namespace pgsilo {
namespace {

using namespace checkpoint_format;

// Offsets of the block header's fields (docs/checkpoints.md).
constexpr size_t at_checksum = 0;
constexpr size_t at_magic = 8;
constexpr size_t at_version = 12;
constexpr size_t at_compression = 14;
constexpr size_t at_checkpoint = 16;
constexpr size_t at_database = 24;
constexpr size_t at_offset = 32;
constexpr size_t at_file = 40;
constexpr size_t at_relation = 44;
constexpr size_t at_records = 48;
constexpr size_t at_raw_bytes = 52;
constexpr size_t at_stored_bytes = 56;
constexpr size_t at_reserved = 60;
static_assert(at_reserved + 4 == block_header_bytes);

constexpr uint16_t not_compressed = 0;
constexpr uint16_t lz4 = 1;
constexpr std::string_view file_suffix = ".checkpoint";

uint64_t short_identity(const Uuid& database) { return database.high ^ database.low; }

// Databases may share a directory.
std::string database_name(const Uuid& database) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016" PRIx64, short_identity(database));
  return digits;
}

}  // namespace

std::string CheckpointFileIdentity::name_of_checkpoint() const {
  char digits[24];
  std::snprintf(digits, sizeof digits, "-%016" PRIx64 "-", checkpoint);
  return database_name(database).append(digits);
}

std::string CheckpointFileIdentity::name() const {
  char digits[8];
  std::snprintf(digits, sizeof digits, "%04" PRIx32, file & 0xffff);
  return name_of_checkpoint().append(digits).append(file_suffix);
}

bool is_checkpoint_file_name(std::string_view name, const Uuid& database) {
  return name.starts_with(database_name(database) + "-") && name.ends_with(file_suffix);
}

void CheckpointBlockBuilder::begin(RelationId relation) {
  relation_ = relation;
  records_ = 0;
  entries_.clear();
}

void CheckpointBlockBuilder::add(Tid tid, std::string_view key, std::string_view row) {
  if (records_ == 0) first_key_ = key;
  size_t at = entries_.size();
  entries_.resize(at + entry_header_bytes);
  char* to = entries_.data() + at;
  store_le64(to, tid.value());
  store_le32(to + 8, static_cast<uint32_t>(row.size()));
  store_le16(to + 12, static_cast<uint16_t>(key.size()));
  entries_.append(key).append(row);
  ++records_;
}

// Behind the header; the bytes it took.
size_t CheckpointBlockBuilder::store_entries(char* to, Compressor* compressor) const {
  size_t worthwhile = sealed_bytes() - block_unit;
  if (compressor != nullptr && worthwhile > block_header_bytes) {
    std::span<char> room(to + block_header_bytes, worthwhile - block_header_bytes);
    if (size_t packed = compressor->compress(entries_, room)) return packed;
  }
  std::memcpy(to + block_header_bytes, entries_.data(), entries_.size());
  return entries_.size();
}

CheckpointBlock CheckpointBlockBuilder::seal(char* to, const CheckpointFileIdentity& identity,
                                             uint64_t offset, Compressor* compressor) const {
  size_t stored = store_entries(to, compressor);
  size_t content = block_header_bytes + stored;
  store_le32(to + at_magic, block_magic);
  store_le16(to + at_version, version);
  store_le16(to + at_compression, stored == entries_.size() ? not_compressed : lz4);
  store_le64(to + at_checkpoint, identity.checkpoint);
  store_le64(to + at_database, short_identity(identity.database));
  store_le64(to + at_offset, offset);
  store_le32(to + at_file, identity.file);
  store_le32(to + at_relation, relation_.value());
  store_le32(to + at_records, records_);
  store_le32(to + at_raw_bytes, static_cast<uint32_t>(entries_.size()));
  store_le32(to + at_stored_bytes, static_cast<uint32_t>(stored));
  store_le32(to + at_reserved, 0);
  std::memset(to + content, 0, round_up(content) - content);
  uint64_t checksum = checksum64(to + at_magic, content - at_magic);
  store_le64(to + at_checksum, checksum);
  return {.relation = relation_,
          .records = records_,
          .offset = offset,
          .bytes = round_up(content),
          .checksum = checksum,
          .first_key = first_key_};
}

bool CheckpointBlockReader::open(std::string_view bytes, const CheckpointFileIdentity& identity,
                                 const CheckpointBlock& block) {
  const char* at = bytes.data();
  if (bytes.size() < block_unit || load_le32(at + at_magic) != block_magic ||
      load_le16(at + at_version) != version || load_le64(at + at_checksum) != block.checksum) {
    return false;
  }
  uint64_t stored = load_le32(at + at_stored_bytes);
  if (block_header_bytes + stored > bytes.size()) return false;
  if (checksum64(at + at_magic, block_header_bytes + stored - at_magic) != block.checksum)
    return false;
  bool belongs = load_le64(at + at_checkpoint) == identity.checkpoint &&
                 load_le64(at + at_database) == short_identity(identity.database) &&
                 load_le32(at + at_file) == identity.file &&
                 load_le64(at + at_offset) == block.offset &&
                 load_le32(at + at_relation) == block.relation.value() &&
                 load_le32(at + at_records) == block.records;
  left_ = block.records;
  damaged_ = false;
  return belongs && unpack(bytes.substr(block_header_bytes, stored), load_le32(at + at_raw_bytes),
                           load_le16(at + at_compression));
}

bool CheckpointBlockReader::unpack(std::string_view stored, uint32_t raw_bytes,
                                   uint16_t compression) {
  rest_ = stored;
  if (compression == not_compressed) return stored.size() == raw_bytes;
  if (compression != lz4) return false;
  unpacked_.resize(raw_bytes);
  rest_ = unpacked_;
  return decompress(stored, unpacked_);
}

bool CheckpointBlockReader::next(CheckpointEntry* entry) {
  if (damaged_) return false;
  if (left_ == 0) {
    damaged_ = !rest_.empty();
    return false;
  }
  damaged_ = true;
  if (rest_.size() < entry_header_bytes) return false;
  size_t row = load_le32(rest_.data() + 8);
  size_t key = load_le16(rest_.data() + 12);
  if (rest_.size() - entry_header_bytes < key + row) return false;
  entry->tid = Tid::from_value(load_le64(rest_.data()));
  entry->key = rest_.substr(entry_header_bytes, key);
  entry->row = rest_.substr(entry_header_bytes + key, row);
  rest_.remove_prefix(entry_header_bytes + key + row);
  --left_;
  damaged_ = false;
  return true;
}

std::string encode_footer(const CheckpointFooter& footer, const CheckpointFileIdentity& identity) {
  CheckedWriter writer(footer_magic, version);
  writer.uuid(identity.database);
  writer.u64(identity.checkpoint);
  writer.u32(identity.file);
  writer.u64(footer.blocks.size());
  for (const CheckpointBlock& block : footer.blocks) {
    writer.u32(block.relation.value());
    writer.u32(block.records);
    writer.u64(block.offset);
    writer.u64(block.bytes);
    writer.u64(block.checksum);
    writer.text(block.first_key);
  }
  writer.u64(footer.row_ids.size());
  for (const RowIdFloor& floor : footer.row_ids) {
    writer.u32(floor.relation.value());
    writer.u64(floor.floor);
  }
  return writer.finish();
}

std::optional<CheckpointFooter> decode_footer(std::string_view bytes,
                                              const CheckpointFileIdentity& identity) {
  CheckedReader reader(bytes);
  if (reader.head(footer_magic, version) != CheckedReader::Head::ok) return std::nullopt;
  if (reader.uuid() != identity.database || reader.u64() != identity.checkpoint ||
      reader.u32() != identity.file) {
    return std::nullopt;
  }
  CheckpointFooter footer;
  uint64_t blocks = reader.u64();
  for (uint64_t i = 0; i < blocks && reader.ok(); ++i) {
    CheckpointBlock block;
    block.relation = RelationId(reader.u32());
    block.records = reader.u32();
    block.offset = reader.u64();
    block.bytes = reader.u64();
    block.checksum = reader.u64();
    block.first_key = reader.text();
    footer.blocks.push_back(std::move(block));
  }
  uint64_t floors = reader.u64();
  for (uint64_t i = 0; i < floors && reader.ok(); ++i) {
    RelationId relation(reader.u32());
    footer.row_ids.push_back({relation, reader.u64()});
  }
  if (!reader.complete()) return std::nullopt;
  return footer;
}

}  // namespace pgsilo
