// What goes with the things that are dropped, or keeps them from going: sequences that belong to
// them, defaults and checks that name sequences or types, columns of types, foreign keys.
#include <algorithm>
#include <ranges>
#include <set>

#include "catalog/definition/definition_steps.h"
#include "catalog/definition/domain_steps.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

bool contains(std::span<const Oid> oids, Oid oid) {
  return std::find(oids.begin(), oids.end(), oid) != oids.end();
}

}  // namespace

bool DefinitionSteps::Dropped::has_type(Oid type) const {
  return std::ranges::any_of(types, [&](const auto& each) { return each->address.oid == type; });
}

void DefinitionSteps::drop_dependents_of(std::span<const Oid> tables, bool cascade) {
  Dropped dropped;
  dropped.tables.assign(tables.begin(), tables.end());
  if (tables.size() == 1) dropped.what = shown_relation(table_of(tables[0]));
  for (Oid table : tables) {
    for (Oid sequence : owned_sequences(table)) dropped.sequences.push_back(sequence);
  }
  add_references_to(&dropped);
  drop(dropped, cascade);
}

// Of tables that stay.
void DefinitionSteps::add_references_to(Dropped* dropped) {
  for (Oid table : dropped->tables) {
    for (const IncomingReference& reference : table_of(table).referenced_by) {
      if (!contains(dropped->tables, reference.table)) dropped->references.push_back(reference);
    }
  }
}

void DefinitionSteps::drop_dependents_of(const TableDescriptor& table,
                                         const ColumnDescriptor& column, bool cascade) {
  Dropped dropped;
  dropped.what = concat("column ", column.name, " of table ", shown_name(table));
  dropped.referenced = dropped.what;
  dropped.table = table.oid;
  dropped.column = column.number;
  dropped.sequences = owned_sequences(table.oid, column.number);
  dropped.references = references_to(table, column.number, invalid_oid);
  // A foreign key that the column refers by goes with it without being asked.
  std::erase_if(dropped.references, [&](const IncomingReference& reference) {
    if (reference.table != table.oid) return false;
    const std::vector<int16_t>& columns = constraint_of(reference).columns;
    return std::find(columns.begin(), columns.end(), column.number) != columns.end();
  });
  drop(dropped, cascade);
}

void DefinitionSteps::drop_dependents_of(const TableDescriptor& table, const IndexDescriptor& index,
                                         bool cascade) {
  Dropped dropped;
  dropped.referenced = concat("index ", index.name);
  dropped.what = index.constraint == invalid_oid
                     ? dropped.referenced
                     : concat("constraint ", index.name, " on table ", shown_name(table));
  dropped.references = references_to(table, 0, index.oid);
  dropped.constraint = index.constraint;
  drop(dropped, cascade);
}

std::vector<DefinitionSteps::ExpressionUse> DefinitionSteps::remaining_uses(
    const Dropped& dropped) const {
  std::set<Oid> users;
  for (Oid sequence : dropped.sequences) {
    std::span<const Oid> of_one = view_.snapshot().sequence_users(sequence);
    users.insert(of_one.begin(), of_one.end());
  }
  for (const auto& type : dropped.types)
    view_.snapshot().for_each_type_user(type->address.oid, [&](Oid user) { users.insert(user); });
  std::vector<ExpressionUse> uses;
  for (Oid user : users) {
    if (!contains(dropped.tables, user)) add_uses_of(*view_.find_table(user), dropped, &uses);
  }
  return uses;
}

