#include "wal/layout/log_format.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "base/byte_order.h"
#include "base/check.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "storage/relation/system_relations.h"

namespace pgsilo {
namespace {

using namespace log_format;

// Offsets of the header's fields (docs/log_format.md).
constexpr size_t at_checksum = 0;
constexpr size_t at_magic = 8;
constexpr size_t at_version = 12;
constexpr size_t at_flags = 13;
constexpr size_t at_kind = 14;
constexpr size_t at_compression = 15;
constexpr size_t at_incarnation = 16;
constexpr size_t at_segment = 24;
constexpr size_t at_offset = 32;
constexpr size_t at_number = 40;
constexpr size_t at_stored_bytes = 48;
constexpr size_t at_trailer_bytes = 52;
constexpr size_t at_recorded_durable = 56;
constexpr size_t at_largest_epoch = 64;
constexpr size_t at_piece_offset = 72;
constexpr size_t at_piece_total = 80;
constexpr size_t at_log = 88;
static_assert(at_log + 8 == fixed_header_bytes);
constexpr size_t at_incarnation_tag = 96;
constexpr size_t at_header_bytes = 104;
constexpr size_t at_reserved = 106;
static_assert(at_reserved + 6 == block_header_bytes);

// Items of a trailer.
constexpr uint16_t complete_item = required_item | 1;
constexpr uint16_t time_item = 2;

constexpr uint8_t system_flag = 1;
constexpr uint8_t system_before_flag = 2;

constexpr std::string_view segment_suffix = ".segment";
constexpr std::string_view unfinished_suffix = ".segment.new";

uint8_t version_of(const char* block) { return static_cast<uint8_t>(block[at_version]); }

uint64_t header_bytes(const char* block) {
  return version_of(block) < first_itemized_version ? fixed_header_bytes
                                                    : load_le16(block + at_header_bytes);
}

// Without padding, as the header says.
uint64_t content_bytes(const char* block) {
  return header_bytes(block) + load_le32(block + at_stored_bytes) +
         load_le32(block + at_trailer_bytes);
}

// Content bytes of a block whose checksum is right; 0: there is none.
size_t intact_content(std::string_view bytes) {
  if (bytes.size() < block_unit) return 0;
  const char* block = bytes.data();
  if (load_le32(block + at_magic) != block_magic || version_of(block) < oldest_version ||
      version_of(block) > version) {
    return 0;
  }
  bool short_header =
      version_of(block) >= first_itemized_version && header_bytes(block) < block_header_bytes;
  uint64_t content = content_bytes(block);
  if (short_header || content > bytes.size()) return 0;
  bool right = load_le64(block + at_checksum) == checksum64(block + at_magic, content - at_magic);
  return right ? content : 0;
}

BlockCompression newest_compression(uint8_t block_version) {
  return block_version < first_compressed_version ? BlockCompression::none : BlockCompression::lz4;
}

uint8_t known_flags(uint8_t block_version) {
  if (block_version < first_marked_version) return 0;
  return block_version < first_chained_version ? system_flag : system_flag | system_before_flag;
}

uint8_t flags_of(const BlockHeader& header) {
  return static_cast<uint8_t>((header.system ? system_flag : 0) |
                              (header.system_before ? system_before_flag : 0));
}

// Uncompressed bytes of a payload that lies in a block as `stored`; none: no writer made it.
std::optional<size_t> payload_size(BlockCompression compression, std::string_view stored) {
  if (compression == BlockCompression::none) return stored.size();
  if (stored.size() < raw_size_bytes) return std::nullopt;
  size_t bytes = load_le32(stored.data());
  if (bytes > max_block_bytes(SIZE_MAX) - fixed_header_bytes) return std::nullopt;
  return bytes;
}

void write_trailer(char* to, const BatchTrailer& trailer) {
  char* at = begin_item(to, complete_item, 8 + 8 * trailer.last_data.size());
  store_le64(at, trailer.complete.value());
  for (Epoch epoch : trailer.last_data) store_le64(at += 8, epoch.value());
  store_le64(begin_item(at + 8, time_item, 8), trailer.unix_time_us);
}

// Epochs by logger.
bool read_last_data(std::string_view bytes, BatchTrailer* trailer) {
  if (bytes.size() % 8 != 0 || bytes.size() / 8 > max_loggers) return false;
  for (size_t at = 0; at < bytes.size(); at += 8)
    trailer->last_data.emplace_back(load_le64(bytes.data() + at));
  return true;
}

// Of versions before 5: complete, number of loggers, epochs.
std::optional<BatchTrailer> read_fixed_trailer(std::string_view bytes) {
  BatchTrailer trailer;
  if (bytes.size() < 16 || load_le64(bytes.data() + 8) != (bytes.size() - 16) / 8)
    return std::nullopt;
  trailer.complete = Epoch(load_le64(bytes.data()));
  if (!read_last_data(bytes.substr(16), &trailer)) return std::nullopt;
  return trailer;
}

std::optional<BatchTrailer> read_trailer(std::string_view bytes) {
  BatchTrailer trailer;
  bool has_complete = false;
  while (!bytes.empty()) {
    std::optional<BlockItem> item = take_item(&bytes);
    if (!item) return std::nullopt;
    std::string_view content = item->content;
    if (item->tag == complete_item && content.size() >= 8 && !has_complete) {
      has_complete = true;
      trailer.complete = Epoch(load_le64(content.data()));
      if (!read_last_data(content.substr(8), &trailer)) return std::nullopt;
    } else if (item->tag == time_item && content.size() == 8) {
      trailer.unix_time_us = known_unix_time_us(load_le64(content.data()));
    } else if ((item->tag & required_item) != 0) {
      return std::nullopt;
    }
  }
  if (!has_complete) return std::nullopt;
  return trailer;
}

bool is_known_kind(BlockKind kind, uint8_t block_version) {
  return kind == BlockKind::records || kind == BlockKind::piece ||
         (kind == BlockKind::begin && block_version >= first_itemized_version);
}

// None: no writer of that version made it.
std::optional<BlockHeader> read_header(const char* block) {
  auto kind = static_cast<BlockKind>(block[at_kind]);
  auto compression = static_cast<BlockCompression>(block[at_compression]);
  auto flags = static_cast<uint8_t>(block[at_flags]);
  uint8_t version = version_of(block);
  if (!is_known_kind(kind, version) || compression > newest_compression(version) ||
      (flags & ~known_flags(version)) != 0) {
    return std::nullopt;
  }
  return BlockHeader{
      .kind = kind,
      .compression = compression,
      .system = version < first_marked_version || (flags & system_flag) != 0,
      .system_before = version < first_chained_version || (flags & system_before_flag) != 0,
      .incarnation = load_le64(block + at_incarnation),
      .incarnation_tag =
          version < first_itemized_version ? 0 : load_le64(block + at_incarnation_tag),
      .number = load_le64(block + at_number),
      .recorded_durable = Epoch(load_le64(block + at_recorded_durable)),
      .largest_epoch = Epoch(load_le64(block + at_largest_epoch)),
      .piece_offset = load_le64(block + at_piece_offset),
      .piece_total = load_le64(block + at_piece_total),
      .stored_bytes = load_le32(block + at_stored_bytes),
      .trailer_bytes = load_le32(block + at_trailer_bytes)};
}

std::optional<uint64_t> parse_number(std::string_view digits) {
  if (digits.size() != 16) return std::nullopt;
  uint64_t number = 0;
  for (char digit : digits) {
    bool decimal = digit >= '0' && digit <= '9';
    if (!decimal && !(digit >= 'a' && digit <= 'f')) return std::nullopt;
    number = number << 4 | static_cast<uint64_t>(decimal ? digit - '0' : digit - 'a' + 10);
  }
  return number;
}

std::string number_name(uint64_t number, std::string_view suffix) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016" PRIx64, number);
  return std::string(digits).append(suffix);
}

}  // namespace

