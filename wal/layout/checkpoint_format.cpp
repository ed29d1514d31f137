#include "wal/layout/checkpoint_format.h"

#include <algorithm>
#include <charconv>
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
constexpr size_t at_key_encoding = 60;
constexpr size_t at_row_encoding = 62;
constexpr size_t at_header_bytes = 64;
constexpr size_t at_reserved = 68;
constexpr size_t at_incarnation = 72;
constexpr size_t at_end_reserved = 88;
static_assert(at_end_reserved + 8 == block_header_bytes);
// Version 1 ended before its own length, and had zeros for the encodings.
constexpr size_t first_header_bytes = at_header_bytes;

// And of the footer, behind which its identity lies: checksum, magic, version, and length.
constexpr size_t at_footer_version = 12;
constexpr size_t oldest_footer_head_bytes = 16;
constexpr size_t footer_head_bytes = 20;

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

// --- a block's header ---

uint16_t version_of(const char* header) { return load_le16(header + at_version); }

uint64_t header_bytes_of(const char* header) {
  return version_of(header) == oldest_version ? first_header_bytes
                                              : load_le32(header + at_header_bytes);
}

// The entries as they lie in an undamaged block; none: it is no such block.
std::optional<std::string_view> stored_entries(std::string_view bytes) {
  const char* at = bytes.data();
  if (bytes.size() < block_unit || load_le32(at + at_magic) != block_magic) return std::nullopt;
  uint16_t format = version_of(at);
  if (format < oldest_version || format > version) return std::nullopt;
  uint64_t header = header_bytes_of(at);
  uint64_t stored = load_le32(at + at_stored_bytes);
  if (header < first_header_bytes || header + stored > bytes.size()) return std::nullopt;
  uint64_t checksum = checksum64(at + at_magic, header + stored - at_magic);
  if (checksum != load_le64(at + at_checksum)) return std::nullopt;
  return bytes.substr(header, stored);
}

// As far as the block tells it, `like` for the rest.
CheckpointFileIdentity identity_of(const char* header, const CheckpointFileIdentity& like) {
  CheckpointFileIdentity identity = like;
  if (load_le64(header + at_database) != short_identity(like.database)) identity.database = {};
  identity.checkpoint = load_le64(header + at_checkpoint);
  identity.file = load_le32(header + at_file);
  identity.incarnation = {};
  if (version_of(header) != oldest_version) {
    identity.incarnation = {load_le64(header + at_incarnation),
                            load_le64(header + at_incarnation + 8)};
  }
  return identity;
}

// The fields of a footer that tell whose it is, at fixed places.
CheckpointFileIdentity identity_of_footer(std::string_view bytes) {
  bool oldest = load_le32(bytes.data() + at_footer_version) == oldest_version;
  const char* at = bytes.data() + (oldest ? oldest_footer_head_bytes : footer_head_bytes);
  CheckpointFileIdentity identity;
  identity.database = {load_le64(at), load_le64(at + 8)};
  identity.checkpoint = load_le64(at + 16);
  identity.file = load_le32(at + 24);
  if (!oldest) identity.incarnation = {load_le64(at + 28), load_le64(at + 36)};
  return identity;
}

RelationEncoding encoding_of(const char* header) {
  if (version_of(header) == oldest_version) return first_encoding;
  return {load_le16(header + at_key_encoding), load_le16(header + at_row_encoding)};
}

std::string_view key_of_entry(std::string_view entries, size_t at) {
  return entries.substr(at + entry_header_bytes, load_le16(entries.data() + at + 12));
}

// --- the footer ---

void write_block(CheckedWriter& to, const CheckpointBlock& block) {
  to.u32(block.relation.value());
  to.u32(block.records);
  to.u64(block.offset);
  to.u64(block.bytes);
  to.u64(block.checksum);
  to.text(block.first_key);
  to.text(block.last_key);
  to.u64(block.smallest.value());
  to.u64(block.largest.value());
  to.u32(block.encoding.keys | uint32_t{block.encoding.rows} << 16);
}

CheckpointBlock read_oldest_block(CheckedReader& from) {
  CheckpointBlock block;
  block.relation = RelationId(from.u32());
  block.records = from.u32();
  block.offset = from.u64();
  block.bytes = from.u64();
  block.checksum = from.u64();
  block.first_key = from.text();
  block.encoding = first_encoding;
  return block;
}

