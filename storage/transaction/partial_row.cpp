#include "storage/transaction/partial_row.h"

#include <algorithm>
#include <cstring>

namespace pgsilo {

namespace {

template <typename Integer>
bool add(char* to, int64_t summand) {
  Integer number;
  std::memcpy(&number, to, sizeof number);
  if (__builtin_add_overflow(number, summand, &number)) return false;
  std::memcpy(to, &number, sizeof number);
  return true;
}

bool apply(const RowPatch& patch, std::span<char> row) {
  if (size_t{patch.range.offset} + patch.range.bytes > row.size()) return false;
  char* to = row.data() + patch.range.offset;
  if (patch.kind == RowPatch::Kind::set) {
    std::memcpy(to, patch.value, patch.range.bytes);
    return true;
  }
  switch (patch.range.bytes) {
    case sizeof(int16_t):
      return add<int16_t>(to, patch.summand);
    case sizeof(int32_t):
      return add<int32_t>(to, patch.summand);
    case sizeof(int64_t):
      return add<int64_t>(to, patch.summand);
    default:
      return false;
  }
}

}  // namespace

bool apply_patches(std::span<const RowPatch> patches, std::span<char> row) {
  return std::all_of(patches.begin(), patches.end(),
                     [row](const RowPatch& patch) { return apply(patch, row); });
}

const PatchedRow* PatchedRow::make(Arena& arena, Tid base, std::span<const RowPatch> patches) {
  std::span<RowPatch> copies = arena.copy_span(patches);
  for (RowPatch& copy : copies) {
    if (copy.kind == RowPatch::Kind::set)
      copy.value = arena.copy_string({copy.value, copy.range.bytes}).data();
  }
  return arena.make<PatchedRow>(base, copies);
}

}  // namespace pgsilo