uint64_t short_identity(const Uuid& uuid) { return uuid.high ^ uuid.low; }

char* begin_item(char* to, uint16_t tag, size_t bytes) {
  store_le16(to, tag);
  store_le16(to + 2, static_cast<uint16_t>(bytes));
  return to + item_header_bytes;
}

std::optional<BlockItem> take_item(std::string_view* bytes) {
  if (bytes->size() < item_header_bytes) return std::nullopt;
  size_t size = load_le16(bytes->data() + 2);
  if (bytes->size() - item_header_bytes < size) return std::nullopt;
  BlockItem item{.tag = load_le16(bytes->data()),
                 .content = bytes->substr(item_header_bytes, size)};
  bytes->remove_prefix(item_header_bytes + size);
  return item;
}

size_t seal_block(char* block, const BlockPlace& place, BlockHeader header, size_t stored_bytes,
                  const BatchTrailer* trailer) {
  size_t trailer_size =
      trailer == nullptr ? 0 : log_format::trailer_bytes(trailer->last_data.size());
  size_t content = block_header_bytes + stored_bytes + trailer_size;
  size_t total = round_up(content);
  store_le32(block + at_magic, block_magic);
  block[at_version] = static_cast<char>(version);
  block[at_flags] = static_cast<char>(flags_of(header));
  block[at_kind] = static_cast<char>(header.kind);
  block[at_compression] = static_cast<char>(header.compression);
  store_le64(block + at_incarnation, header.incarnation);
  store_le64(block + at_segment, place.segment);
  store_le64(block + at_offset, place.offset);
  store_le64(block + at_number, header.number);
  store_le32(block + at_stored_bytes, static_cast<uint32_t>(stored_bytes));
  store_le32(block + at_trailer_bytes, static_cast<uint32_t>(trailer_size));
  store_le64(block + at_recorded_durable, header.recorded_durable.value());
  store_le64(block + at_largest_epoch, header.largest_epoch.value());
  store_le64(block + at_piece_offset, header.piece_offset);
  store_le64(block + at_piece_total, header.piece_total);
  store_le64(block + at_log, short_identity(place.log));
  store_le64(block + at_incarnation_tag, header.incarnation_tag);
  store_le16(block + at_header_bytes, block_header_bytes);
  std::memset(block + at_reserved, 0, block_header_bytes - at_reserved);
  if (trailer != nullptr) write_trailer(block + block_header_bytes + stored_bytes, *trailer);
  std::memset(block + content, 0, total - content);
  store_le64(block + at_checksum, checksum64(block + at_magic, content - at_magic));
  return total;
}