CheckpointBlock read_block(CheckedReader& from) {
  CheckpointBlock block = read_oldest_block(from);
  block.last_key = from.text();
  block.smallest = Tid::from_value(from.u64());
  block.largest = Tid::from_value(from.u64());
  uint32_t encoding = from.u32();
  block.encoding = {static_cast<uint16_t>(encoding), static_cast<uint16_t>(encoding >> 16)};
  return block;
}

CheckpointFileIdentity read_identity(CheckedReader& from, bool oldest) {
  CheckedReader inside = oldest ? from : from.sized();
  CheckedReader& fields = oldest ? from : inside;
  CheckpointFileIdentity identity;
  identity.database = fields.uuid();
  identity.checkpoint = fields.u64();
  identity.file = fields.u32();
  if (!oldest) identity.incarnation = fields.uuid();
  from.join(fields);
  return identity;
}

}  // namespace

std::string CheckpointFileIdentity::name() const {
  char digits[24];
  std::snprintf(digits, sizeof digits, "-%016" PRIx64 "-%04" PRIx32, checkpoint, file & 0xffff);
  return database_name(database).append(digits).append(file_suffix);
}

bool is_checkpoint_file_name(std::string_view name, const Uuid& database) {
  return name.starts_with(database_name(database) + "-") && name.ends_with(file_suffix);
}

uint64_t checkpoint_number_in(std::string_view name) {
  constexpr size_t before = 17;  // the database's digits and the hyphen
  constexpr size_t digits = 16;
  if (name.size() < before + digits) return 0;
  uint64_t number = 0;
  const char* from = name.data() + before;
  auto [end, error] = std::from_chars(from, from + digits, number, 16);
  return error == std::errc() && end == from + digits ? number : 0;
}

void CheckpointBlockBuilder::begin(RelationId relation, RelationEncoding encoding) {
  relation_ = relation;
  encoding_ = encoding;
  records_ = 0;
  entries_.clear();
}

void CheckpointBlockBuilder::add(Tid tid, std::string_view key, std::string_view row) {
  smallest_ = records_ == 0 ? tid : std::min(smallest_, tid);
  largest_ = records_ == 0 ? tid : std::max(largest_, tid);
  last_at_ = entries_.size();
  entries_.resize(last_at_ + entry_header_bytes);
  char* to = entries_.data() + last_at_;
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
  store_le16(to + at_key_encoding, encoding_.keys);
  store_le16(to + at_row_encoding, encoding_.rows);
  store_le32(to + at_header_bytes, block_header_bytes);
  store_le32(to + at_reserved, 0);
  store_le64(to + at_incarnation, identity.incarnation.high);
  store_le64(to + at_incarnation + 8, identity.incarnation.low);
  store_le64(to + at_end_reserved, 0);
  std::memset(to + content, 0, round_up(content) - content);
  uint64_t checksum = checksum64(to + at_magic, content - at_magic);
  store_le64(to + at_checksum, checksum);
  return {.relation = relation_,
          .records = records_,
          .offset = offset,
          .bytes = round_up(content),
          .checksum = checksum,
          .encoding = encoding_,
          .first_key = std::string(key_of_entry(entries_, 0)),
          .last_key = std::string(key_of_entry(entries_, last_at_)),
          .smallest = smallest_,
          .largest = largest_};
}

bool CheckpointBlockReader::open(std::string_view bytes, const CheckpointFileIdentity& identity,
                                 const CheckpointBlock& block) {
  std::optional<std::string_view> stored = stored_entries(bytes);
  const char* at = bytes.data();
  if (!stored || load_le64(at + at_checksum) != block.checksum ||
      identity_of(at, identity) != identity) {
    return false;
  }
  bool described = load_le64(at + at_offset) == block.offset &&
                   load_le32(at + at_relation) == block.relation.value() &&
                   load_le32(at + at_records) == block.records && encoding_of(at) == block.encoding;
  left_ = block.records;
  damaged_ = false;
  return described && unpack(*stored, at);
}