// Of columns that stay.
void DefinitionSteps::add_uses_of(const TableDescriptor& table, const Dropped& dropped,
                                  std::vector<ExpressionUse>* uses) const {
  auto goes = [&](int16_t number) {
    const ColumnDescriptor& column = table.columns[static_cast<size_t>(number) - 1];
    return (table.oid == dropped.table && number == dropped.column) ||
           (column.user_type != nullptr && dropped.has_type(column.user_type->type().oid));
  };
  auto add = [&](const ExpressionUses& named, ExpressionUse use) {
    for (Oid sequence : named.sequences) {
      if (use.sequence == invalid_oid && contains(dropped.sequences, sequence))
        use.sequence = sequence;
    }
    for (Oid type : named.types) {
      if (use.type == invalid_oid && dropped.has_type(type)) use.type = type;
    }
    if (use.sequence != invalid_oid || use.type != invalid_oid) uses->push_back(use);
  };
  for (const ColumnDescriptor& column : table.columns) {
    if (!goes(column.number)) add(column.default_value.uses, {table.oid, column.number});
  }
  for (const ConstraintDescriptor& constraint : table.constraints) {
    if (!std::ranges::any_of(constraint.columns, goes))
      add(constraint.check.uses, {table.oid, 0, constraint.oid});
  }
  for (const auto& index : table.indexes) {
    bool stays = std::ranges::none_of(table.columns, [&](const ColumnDescriptor& column) {
      return goes(column.number) && index->reads(column.number);
    });
    if (index->computes() && stays) add(index->uses(), {table.oid, 0, invalid_oid, index->oid});
  }
}

CatalogWrite::Dependent DefinitionSteps::dependent(const ExpressionUse& use) {
  const TableDescriptor& table = table_of(use.table);
  std::string object;
  if (use.index != invalid_oid) {
    object = concat("index ", table.find_index(use.index)->name);
  } else if (use.column != 0) {
    const ColumnDescriptor& column = table.columns[static_cast<size_t>(use.column) - 1];
    object = concat(column.generated ? "column " : "default value for column ", column.name);
  } else {
    object = concat("constraint ", table.find_constraint(use.constraint)->name);
  }
  std::string needed = use.sequence != invalid_oid
                           ? concat("sequence ", shown_name(table_of(use.sequence)))
                           : concat("type ", shown_type(use.type));
  if (use.index != invalid_oid) return {object, needed};
  bool is_default = use.column != 0;
  return {concat(object, is_default ? " of table " : " on table ", shown_name(table)), needed};
}

void DefinitionSteps::drop_expression(const ExpressionUse& use) {
  const TableDescriptor& table = table_of(use.table);
  if (use.column != 0) {
    const ColumnDescriptor& column = table.columns[static_cast<size_t>(use.column) - 1];
    std::string name = column.name;
    if (column.generated)
      return drop_column(use.table, name, /*if_exists=*/false, /*cascade=*/true);
    return set_default(use.table, name, {});
  }
  if (use.index != invalid_oid) {
    Draft draft = draft_of(lock_table(use.table));
    remove_index(draft, use.index);
    finish(std::move(draft));
    return;
  }
  std::string constraint = table.find_constraint(use.constraint)->name;
  drop_constraint(use.table, constraint, /*if_exists=*/false, /*cascade=*/false);
}

CatalogWrite::Dependent DefinitionSteps::dependent(const IncomingReference& reference,
                                                   const Dropped& dropped) {
  const ConstraintDescriptor& constraint = constraint_of(reference);
  const TableDescriptor& referenced = table_of(constraint.foreign_key->referenced_table);
  return {
      concat("constraint ", constraint.name, " on table ", shown_name(table_of(reference.table))),
      dropped.referenced.empty() ? concat("table ", shown_name(referenced)) : dropped.referenced};
}

