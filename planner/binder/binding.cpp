#include "planner/binder/binding.h"

#include <algorithm>

#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "base/stack.h"
#include "catalog/catalog_view.h"
#include "sql/limits.h"
#include "sql/types/type.h"
#include "sql/types/user_type.h"

namespace pgsilo {

int character_position(std::string_view text, int32_t location) {
  if (location < 0 || text.empty()) return -1;
  size_t bytes = std::min(static_cast<size_t>(location), text.size());
  auto is_character_start = [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  };
  return 1 +
         static_cast<int>(std::count_if(text.begin(), text.begin() + bytes, is_character_start));
}

void StatementBinding::use_table(const TableDescriptor* table, TableUse use) {
  if (table->kind == RelationKind::view && table->is_system()) return;  // it cannot change
  auto found = std::find(tables.begin(), tables.end(), table);
  if (found == tables.end()) {
    tables.push_back(table);
    table_uses.push_back(use);
    // What its values mean is part of what is read.
    for (const ColumnDescriptor& column : table->columns) {
      if (column.user_type != nullptr) use_type(column.type);
    }
    return;
  }
  TableUse& known = table_uses[static_cast<size_t>(found - tables.begin())];
  known = std::max(known, use);
}

void StatementBinding::use_type(Oid type) {
  // Beneath a domain, and in what its expressions name, there may be many.
  std::vector<Oid> left{type};
  while (!left.empty()) {
    Oid next = left.back();
    left.pop_back();
    use_type(next, left);
  }
}

void StatementBinding::use_type(Oid type, std::vector<Oid>& named) {
  std::shared_ptr<const UserType> user_type = share_user_type(type);
  if (user_type == nullptr || !used_types.insert(user_type->type().oid).second) return;
  std::shared_ptr<const TypeDescriptor> used = catalog.find_type(user_type->type().oid);
  // Another session's, or one that was dropped and that somebody holds yet.
  if (used == nullptr) {
    throw SqlError(sqlstate::undefined_object, concat("type with OID ", type, " does not exist"));
  }
  user_types.push_back(used);
  if (used->domain == nullptr) return;
  // What decides which values it allows.
  auto name = [&](const std::vector<Oid>& types) {
    named.insert(named.end(), types.begin(), types.end());
  };
  named.push_back(used->domain->base);
  name(used->domain->default_value.uses.types);
  for (const DomainConstraint& constraint : used->domain->constraints)
    name(constraint.check.uses.types);
}

void require_stack() {
  if (!stack_has_room())
    throw SqlError(sqlstate::statement_too_complex, "stack depth limit exceeded");
}

DepthGuard::DepthGuard(StatementBinding& binding) : binding_(binding) {
  constexpr size_t node_work = 2048;
  did_work(node_work);
  if (binding.depth >= limits::max_nesting_depth) {
    throw SqlError(sqlstate::statement_too_complex, "stack depth limit exceeded");
  }
  require_stack();
  ++binding.depth;
}

std::string type_name(Oid type, int32_t typmod) {
  ByteBuffer buffer;
  format_type(type, typmod, buffer);
  return std::string(buffer.view());
}

std::string type_name(Oid type) { return format_type(type); }

}  // namespace pgsilo
