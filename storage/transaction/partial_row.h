// Parts of rows, by their place among the row's bytes: what a transaction uses of a row, and what
// it changes of one (docs/hot_records.md). Thread safety: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/arena.h"
#include "storage/record/row_range.h"
#include "storage/record/tid_word.h"

namespace pgsilo {

// A change that depends on nothing of the row but what it changes, and not on the row's size.
struct RowPatch {
  enum class Kind : uint8_t {
    set,  // the bytes of the range become `value`
    add,  // the signed integer of 2, 4 or 8 bytes grows by `summand`
  };
  static RowPatch set(RowRange range, const char* value) { return {range, Kind::set, 0, value}; }
  static RowPatch add(RowRange range, int64_t summand) {
    return {range, Kind::add, summand, nullptr};
  }
  RowRange range;
  Kind kind;
  int64_t summand;
  const char* value;
};

// False: the row is too short for one of the patches, or a sum overflows; it is half changed then.
[[nodiscard]] bool apply_patches(std::span<const RowPatch> patches, std::span<char> row);

// What a pending version changes of the version `base`, or of what takes its place.
struct PatchedRow {
  Tid base;
  std::span<const RowPatch> patches;
  // With copies of the patches and their values. Throws std::bad_alloc.
  static const PatchedRow* make(Arena& arena, Tid base, std::span<const RowPatch> patches);
};

}  // namespace pgsilo