// Contents come each with what depends on it.
std::vector<CatalogWrite::Dependent> DefinitionSteps::dependents_of(
    const Dropped& dropped, std::span<const ExpressionUse> uses, std::span<const TypeUse> type_uses,
    std::span<const ViewUse> view_uses, std::span<const DomainUse> domain_uses) {
  std::vector<Dependent> all;
  auto add_views = [&](Oid root) {
    for (const ViewUse& use : view_uses) {
      if (root == invalid_oid || use.root == root)
        all.push_back({shown_relation(table_of(use.view)), use.needed});
    }
  };
  for (const Dropped::Content& content : dropped.contents) {
    if (content.type != nullptr) {
      all.push_back({concat("type ", shown_type(content.type->address.oid)),
                     concat("schema ", content.schema)});
      for (const TypeUse& use : type_uses) {
        if (use.type == content.type) all.push_back(dependent(use));
      }
      for (const ExpressionUse& use : uses) {
        if (use.sequence == invalid_oid && use.type == content.type->address.oid)
          all.push_back(dependent(use));
      }
      add_views(content.type->address.oid);
      continue;
    }
    const TableDescriptor& relation = table_of(content.relation);
    all.push_back({shown_relation(relation), concat("schema ", content.schema)});
    for (const ExpressionUse& use : uses) {
      if (use.sequence == invalid_oid) continue;
      const TableDescriptor& sequence = table_of(use.sequence);
      if (sequence.oid == relation.oid || sequence.sequence->owner_table == relation.oid)
        all.push_back(dependent(use));
    }
    for (const IncomingReference& reference : dropped.references) {
      if (constraint_of(reference).foreign_key->referenced_table == relation.oid)
        all.push_back(dependent(reference, dropped));
    }
    add_views(relation.oid);
    for (Oid sequence : owned_sequences(relation.oid)) add_views(sequence);
  }
  auto columns_of = [&](auto&& is_of) {
    for (const TypeUse& use : type_uses) {
      if (is_of(use)) all.push_back(dependent(use));
    }
  };
  for (const DomainUse& use : domain_uses) {
    all.push_back(dependent(use));
    columns_of([&](const TypeUse& each) { return use.goes() && each.type == use.domain; });
  }
  if (!dropped.contents.empty()) return all;
  columns_of([&](const TypeUse& each) {
    return std::ranges::none_of(
        domain_uses, [&](const DomainUse& use) { return use.goes() && each.type == use.domain; });
  });
  for (const ExpressionUse& use : uses) all.push_back(dependent(use));
  for (const IncomingReference& reference : dropped.references)
    all.push_back(dependent(reference, dropped));
  add_views(invalid_oid);
  return all;
}

void DefinitionSteps::drop(Dropped dropped, bool cascade) {
  std::vector<DomainUse> domain_uses = remaining_domain_uses(&dropped);
  std::vector<ExpressionUse> uses = remaining_uses(dropped);
  std::vector<TypeUse> type_uses = remaining_type_uses(dropped);
  std::vector<ViewUse> view_uses = remaining_view_uses(dropped, type_uses);
  announce_drop(dropped.what, dependents_of(dropped, uses, type_uses, view_uses, domain_uses),
                cascade);
  size_t told = definition_.notices_.size();
  for (const ViewUse& use : std::views::reverse(view_uses)) remove_view(lock_table(use.view));
  for (const ExpressionUse& use : uses) {
    drop_expression(use);
    require_ok(transaction_.continue_statement());
  }
  for (const IncomingReference& reference : dropped.references) {
    require_ok(transaction_.continue_statement());
    drop_constraint(reference.table, std::string(constraint_of(reference).name),
                    /*if_exists=*/false, /*cascade=*/false);
  }
  if (!dropped.references.empty()) require_ok(transaction_.continue_statement());
  for (const TypeUse& use : type_uses) {
    // One before may have taken it along.
    drop_column(use.table, use.column, /*if_exists=*/true, /*cascade=*/true);
    require_ok(transaction_.continue_statement());
  }
  for (const DomainUse& use : domain_uses) {
    if (use.goes()) continue;
    DomainSteps(definition_)
        .drop_constraint(use.domain->address.oid, use.constraint, /*if_exists=*/false);
    require_ok(transaction_.continue_statement());
  }
  // What goes with a column goes without a word.
  definition_.notices_.resize(told);
  for (Oid sequence : dropped.sequences) remove_sequence(sequence);
  for (const auto& type : dropped.types) remove_type(*type);
}

std::vector<DefinitionSteps::DomainUse> DefinitionSteps::remaining_domain_uses(Dropped* dropped) {
  std::vector<DomainUse> uses;
  for (Oid sequence : dropped->sequences) {
    add_domain_uses({system_oid::pg_class, sequence},
                    concat("sequence ", shown_name(table_of(sequence))), dropped, &uses);
  }
  // Those that are found on the way are looked at, too.
  for (size_t i = 0; i < dropped->types.size(); ++i) {
    ObjectAddress address = dropped->types[i]->address;
    add_domain_uses(address, concat("type ", shown_type(address.oid)), dropped, &uses);
  }
  // A constraint goes with its domain without a word.
  std::erase_if(uses, [&](const DomainUse& use) {
    return !use.goes() && dropped->has_type(use.domain->address.oid);
  });
  return uses;
}

