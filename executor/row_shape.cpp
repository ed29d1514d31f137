#include "executor/row_shape.h"

#include "sql/types/type.h"

namespace pgsilo {

bool is_by_reference(Oid type) {
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->by_reference;
}

RowShape::RowShape(std::span<const Register> slots, std::span<const PlanColumn> columns)
    : registers(slots.begin(), slots.end()) {
  by_reference.reserve(columns.size());
  for (const PlanColumn& column : columns) by_reference.push_back(is_by_reference(column.type));
}

Datum* RowShape::save(const Datum* file, Arena& arena) const {
  auto* row = static_cast<Datum*>(arena.allocate(sizeof(Datum) * size(), alignof(Datum)));
  save_to(file, row, arena);
  return row;
}

// Whole or, when memory is refused, not at all: the copies come first.
void RowShape::save_to(const Datum* file, Datum* row, Arena& arena) const {
  size_t bytes = 0;
  for (size_t i = 0; i < registers.size(); ++i) {
    const Datum& value = file[registers[i]];
    if (by_reference[i] && !value.null) bytes += value.length;
  }
  char* copies = bytes != 0 ? arena.make_span<char>(bytes).data() : nullptr;
  for (size_t i = 0; i < registers.size(); ++i) {
    const Datum& value = file[registers[i]];
    row[i] = value;
    if (!by_reference[i] || value.null) continue;
    if (value.length == 0) {  // no arguments for memcpy
      row[i].ptr = "";
      continue;
    }
    std::memcpy(copies, value.ptr, value.length);
    row[i].ptr = copies;
    copies += value.length;
  }
}

}  // namespace pgsilo
