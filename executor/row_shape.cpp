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

void RowShape::save_to(const Datum* file, Datum* row, Arena& arena) const {
  for (size_t i = 0; i < registers.size(); ++i) {
    const Datum& value = file[registers[i]];
    row[i] = value;
    if (by_reference[i] && !value.null) row[i].ptr = arena.copy_string(value.bytes()).data();
  }
}

}  // namespace pgsilo
