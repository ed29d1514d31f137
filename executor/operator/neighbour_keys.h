// Rows that come sorted, compared with one before them by some of their columns. Thread safety:
// none; one operator.
#pragma once

#include <span>
#include <vector>

#include "base/arena.h"
#include "executor/operator/hash_table.h"
#include "executor/row_shape.h"
#include "planner/plan/plan_node.h"

namespace pgsilo {

// The columns: slots of a child's rows, which lie in `output`.
struct CompiledNeighbourKeys {
  RowShape shape;
  KeyTypes types;

  void set(std::span<const int32_t> slots, std::span<const PlanColumn> columns,
           std::span<const Register> output) {
    for (int32_t slot : slots) {
      auto column = static_cast<size_t>(slot);
      const TypeInfo& type = type_info(columns[column].type);
      shape.registers.push_back(output[column]);
      shape.by_reference.push_back(type.by_reference);
      types.types.push_back(&type);
    }
  }
};

class NeighbourKeys {
 public:
  explicit NeighbourKeys(const CompiledNeighbourKeys& compiled)
      : compiled_(compiled), current_(compiled.shape.size()) {}

  void forget() {
    kept_ = nullptr;
    memory_.reset();
  }
  // The row in `file` is the one to compare with.
  void keep(const Datum* file) {
    memory_.reset();
    kept_ = compiled_.shape.save(file, memory_);
  }
  // Whether one is kept that the row in `file` is equal to; NULLs are.
  bool matches(const Datum* file) {
    if (kept_ == nullptr) return false;
    for (size_t i = 0; i < current_.size(); ++i) current_[i] = file[compiled_.shape.registers[i]];
    return compiled_.types.equal(kept_, current_.data());
  }

 private:
  const CompiledNeighbourKeys& compiled_;
  std::vector<Datum> current_;
  Arena memory_;
  const Datum* kept_ = nullptr;
};

}  // namespace pgsilo
