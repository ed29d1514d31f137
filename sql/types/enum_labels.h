// The labels of an enum. A value of one is the position of its label: a number that the label keeps
// for ever and that orders it among the others, so that values are compared, hashed and kept as
// keys like integers and no label is looked up but to read and to print. Positions are the bits of
// pg_enum.enumsortorder, a float4, in the order of the numbers that they stand for.
// Thread safety: immutable after construction.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/types/type_oid.h"

namespace pgsilo {

struct EnumLabel {
  Oid oid = invalid_oid;  // of its row of pg_enum
  int32_t position = 0;
  std::string name;
  // Added by the transaction that looks at it.
  bool is_new = false;
};

inline int32_t enum_position(float sort_order) {
  auto bits = std::bit_cast<int32_t>(sort_order);
  return bits < 0 ? bits ^ INT32_MAX : bits;
}
inline float enum_sort_order(int32_t position) {
  return std::bit_cast<float>(position < 0 ? position ^ INT32_MAX : position);
}

class EnumLabels {
 public:
  EnumLabels() = default;
  explicit EnumLabels(std::vector<EnumLabel> labels);

  // By position.
  std::span<const EnumLabel> all() const { return labels_; }
  // Null when there is none.
  const EnumLabel* find(std::string_view name) const;
  const EnumLabel* at(int32_t position) const;

 private:
  std::vector<EnumLabel> labels_;
  std::vector<uint32_t> by_name_;  // places in labels_
};

}  // namespace pgsilo
