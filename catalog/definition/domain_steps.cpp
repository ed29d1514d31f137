#include "catalog/definition/domain_steps.h"

#include <algorithm>
#include <set>

#include "catalog/definition/object_names.h"
#include "sql/limits.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

[[noreturn]] void throw_no_constraint(const TypeDescriptor& type, std::string_view name) {
  throw SqlError(sqlstate::undefined_object,
                 concat("constraint \"", name, "\" of domain \"", type.name, "\" does not exist"));
}

const DomainConstraint& constraint_of(const TypeDescriptor& type, std::string_view name) {
  const DomainConstraint* found = type.domain->find_constraint(name);
  if (found == nullptr) throw_no_constraint(type, name);
  return *found;
}

// The type itself where `type` is one of users', or of arrays of it.
Oid user_type_of(Oid type) {
  std::shared_ptr<const UserType> found = share_user_type(type);
  return found != nullptr ? found->type().oid : invalid_oid;
}

}  // namespace

DomainDescriptor& DomainSteps::changed(TypeDescriptor& draft) {
  auto copy = std::make_shared<DomainDescriptor>(*draft.domain);
  draft.domain = copy;
  return *copy;
}

void DomainSteps::create(const DataDefinition::ObjectName& name, const DomainDefinition& from) {
  TypeDraft type = new_type(name);
  type->values = UserType::make_domain(type->address.oid, type->array_oid, type->name, from.base,
                                       from.typmod, from.collation);
  type->domain = std::make_shared<DomainDescriptor>();
  DomainDescriptor& domain = changed(*type);
  domain.base = from.base;
  domain.typmod = from.typmod;
  domain.dimensions = from.dimensions;
  domain.collation = from.collation;
  domain.not_null = from.not_null;
  domain.default_value = from.default_value;
  domain.default_text = from.default_text;
  for (const DomainConstraintDefinition& each : from.constraints)
    domain.constraints.push_back(make_constraint(*type, each));
  std::ranges::sort(domain.constraints, {}, &DomainConstraint::name);
  insert_type(type);
  insert_uses(*type);
  for (const DomainConstraint& each : type->domain->constraints)
    insert_constraint_rows(*type, each);
}

DomainConstraint DomainSteps::make_constraint(const TypeDescriptor& type,
                                              const DomainConstraintDefinition& from) {
  if (type.domain->constraints.size() >= limits::max_domain_constraints) {
    throw SqlError(
        sqlstate::program_limit_exceeded,
        concat("domains can have at most ", limits::max_domain_constraints, " CHECK constraints"));
  }
  DomainConstraint constraint;
  constraint.name = from.name;
  auto is_taken = [&](const std::string& name) {
    return type.domain->find_constraint(name) != nullptr;
  };
  if (from.name.empty()) {
    constraint.name = choose_object_name(type.name, {}, "check", is_taken);
  } else if (is_taken(from.name)) {
    throw SqlError(
        sqlstate::duplicate_object,
        concat("constraint \"", from.name, "\" for domain \"", type.name, "\" already exists"));
  }
  constraint.oid = new_oid();
  constraint.check = from.check;
  constraint.validated = !from.not_valid;
  return constraint;
}

void DomainSteps::insert_constraint_rows(const TypeDescriptor& type,
                                         const DomainConstraint& constraint) {
  ObjectAddress address{system_oid::pg_constraint, constraint.oid};
  writer_.insert(rows_.constraint(type, constraint));
  ExpressionUses uses = constraint.check.uses;
  // It goes with the domain whatever it names.
  std::erase(uses.types, type.address.oid);
  writer_.insert(rows_.dependency(address, type.address, 0, 'a'));
  steps_.insert_uses(address, uses);
}

void DomainSteps::insert_uses(const TypeDescriptor& type) {
  ExpressionUses uses = type.domain->default_value.uses;
  std::erase(uses.types, type.address.oid);
  Oid beneath = user_type_of(type.domain->base);
  if (beneath != invalid_oid && std::ranges::find(uses.types, beneath) == uses.types.end())
    uses.types.push_back(beneath);
  steps_.insert_uses(type.address, uses);
}

void DomainSteps::set_default(Oid domain, const StoredExpression& value, std::string_view text) {
  TypeDraft draft = type_draft(domain);
  DomainDescriptor& changes = changed(*draft);
  changes.default_value = value;
  changes.default_text = text;
  remove_dependencies(draft->address);
  insert_uses(*draft);
  require_ok(transaction_.continue_statement());
  finish_type(std::move(draft));
}

void DomainSteps::set_not_null(Oid domain, bool not_null, DomainValues* values) {
  TypeDraft draft = type_draft(domain);
  if (draft->domain->not_null == not_null) return;
  if (values != nullptr) visit_values(*draft, *values);
  changed(*draft).not_null = not_null;
  finish_type(std::move(draft));
}

void DomainSteps::add_constraint(Oid domain, const DomainConstraintDefinition& from,
                                 DomainValues* values) {
  TypeDraft draft = type_draft(domain);
  DomainConstraint constraint = make_constraint(*draft, from);
  if (values != nullptr) visit_values(*draft, *values);
  insert_constraint_rows(*draft, constraint);
  DomainDescriptor& changes = changed(*draft);
  changes.constraints.push_back(std::move(constraint));
  std::ranges::sort(changes.constraints, {}, &DomainConstraint::name);
  require_ok(transaction_.continue_statement());
  finish_type(std::move(draft));
}

