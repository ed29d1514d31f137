#include "wal/log/log_begin.h"

#include "base/byte_order.h"
#include "base/clock.h"
#include "wal/layout/log_format.h"

namespace pgsilo {
namespace {

enum Tag : uint16_t {
  database_tag = 1,
  incarnation_tag = 2,
  parent_tag = 3,
  first_epoch_tag = 4,
  time_tag = 5,
  segment_bytes_tag = 6,
  place_tag = 7,  // among the incarnation's logs
  compressed_tag = 8,
  writer_tag = 9,
};

// The numbers of one item.
template <typename... Numbers>
void add(std::string& to, Tag tag, Numbers... numbers) {
  constexpr size_t bytes = 8 * sizeof...(numbers);
  size_t at = to.size();
  to.resize(at + log_format::item_header_bytes + bytes);
  char* content = begin_item(to.data() + at, tag, bytes);
  ((store_le64(content, numbers), content += 8), ...);
}

class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : rest_(bytes) {}
  uint64_t next() {
    if (rest_.size() < 8) {
      ok_ = false;
      return 0;
    }
    uint64_t number = load_le64(rest_.data());
    rest_.remove_prefix(8);
    return number;
  }
  Uuid uuid() {
    uint64_t high = next();
    return {high, next()};
  }
  bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// False: malformed, or required and not known.
bool read_item(const BlockItem& item, LogBegin* begin) {
  Numbers numbers(item.content);
  switch (item.tag) {
    case database_tag:
      begin->database = numbers.uuid();
      break;
    case incarnation_tag:
      begin->incarnation = numbers.uuid();
      break;
    case parent_tag:
      begin->parent.incarnation = numbers.uuid();
      begin->parent.durable = Epoch(numbers.next());
      break;
    case first_epoch_tag:
      begin->first_epoch = Epoch(numbers.next());
      break;
    case time_tag:
      begin->unix_time_us = known_unix_time_us(numbers.next());
      break;
    case segment_bytes_tag:
      begin->segment_bytes = numbers.next();
      break;
    case place_tag:
      begin->logs = static_cast<uint32_t>(numbers.next());
      begin->index = static_cast<uint32_t>(numbers.next());
      break;
    case compressed_tag:
      begin->compressed = numbers.next() != 0;
      break;
    case writer_tag:
      begin->writer = item.content;
      break;
    default:
      return (item.tag & required_item) == 0;
  }
  return numbers.ok();
}

}  // namespace

std::string encode_log_begin(const LogBegin& begin) {
  std::string payload;
  add(payload, database_tag, begin.database.high, begin.database.low);
  add(payload, incarnation_tag, begin.incarnation.high, begin.incarnation.low);
  add(payload, parent_tag, begin.parent.incarnation.high, begin.parent.incarnation.low,
      begin.parent.durable.value());
  add(payload, first_epoch_tag, begin.first_epoch.value());
  add(payload, time_tag, begin.unix_time_us);
  add(payload, segment_bytes_tag, begin.segment_bytes);
  add(payload, place_tag, uint64_t{begin.logs}, uint64_t{begin.index});
  add(payload, compressed_tag, uint64_t{begin.compressed});
  std::string text(log_format::item_header_bytes, '\0');
  begin_item(text.data(), writer_tag, begin.writer.size());
  return payload + text + begin.writer;
}

std::optional<LogBegin> decode_log_begin(std::string_view payload) {
  LogBegin begin;
  while (!payload.empty()) {
    std::optional<BlockItem> item = take_item(&payload);
    if (!item || !read_item(*item, &begin)) return std::nullopt;
  }
  if (begin.incarnation == Uuid{}) return std::nullopt;
  return begin;
}

}  // namespace pgsilo