size_t claimed_bytes(std::string_view bytes) {
  if (bytes.size() < block_unit || load_le32(bytes.data() + at_magic) != block_magic) return 0;
  return round_up(content_bytes(bytes.data()));
}

std::optional<BlockClaim> read_claim(std::string_view bytes) {
  if (bytes.size() < block_unit || load_le32(bytes.data() + at_magic) != block_magic)
    return std::nullopt;
  BlockPlace place{.log = {.high = load_le64(bytes.data() + at_log), .low = 0},
                   .segment = load_le64(bytes.data() + at_segment),
                   .offset = load_le64(bytes.data() + at_offset)};
  return BlockClaim{.place = place, .intact = intact_content(bytes) != 0};
}

bool is_foreign_block(std::string_view bytes, const Uuid& log) {
  return intact_content(bytes) != 0 && load_le64(bytes.data() + at_log) != short_identity(log);
}

std::optional<BlockView> open_block(std::string_view bytes, const BlockPlace& place) {
  size_t content = intact_content(bytes);
  if (content == 0) return std::nullopt;
  const char* block = bytes.data();
  if (load_le64(block + at_log) != short_identity(place.log) ||
      load_le64(block + at_segment) != place.segment ||
      load_le64(block + at_offset) != place.offset) {
    return std::nullopt;
  }
  std::optional<BlockHeader> header = read_header(block);
  if (!header) return std::nullopt;
  BlockView view;
  view.header = *header;
  view.segment = place.segment;
  view.offset = place.offset;
  view.bytes = round_up(content);
  view.header_bytes = header_bytes(block);
  view.stored = bytes.substr(view.header_bytes, header->stored_bytes);
  std::optional<size_t> payload = payload_size(header->compression, view.stored);
  if (!payload) return std::nullopt;
  view.payload_bytes = *payload;
  if (header->trailer_bytes != 0) {
    std::string_view trailer =
        bytes.substr(view.header_bytes + header->stored_bytes, header->trailer_bytes);
    view.trailer = version_of(block) < first_itemized_version ? read_fixed_trailer(trailer)
                                                              : read_trailer(trailer);
    if (!view.trailer) return std::nullopt;
  }
  return view;
}