bool CheckpointBlockReader::unpack(std::string_view stored, const char* header) {
  uint32_t raw_bytes = load_le32(header + at_raw_bytes);
  uint16_t compression = load_le16(header + at_compression);
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
  writer.sized([&] {
    writer.uuid(identity.database);
    writer.u64(identity.checkpoint);
    writer.u32(identity.file);
    writer.uuid(identity.incarnation);
  });
  writer.u64(footer.blocks.size());
  for (const CheckpointBlock& block : footer.blocks)
    writer.sized([&] { write_block(writer, block); });
  writer.u64(footer.row_ids.size());
  for (const RowIdFloor& floor : footer.row_ids) {
    writer.u32(floor.relation.value());
    writer.u64(floor.floor);
  }
  return writer.finish();
}

uint64_t checksum_of_footer(std::string_view footer) { return load_le64(footer.data()); }

std::optional<CheckpointFooter> decode_footer(std::string_view bytes,
                                              const CheckpointFileIdentity& identity) {
  CheckedReader reader(bytes);
  if (reader.head(footer_magic, oldest_version, version) != CheckedReader::Head::ok)
    return std::nullopt;
  bool oldest = reader.version() == oldest_version;
  if (read_identity(reader, oldest) != identity) return std::nullopt;
  CheckpointFooter footer;
  uint64_t blocks = reader.u64();
  for (uint64_t i = 0; i < blocks && reader.ok(); ++i) {
    if (oldest) {
      footer.blocks.push_back(read_oldest_block(reader));
      continue;
    }
    CheckedReader fields = reader.sized();
    footer.blocks.push_back(read_block(fields));
    reader.join(fields);
  }
  uint64_t floors = reader.u64();
  for (uint64_t i = 0; i < floors && reader.ok(); ++i) {
    RelationId relation(reader.u32());
    footer.row_ids.push_back({relation, reader.u64()});
  }
  if (!reader.complete()) return std::nullopt;
  return footer;
}

bool is_block_of_a_copy(std::string_view bytes, const CheckpointFileIdentity& identity) {
  if (!stored_entries(bytes)) return false;
  CheckpointFileIdentity found = identity_of(bytes.data(), identity);
  if (found.incarnation == identity.incarnation) return false;
  found.incarnation = identity.incarnation;
  return found == identity;
}

std::optional<CheckpointFileIdentity> claimed_identity(std::string_view bytes,
                                                       const Uuid& database) {
  if (bytes.size() < block_header_bytes) return std::nullopt;
  const char* at = bytes.data();
  uint32_t magic = load_le32(at + at_magic);
  if (magic != block_magic && magic != footer_magic) return std::nullopt;
  bool is_block = magic == block_magic;
  uint32_t format = is_block ? version_of(at) : load_le32(at + at_footer_version);
  if (format < oldest_version || format > version) return CheckpointFileIdentity{};
  if (is_block) return identity_of(at, {.database = database, .incarnation = {}});
  CheckpointFileIdentity identity = identity_of_footer(bytes);
  if (identity.database != database) identity.database = {};
  return identity;
}

uint64_t claimed_block_bytes(std::string_view bytes) {
  const char* at = bytes.data();
  if (load_le32(at + at_magic) != block_magic) return 0;
  return round_up(header_bytes_of(at) + load_le32(at + at_stored_bytes));
}

std::optional<CheckpointBlock> describe_block(std::string_view bytes,
                                              const CheckpointFileIdentity& identity,
                                              uint64_t offset) {
  if (!stored_entries(bytes)) return std::nullopt;
  const char* at = bytes.data();
  CheckpointBlock block{.relation = RelationId(load_le32(at + at_relation)),
                        .records = load_le32(at + at_records),
                        .offset = offset,
                        .bytes = bytes.size(),
                        .checksum = load_le64(at + at_checksum),
                        .encoding = encoding_of(at),
                        .first_key = {},
                        .last_key = {},
                        .smallest = {},
                        .largest = {}};
  CheckpointBlockReader reader;
  if (!reader.open(bytes, identity, block)) return std::nullopt;
  for (CheckpointEntry entry; reader.next(&entry);) {
    bool first = block.smallest == Tid();
    if (first) block.first_key = entry.key;
    block.last_key = entry.key;
    block.smallest = first ? entry.tid : std::min(block.smallest, entry.tid);
    block.largest = std::max(block.largest, entry.tid);
  }
  if (reader.damaged()) return std::nullopt;
  return block;
}

}  // namespace pgsilo
