// A set of relations of one query, by their numbers. Queries join at most 64 of them.
#pragma once

#include <bit>
#include <cstdint>

namespace pgsilo {

class RelationSet {
 public:
  static constexpr int32_t capacity = 64;

  constexpr RelationSet() = default;
  static constexpr RelationSet of(int32_t relation) { return RelationSet(uint64_t{1} << relation); }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool has(int32_t relation) const { return (bits_ >> relation & 1) != 0; }
  constexpr bool contains(RelationSet other) const { return (other.bits_ & ~bits_) == 0; }
  constexpr bool overlaps(RelationSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr int size() const { return std::popcount(bits_); }
  // Precondition: not empty.
  constexpr int32_t first() const { return std::countr_zero(bits_); }

  constexpr RelationSet operator|(RelationSet other) const {
    return RelationSet(bits_ | other.bits_);
  }
  constexpr RelationSet operator&(RelationSet other) const {
    return RelationSet(bits_ & other.bits_);
  }
  constexpr RelationSet operator-(RelationSet other) const {
    return RelationSet(bits_ & ~other.bits_);
  }
  constexpr RelationSet& operator|=(RelationSet other) { return *this = *this | other; }
  friend constexpr bool operator==(RelationSet, RelationSet) = default;
  constexpr uint64_t bits() const { return bits_; }

  template <typename Visit>
  void for_each(Visit visit) const {
    for (uint64_t rest = bits_; rest != 0; rest &= rest - 1) visit(std::countr_zero(rest));
  }

 private:
  constexpr explicit RelationSet(uint64_t bits) : bits_(bits) {}
  uint64_t bits_ = 0;
};

}  // namespace pgsilo
