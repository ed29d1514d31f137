// ALTER TYPE and ALTER DOMAIN: RENAME TO, SET SCHEMA, OWNER TO.
#include "catalog/named_type.h"
#include "executor/ddl/ddl_command.h"
#include "executor/ddl/type_names.h"

namespace pgsilo {

namespace {

// One that a user made; 42809 of others and of its arrays.
const TypeDescriptor& type_to_alter(DdlRun& run, ast::ObjectKind kind, const ast::NameList& name) {
  if (kind == ast::ObjectKind::domain) return domain_to_alter(run, name);
  const TypeDescriptor* type = find_type_descriptor(run, name);
  if (type != nullptr && type->array_name != name.back()) return *type;
  if (type != nullptr) {
    throw SqlError(sqlstate::wrong_object_type,
                   concat("cannot alter array type ", format_type(type->array_oid)))
        .hint(concat("You can alter type ", format_type(type->address.oid),
                     ", which will alter the array type as well."));
  }
  const TableDescriptor* table =
      run.catalog().find_table(object_name(run, name).schema, name.back());
  if (table != nullptr) {
    throw SqlError(sqlstate::wrong_object_type, concat(table->name, " is a table's row type"))
        .hint("Use ALTER TABLE instead.");
  }
  throw SqlError(sqlstate::insufficient_privilege,
                 concat("must be owner of type ", written_type_name(name)));
}

class SetSchema final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override {
    return alter_tag(syntax<ast::SetSchemaStmt>().object_kind);
  }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::SetSchemaStmt>();
    const TypeDescriptor& type = type_to_alter(run, syntax.object_kind, syntax.object);
    run.finish(run.definition().set_type_schema(type.address.oid, syntax.schema));
  }
};

// Nothing changes: there is one role that can own something.
class ChangeOwner final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override {
    return alter_tag(syntax<ast::ChangeOwnerStmt>().object_kind);
  }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::ChangeOwnerStmt>();
    require_own_role(syntax.role);
    type_to_alter(run, syntax.object_kind, syntax.object);
  }
};

}  // namespace

std::string found_type_name(DdlRun& run, const ast::NameList& name) {
  const TypeInfo* type = find_named_type(run.catalog(), name);
  return type != nullptr ? format_type(type->oid) : written_type_name(name);
}

const TypeDescriptor& require_domain(DdlRun& run, const ast::NameList& name) {
  const TypeDescriptor* type = find_type_descriptor(run, name);
  if (type != nullptr && type->array_name != name.back() && type->domain != nullptr) return *type;
  throw SqlError(sqlstate::wrong_object_type,
                 concat("\"", written_type_name(name), "\" is not a domain"));
}

const TypeDescriptor& domain_to_alter(DdlRun& run, const ast::NameList& name) {
  const TypeDescriptor* type = find_type_descriptor(run, name);
  if (type != nullptr && type->array_name != name.back() && type->domain != nullptr) return *type;
  throw SqlError(sqlstate::wrong_object_type,
                 concat(found_type_name(run, name), " is not a domain"));
}

void rename_type(DdlRun& run, const ast::RenameStmt& syntax) {
  const TypeDescriptor& type = type_to_alter(run, syntax.object_kind, syntax.object);
  run.finish(run.definition().rename_type(type.address.oid, syntax.new_name));
}

void require_own_role(std::string_view role) {
  bool is_own = role.empty() || role == "postgres";  // CURRENT_USER and its kin have no name
  if (is_own) return;
  if (role == "pg_database_owner") throw_unsupported("ALTER ... OWNER TO another role");
  throw SqlError(sqlstate::undefined_object, concat("role \"", role, "\" does not exist"));
}

std::unique_ptr<const UtilityCommand> make_set_schema(const PlannedOwner& planned) {
  return std::make_unique<SetSchema>(planned);
}

std::unique_ptr<const UtilityCommand> make_change_owner(const PlannedOwner& planned) {
  return std::make_unique<ChangeOwner>(planned);
}

}  // namespace pgsilo
