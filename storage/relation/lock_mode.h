// PostgreSQL's lock modes: what conflicts with what, and sets of them. Thread safety: values.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pgsilo {

enum class LockMode : uint8_t {
  none,
  access_share,            // of a table: it is read
  row_share,               // rows of it are locked
  row_exclusive,           // rows of it are written
  share_update_exclusive,  // nobody else has this one
  share,                   // nobody writes it; also an advisory lock that is shared
  share_row_exclusive,     // ... and nobody else has this one
  exclusive,               // it is only read; also an advisory lock that is not shared
  access_exclusive,        // nobody else uses it

  // Row locks have four strengths, each of which conflicts with whatever the ones before it
  // conflict with.
  key_share = access_share,   // nobody deletes the row or changes its key
  for_share = row_share,      // nobody changes the row
  no_key_update = exclusive,  // ... nor shares it: the holder changes columns of no unique key
  update = access_exclusive,  // nobody else has any: the holder changes a key or deletes the row
};

// A set of modes: what one owner holds of one lock, or what many wait for.
class LockModes {
 public:
  constexpr LockModes() = default;
  constexpr LockModes(LockMode mode) : bits_(bit(mode)) {}

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool has(LockMode mode) const { return (bits_ & bit(mode)) != 0; }
  constexpr bool conflicts_with(LockMode mode) const { return (bits_ & rivals_of(mode)) != 0; }
  // Each of `others` conflicts with one of these.
  constexpr bool rule_out(LockModes others) const {
    if (bits_ == 0) return false;
    bool all = true;
    others.visit([&](LockMode other) { all &= conflicts_with(other); });
    return all;
  }
  // It keeps off everybody whom `mode` keeps off.
  constexpr bool covers(LockMode mode) const {
    uint32_t kept_off = 0;
    visit([&](LockMode held) { kept_off |= rivals_of(held); });
    return bits_ != 0 && (rivals_of(mode) & ~kept_off) == 0;
  }
  // The highest in PostgreSQL's order; none of the empty set.
  constexpr LockMode strongest() const {
    return bits_ == 0 ? LockMode::none : static_cast<LockMode>(std::bit_width(bits_) - 1);
  }

  template <typename F>
  constexpr void visit(F f) const {
    for (uint32_t left = bits_; left != 0; left &= left - 1)
      f(static_cast<LockMode>(std::countr_zero(left)));
  }

  constexpr LockModes& operator|=(LockModes other) {
    bits_ |= other.bits_;
    return *this;
  }
  constexpr void remove(LockMode mode) { bits_ &= static_cast<uint16_t>(~bit(mode)); }
  friend constexpr LockModes operator|(LockModes left, LockModes right) { return left |= right; }
  friend constexpr bool operator==(LockModes, LockModes) = default;

 private:
  static constexpr uint16_t bit(LockMode mode) {
    return mode == LockMode::none ? uint16_t{0}
                                  : static_cast<uint16_t>(1u << static_cast<unsigned>(mode));
  }
  // Modes that are next to each other.
  static constexpr uint16_t range(LockMode first, LockMode last = LockMode::access_exclusive) {
    return static_cast<uint16_t>(2 * bit(last) - bit(first));
  }
  static constexpr uint16_t rivals_of(LockMode mode) {
    using enum LockMode;
    constexpr std::array<uint16_t, 9> rivals = {
        0,
        bit(access_exclusive),
        range(exclusive),
        range(share),
        range(share_update_exclusive),
        static_cast<uint16_t>(range(row_exclusive, share_update_exclusive) |
                              range(share_row_exclusive)),
        range(row_exclusive),
        range(row_share),
        range(access_share),
    };
    return rivals[static_cast<size_t>(mode)];
  }

  uint16_t bits_ = 0;  // of mode m: 1 << m
};

constexpr bool conflict(LockMode one, LockMode other) {
  return LockModes(one).conflicts_with(other);
}

// As pg_locks and the server's log call it.
constexpr std::string_view name_of(LockMode mode) {
  constexpr std::array<std::string_view, 9> names = {"",
                                                     "AccessShareLock",
                                                     "RowShareLock",
                                                     "RowExclusiveLock",
                                                     "ShareUpdateExclusiveLock",
                                                     "ShareLock",
                                                     "ShareRowExclusiveLock",
                                                     "ExclusiveLock",
                                                     "AccessExclusiveLock"};
  return names[static_cast<size_t>(mode)];
}

}  // namespace pgsilo