Epoch largest_mentioned(const BlockView& block) {
  Epoch largest = std::max(block.header.recorded_durable, block.header.largest_epoch);
  if (!block.trailer) return largest;
  largest = std::max(largest, block.trailer->complete);
  for (Epoch epoch : block.trailer->last_data) largest = std::max(largest, epoch);
  return largest;
}

size_t encode_record(char* to, Tid tid, std::span<const RedoEntry> entries) {
  char* at = to + record_header_bytes;
  bool system = false;
  for (const RedoEntry& entry : entries) {
    PGSILO_DCHECK(!entry.tombstone || entry.row.empty());
    system |= is_system_relation(entry.relation);
    store_le32(at, entry.relation.value());
    store_le32(at + 4, entry.tombstone ? tombstone_row : static_cast<uint32_t>(entry.row.size()));
    store_le16(at + 8, static_cast<uint16_t>(entry.key.size()));
    at += entry_header_bytes;
    std::copy(entry.key.begin(), entry.key.end(), at);
    at += entry.key.size();
    std::copy(entry.row.begin(), entry.row.end(), at);
    at += entry.row.size();
  }
  size_t bytes = static_cast<size_t>(at - to);
  store_le32(to, static_cast<uint32_t>(bytes));
  store_le32(to + 4, static_cast<uint32_t>(entries.size()) | (system ? system_mark : 0));
  store_le64(to + 8, tid.value());
  return bytes;
}

std::optional<RecordHeader> peek_record(std::string_view bytes) {
  if (bytes.size() < record_header_bytes) return std::nullopt;
  RecordHeader header{.bytes = load_le32(bytes.data()),
                      .entries = load_le32(bytes.data() + 4) & ~system_mark,
                      .system = (load_le32(bytes.data() + 4) & system_mark) != 0,
                      .tid = Tid::from_value(load_le64(bytes.data() + 8))};
  if (header.bytes < record_header_bytes || header.bytes > bytes.size()) return std::nullopt;
  return header;
}

RecordReader::RecordReader(std::string_view record) {
  std::optional<RecordHeader> header = peek_record(record);
  if (!header || header->bytes != record.size()) {
    damaged_ = true;
    return;
  }
  entries_left_ = header->entries;
  tid_ = header->tid;
  rest_ = record.substr(record_header_bytes);
}

bool RecordReader::next(RedoEntry* entry) {
  if (damaged_) return false;
  if (entries_left_ == 0) {
    damaged_ = !rest_.empty();
    return false;
  }
  damaged_ = true;
  if (rest_.size() < entry_header_bytes) return false;
  uint32_t row = load_le32(rest_.data() + 4);
  size_t key = load_le16(rest_.data() + 8);
  entry->relation = RelationId(load_le32(rest_.data()));
  entry->tombstone = row == tombstone_row;
  size_t row_bytes = entry->tombstone ? 0 : row;
  if (rest_.size() - entry_header_bytes < key + row_bytes) return false;
  entry->key = rest_.substr(entry_header_bytes, key);
  entry->row = rest_.substr(entry_header_bytes + key, row_bytes);
  rest_ = rest_.substr(entry_header_bytes + key + row_bytes);
  --entries_left_;
  damaged_ = false;
  return true;
}

std::string segment_name(uint64_t number) { return number_name(number, segment_suffix); }
std::string unfinished_segment_name(uint64_t number) {
  return number_name(number, unfinished_suffix);
}
bool is_unfinished_segment_name(std::string_view name) { return name.ends_with(unfinished_suffix); }

std::optional<uint64_t> parse_segment_name(std::string_view name) {
  if (!name.ends_with(segment_suffix)) return std::nullopt;
  return parse_number(name.substr(0, name.size() - segment_suffix.size()));
}

}  // namespace pgsilo
