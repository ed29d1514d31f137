// Rows as sets of registers, and how they are taken out of the register file and put back.
// Thread safety: immutable after construction.
#pragma once

#include <span>
#include <vector>

#include "base/arena.h"
#include "executor/expression/expression_program.h"
#include "planner/plan/plan_node.h"

namespace pgsilo {

// Which registers make up a row and which of their values live elsewhere.
struct RowShape {
  std::vector<Register> registers;
  std::vector<bool> by_reference;

  RowShape() = default;
  RowShape(std::span<const Register> slots, std::span<const PlanColumn> columns);

  size_t size() const { return registers.size(); }
  // A copy of the row, its by-reference values included, in `arena`.
  Datum* save(const Datum* file, Arena& arena) const;
  // The same into memory for size() Datums.
  void save_to(const Datum* file, Datum* row, Arena& arena) const;
  void restore(const Datum* row, Datum* file) const {
    for (size_t i = 0; i < registers.size(); ++i) file[registers[i]] = row[i];
  }
  void set_null(Datum* file) const {
    for (Register index : registers) file[index] = Datum();
  }
};

// Whether values of a plan column are by reference; a row handle is not.
bool is_by_reference(Oid type);

}  // namespace pgsilo
