// Small files of the data directory: magic, version, content, checksum. What they hold is read
// field by field, and a field that is not there says so; or item by item, each with a tag and its
// length, so that a reader goes over what it does not know. Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_order.h"
#include "base/checksum.h"
#include "base/random.h"

namespace pgsilo {

class CheckedWriter {
 public:
  CheckedWriter(uint32_t magic, uint32_t version) {
    u64(0);  // the checksum's place
    u32(magic);
    u32(version);
  }
  void u32(uint32_t value) {
    bytes_.resize(bytes_.size() + 4);
    store_le32(bytes_.data() + bytes_.size() - 4, value);
  }
  void u64(uint64_t value) {
    bytes_.resize(bytes_.size() + 8);
    store_le64(bytes_.data() + bytes_.size() - 8, value);
  }
  void uuid(const Uuid& value) {
    u64(value.high);
    u64(value.low);
  }
  void text(std::string_view value) {
    u32(static_cast<uint32_t>(value.size()));
    bytes_.append(value);
  }
  // What `write` writes, behind its length (u32).
  template <typename Write>
  void sized(Write write) {
    size_t at = bytes_.size();
    u32(0);
    write();
    store_le32(bytes_.data() + at, static_cast<uint32_t>(bytes_.size() - at - 4));
  }
  template <typename Write>
  void item(uint32_t tag, Write write) {
    u32(tag);
    sized(write);
  }
  // With zeros.
  void pad(size_t bytes) { bytes_.resize(bytes); }
  std::string finish() {
    store_le64(bytes_.data(), checksum64(bytes_.data() + 8, bytes_.size() - 8));
    return bytes_;
  }

 private:
  std::string bytes_;
};

class CheckedReader {
 public:
  enum class Head : uint8_t { ok, damaged, other_version };

  explicit CheckedReader(std::string_view bytes) : bytes_(bytes), rest_(bytes) {}
  // Looks at magic, version and checksum; before the fields. The version is looked at first:
  // another one may have another checksum.
  Head head(uint32_t magic, uint32_t version) { return head(magic, version, version); }
  Head head(uint32_t magic, uint32_t oldest, uint32_t newest) {
    u64();
    if (u32() != magic) return Head::damaged;
    version_ = u32();
    if (!rest_ok_) return Head::damaged;
    if (version_ < oldest || version_ > newest) return Head::other_version;
    bool matches = load_le64(bytes_.data()) == checksum64(bytes_.data() + 8, bytes_.size() - 8);
    return matches ? Head::ok : Head::damaged;
  }
  // After head(), unless it said damaged.
  uint32_t version() const { return version_; }
  uint32_t u32() { return take(4) ? load_le32(taken_) : 0; }
  uint64_t u64() { return take(8) ? load_le64(taken_) : 0; }
  Uuid uuid() {
    uint64_t high = u64();
    return {high, u64()};
  }
  std::string text() { return std::string(text_view()); }
  // What CheckedWriter::sized() wrote, for fields alone. What it holds behind the fields that are
  // asked for is of a later version.
  CheckedReader sized() {
    CheckedReader inside(text_view());
    inside.version_ = version_;
    inside.rest_ok_ = rest_ok_;
    return inside;
  }
  // What was read of `inside` was missing in part: this is not whole either.
  void join(const CheckedReader& inside) { rest_ok_ = rest_ok_ && inside.rest_ok_; }
  // Whether there is another item; then it comes next, by u32() and sized().
  bool has_item() const { return rest_ok_ && !rest_.empty(); }
  // Every field was there and nothing is left.
  bool complete() const { return rest_ok_ && rest_.empty(); }
  bool ok() const { return rest_ok_; }

 private:
  std::string_view text_view() {
    uint32_t size = u32();
    return take(size) ? std::string_view(taken_, size) : std::string_view();
  }
  bool take(size_t bytes) {
    if (!rest_ok_ || rest_.size() < bytes) {
      rest_ok_ = false;
      return false;
    }
    taken_ = rest_.data();
    rest_.remove_prefix(bytes);
    return true;
  }

  std::string_view bytes_;
  std::string_view rest_;
  const char* taken_ = nullptr;
  uint32_t version_ = 0;
  bool rest_ok_ = true;
};

}  // namespace pgsilo
