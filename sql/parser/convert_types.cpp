// CREATE and ALTER TYPE, CREATE and ALTER DOMAIN, and types as names of objects.
#include <algorithm>

#include "sql/ast/ast.h"
#include "sql/parser/tree_converter.h"
#include "sql/sql_error.h"

namespace pgsilo {

using namespace ast;

// Of an array with "[]" behind it.
NameList TreeConverter::type_words(const ::TypeName& from) {
  NameList words = names(from.names);
  if (from.arrayBounds == nullptr) return words;
  auto array = arena_.make_span<std::string_view>(words.size());
  std::copy(words.begin(), words.end(), array.begin());
  array.back() = arena_.copy_string(std::string(words.back()) + "[]");
  return array;
}

// A list of words, a type's name, or one word.
NameList TreeConverter::object_name(const PgNode* from) {
  if (from->type == T_List) return names(list_in(from));
  if (from->type == T_TypeName) return type_words(node_as<::TypeName>(from));
  std::span<std::string_view> name = arena_.make_span<std::string_view>(1);
  name[0] = string_of(from);
  return name;
}

const Node* TreeConverter::create_enum(const ::CreateEnumStmt& from) {
  auto* to = make<CreateEnumStmt>();
  to->name = names(from.typeName);
  to->labels = names(from.vals);
  return to;
}

const Node* TreeConverter::alter_enum(const ::AlterEnumStmt& from) {
  auto* to = make<AlterEnumStmt>();
  to->name = names(from.typeName);
  to->old_value = text(from.oldVal);
  to->new_value = text(from.newVal);
  to->neighbor = text(from.newValNeighbor);
  to->is_after = from.newValIsAfter != 0;
  to->if_not_exists = from.skipIfNewValExists != 0;
  return to;
}

// COMMENT ON CONSTRAINT c ON DOMAIN d: the type's name, then the constraint's.
NameList TreeConverter::domain_constraint_words(const ::List& from) {
  NameList type = type_words(node_as<::TypeName>(first_node(&from)));
  auto words = arena_.make_span<std::string_view>(type.size() + 1);
  std::copy(type.begin(), type.end(), words.begin());
  words.back() = string_of(last_node(&from));
  return words;
}

List<const Constraint*> TreeConverter::domain_constraints(const ::List* items) {
  return list<const Constraint*>(items, [this](const PgNode* item) {
    const auto& from = node_as<::Constraint>(item);
    if (from.contype >= CONSTR_ATTR_DEFERRABLE) {
      throw SqlError(sqlstate::feature_not_supported,
                     "specifying constraint deferrability not supported for domains");
    }
    return constraint(from);
  });
}

const Node* TreeConverter::create_domain(const ::CreateDomainStmt& from) {
  auto* to = make<CreateDomainStmt>();
  to->name = names(from.domainname);
  to->type = type_name(from.typeName);
  to->collate = collate_clause(from.collClause);
  to->constraints = domain_constraints(from.constraints);
  return to;
}

const Node* TreeConverter::alter_domain(const ::AlterDomainStmt& from) {
  auto* to = make<AlterDomainStmt>();
  to->name = names(from.typeName);
  to->constraint_name = text(from.name);
  to->missing_ok = from.missing_ok != 0;
  switch (from.subtype) {
    case 'T':
      to->change =
          from.def != nullptr ? AlterDomainKind::set_default : AlterDomainKind::drop_default;
      to->expression = expression(from.def);
      break;
    case 'N':
      to->change = AlterDomainKind::drop_not_null;
      break;
    case 'O':
      to->change = AlterDomainKind::set_not_null;
      break;
    case 'C':
      to->change = AlterDomainKind::add_constraint;
      to->constraint = constraint(node_as<::Constraint>(from.def));
      break;
    case 'X':
      to->change = AlterDomainKind::drop_constraint;
      break;
    default:
      to->change = AlterDomainKind::validate_constraint;
      break;
  }
  return to;
}

const Node* TreeConverter::set_schema(const ::AlterObjectSchemaStmt& from) {
  bool is_domain = from.objectType == OBJECT_DOMAIN;
  if (!is_domain && from.objectType != OBJECT_TYPE)
    return unsupported_statement("ALTER ... SET SCHEMA");
  auto* to = make<SetSchemaStmt>();
  to->object_kind = is_domain ? ObjectKind::domain : ObjectKind::type;
  to->object = names(list_in(from.object));
  to->schema = text(from.newschema);
  return to;
}

const Node* TreeConverter::change_owner(const ::AlterOwnerStmt& from) {
  bool is_domain = from.objectType == OBJECT_DOMAIN;
  if (!is_domain && from.objectType != OBJECT_TYPE)
    return unsupported_statement("ALTER ... OWNER TO");
  auto* to = make<ChangeOwnerStmt>();
  to->object_kind = is_domain ? ObjectKind::domain : ObjectKind::type;
  to->object = names(list_in(from.object));
  to->role = text(from.newowner->rolename);
  return to;
}

}  // namespace pgsilo
