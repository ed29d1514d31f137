// What binding needs, for who reads trees of the catalog and has no statement of a client's.
// Thread safety: none; one call.
#pragma once

#include <optional>

#include "base/arena.h"
#include "executor/execution_context.h"
#include "planner/binder/binding.h"

namespace pgsilo {

class CatalogBinding {
 public:
  CatalogBinding(ExecutionContext& session, const TypeContext& types) : types_(types) {
    types_.arena = &memory_;
    binding_.emplace(StatementBinding{.arena = memory_,
                                      .catalog = *session.catalog,
                                      .text = {},
                                      .database_name = session.database_name,
                                      .types = types_,
                                      .parameters = {},
                                      .tables = {}});
  }
  CatalogBinding(const CatalogBinding&) = delete;
  CatalogBinding& operator=(const CatalogBinding&) = delete;

  StatementBinding& binding() { return *binding_; }
  TypeContext& types() { return types_; }
  Arena& memory() { return memory_; }

 private:
  Arena memory_;
  TypeContext types_;
  std::optional<StatementBinding> binding_;
};

}  // namespace pgsilo