void DomainSteps::validate_constraint(Oid domain, std::string_view name, DomainValues* values) {
  TypeDraft draft = type_draft(domain);
  if (constraint_of(*draft, name).validated) return;
  if (values != nullptr) visit_values(*draft, *values);
  for (DomainConstraint& each : changed(*draft).constraints) {
    if (each.name != name) continue;
    each.validated = true;
    writer_.update(rows_.constraint(*draft, each));
  }
  finish_type(std::move(draft));
}

void DomainSteps::drop_constraint(Oid domain, std::string_view name, bool if_exists) {
  TypeDraft draft = type_draft(domain);
  const DomainConstraint* found = draft->domain->find_constraint(name);
  if (found == nullptr) {
    if (!if_exists) throw_no_constraint(*draft, name);
    return notice(sqlstate::successful_completion,
                  concat("constraint \"", name, "\" of domain \"", draft->name,
                         "\" does not exist, skipping"));
  }
  remove_domain_constraint(*found);
  Oid oid = found->oid;
  std::erase_if(changed(*draft).constraints,
                [&](const DomainConstraint& each) { return each.oid == oid; });
  finish_type(std::move(draft));
}

void DomainSteps::rename_constraint(Oid domain, std::string_view name, std::string_view new_name) {
  TypeDraft draft = type_draft(domain);
  std::string domain_name = shown_type(domain);
  if (draft->domain->find_constraint(name) == nullptr) {
    throw SqlError(sqlstate::undefined_object,
                   concat("constraint \"", name, "\" for domain ", domain_name, " does not exist"));
  }
  if (draft->domain->find_constraint(new_name) != nullptr) {
    throw SqlError(sqlstate::duplicate_object, concat("constraint \"", new_name, "\" for domain ",
                                                      domain_name, " already exists"));
  }
  DomainDescriptor& changes = changed(*draft);
  for (DomainConstraint& each : changes.constraints) {
    if (each.name != name) continue;
    each.name = new_name;
    writer_.update(rows_.constraint(*draft, each));
  }
  std::ranges::sort(changes.constraints, {}, &DomainConstraint::name);
  finish_type(std::move(draft));
}

// Whoever makes such a column or domain, rewrites the row of this one, which is locked.
std::vector<Oid> DomainSteps::tables_of(Oid domain, std::vector<Oid>* domains) {
  std::set<Oid> tables;
  domains->push_back(domain);
  for (size_t i = 0; i < domains->size(); ++i) {
    Oid each = (*domains)[i];
    view_.snapshot().for_each_type_user(each, [&](Oid user) { tables.insert(user); });
    for (const Dependency& use : dependencies_on({system_oid::pg_type, each})) {
      if (use.object.catalog != system_oid::pg_type) continue;
      std::shared_ptr<const TypeDescriptor> above = view_.find_type(use.object.oid);
      // Somebody made it since this transaction looked at the catalog.
      if (above == nullptr) throw EngineOutcome{TransactionStatus::conflict_record};
      bool is_over = user_type_of(above->domain->base) == each;
      if (is_over && std::ranges::find(*domains, use.object.oid) == domains->end())
        domains->push_back(use.object.oid);
    }
  }
  return {tables.begin(), tables.end()};
}

void DomainSteps::visit_values(const TypeDescriptor& type, DomainValues& values) {
  std::vector<Oid> domains;
  std::vector<Oid> tables = tables_of(type.address.oid, &domains);
  // A value of one of these is one of the domain's, and not an array of such.
  auto has_values = [&](Oid of) {
    for (std::shared_ptr<const TypeDescriptor> each = view_.find_type(of); each != nullptr;
         each = view_.find_type(each->domain->base)) {
      if (each->address == type.address) return true;
      if (each->domain == nullptr) return false;
    }
    return false;
  };
  auto is_concerned = [&](const ColumnDescriptor& column) {
    return !column.dropped && column.user_type != nullptr &&
           std::ranges::find(domains, column.user_type->type().oid) != domains.end();
  };
  std::erase_if(tables,
                [&](Oid oid) { return view_.find_table(oid)->kind != RelationKind::table; });
  for (Oid oid : tables) {
    const TableDescriptor& table = steps_.lock_table(oid, {LockMode::share});
    for (const ColumnDescriptor& column : table.columns) {
      if (!is_concerned(column) || has_values(column.type)) continue;
      throw SqlError(sqlstate::feature_not_supported,
                     concat("cannot alter type \"", shown_type(type.address.oid),
                            "\" because column \"", table.name, ".", column.name, "\" uses it"));
    }
  }
  for (Oid oid : tables) {
    const TableDescriptor& table = *view_.find_table(oid);
    for (const ColumnDescriptor& column : table.columns) {
      if (!is_concerned(column)) continue;
      std::unique_ptr<RowTransform> visitor = values.visitor(table, column);
      steps_.visit_rows(oid, *visitor, /*validates=*/false);
    }
  }
}

}  // namespace pgsilo