void DefinitionSteps::add_domain_uses(ObjectAddress used, const std::string& needed,
                                      Dropped* dropped, std::vector<DomainUse>* uses) {
  auto find_domain = [&](Oid oid) {
    std::shared_ptr<const TypeDescriptor> found = view_.find_type(oid);
    // Somebody made it since this transaction looked at the catalog.
    if (found == nullptr) throw EngineOutcome{TransactionStatus::conflict_record};
    static_cast<void>(type_draft(oid));  // locks it
    return found;
  };
  for (const Dependency& use : dependencies_on(used)) {
    if (use.type != 'n') continue;
    if (use.object.catalog == system_oid::pg_type) {
      if (dropped->has_type(use.object.oid)) continue;
      uses->push_back({find_domain(use.object.oid), {}, needed});
      dropped->types.push_back(uses->back().domain);
    }
    if (use.object.catalog != system_oid::pg_constraint) continue;
    for (const Dependency& of : dependencies_of(use.object)) {
      if (of.type != 'a' || dropped->has_type(of.referenced.oid)) continue;  // a table's have none
      std::shared_ptr<const TypeDescriptor> domain = find_domain(of.referenced.oid);
      for (const DomainConstraint& each : domain->domain->constraints) {
        if (each.oid == use.object.oid) uses->push_back({domain, each.name, needed});
      }
    }
  }
}

CatalogWrite::Dependent DefinitionSteps::dependent(const DomainUse& use) {
  std::string type = concat("type ", shown_type(use.domain->address.oid));
  if (use.goes()) return {type, use.needed};
  return {concat("constraint ", use.constraint), use.needed};
}

void DefinitionSteps::drop_found_types(Types types, bool cascade) {
  Dropped dropped;
  if (types.size() == 1) dropped.what = concat("type ", shown_type(types[0]->address.oid));
  dropped.types = std::move(types);
  drop(dropped, cascade);
}

std::vector<DefinitionSteps::TypeUse> DefinitionSteps::remaining_type_uses(
    const Dropped& dropped) const {
  // Those of arrays come first, as PostgreSQL lists them.
  std::vector<TypeUse> uses;
  std::vector<TypeUse> plain;
  for (const auto& type : dropped.types) {
    std::set<Oid> users;
    view_.snapshot().for_each_type_user(type->address.oid, [&](Oid user) { users.insert(user); });
    for (Oid user : users) {
      if (contains(dropped.tables, user)) continue;
      const TableDescriptor& table = *view_.find_table(user);
      if (table.kind == RelationKind::view) continue;  // its rule names the type
      for (const ColumnDescriptor& column : std::views::reverse(table.columns)) {
        if (column.user_type == nullptr || column.user_type->type().oid != type->address.oid)
          continue;
        bool is_array = column.type != type->address.oid;
        (is_array ? uses : plain).push_back({user, column.name, type});
      }
    }
  }
  uses.insert(uses.end(), plain.begin(), plain.end());
  if (dropped.column != 0) {
    const TableDescriptor& table = *view_.find_table(dropped.table);
    add_generated_from(table, table.columns[static_cast<size_t>(dropped.column) - 1], &uses);
  }
  for (size_t i = 0, count = uses.size(); i < count; ++i) {
    const TableDescriptor& table = *view_.find_table(uses[i].table);
    add_generated_from(table, *table.find_column(uses[i].column), &uses);
  }
  return uses;
}

void DefinitionSteps::add_generated_from(const TableDescriptor& table,
                                         const ColumnDescriptor& column,
                                         std::vector<TypeUse>* uses) const {
  for (const ColumnDescriptor& made : table.columns) {
    bool is_known = std::ranges::any_of(*uses, [&](const TypeUse& use) {
      return use.table == table.oid && use.column == made.name;
    });
    if (!made.is_made_of(column.number) || is_known) continue;
    uses->push_back({.table = table.oid,
                     .column = made.name,
                     .source = concat("column ", column.name, " of table ", shown_name(table))});
  }
}

CatalogWrite::Dependent DefinitionSteps::dependent(const TypeUse& use) {
  const TableDescriptor& table = table_of(use.table);
  return {concat("column ", use.column, " of table ", shown_name(table)),
          use.type == nullptr ? use.source
                              : concat("type ", shown_type(table.find_column(use.column)->type))};
}

}  // namespace pgsilo
