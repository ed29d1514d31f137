// Integers that mean different things have different types.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace pgsilo {

// Tag is any (incomplete) type; Value an unsigned integer. Ordered, hashable, explicit both ways.
template <typename Tag, typename Value>
class StrongId {
 public:
  constexpr StrongId() = default;
  constexpr explicit StrongId(Value value) : value_(value) {}
  constexpr Value value() const { return value_; }
  friend constexpr auto operator<=>(StrongId, StrongId) = default;

 private:
  Value value_ = 0;
};

// Names one tree for ever; never reused. 0 names none.
using RelationId = StrongId<struct RelationIdTag, uint32_t>;

}  // namespace pgsilo

template <typename Tag, typename Value>
struct std::hash<pgsilo::StrongId<Tag, Value>> {
  size_t operator()(pgsilo::StrongId<Tag, Value> id) const noexcept {
    return std::hash<Value>()(id.value());
  }
};
