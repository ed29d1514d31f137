// CREATE TYPE ... AS ENUM, ALTER TYPE.
#include "catalog/named_type.h"
#include "executor/ddl/ddl_command.h"
#include "executor/ddl/type_names.h"

namespace pgsilo {

namespace {

class CreateEnum final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override { return "CREATE TYPE"; }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::CreateEnumStmt>();
    run.finish(run.definition().create_enum(object_name(run, syntax.name), syntax.labels));
  }
};

// 42704; 42809 of a type that is no enum.
const TypeDescriptor& require_enum(DdlRun& run, const ast::NameList& name) {
  const TypeDescriptor* type = find_type_descriptor(run, name);
  if (type != nullptr && type->array_name != name.back() && type->domain == nullptr) return *type;
  throw SqlError(sqlstate::wrong_object_type,
                 concat(found_type_name(run, name), " is not an enum"));
}

class AlterEnum final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override { return "ALTER TYPE"; }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::AlterEnumStmt>();
    Oid type = require_enum(run, syntax.name).address.oid;
    if (!syntax.old_value.empty()) {
      return run.finish(
          run.definition().rename_enum_value(type, syntax.old_value, syntax.new_value));
    }
    EnumValueDefinition value{syntax.new_value, syntax.neighbor, syntax.is_after};
    run.finish(run.definition().add_enum_value(type, value, syntax.if_not_exists));
  }
};

}  // namespace

std::string written_type_name(const ast::NameList& name) {
  std::string text;
  for (std::string_view part : name) text += (text.empty() ? "" : ".") + std::string(part);
  return text;
}

ast::RangeVar relation_name(std::span<const std::string_view> words) {
  ast::RangeVar name;
  name.name = words.back();
  if (words.size() > 1) name.schema_name = words[words.size() - 2];
  if (words.size() > 2) name.catalog_name = words[words.size() - 3];
  return name;
}

DataDefinition::ObjectName object_name(DdlRun& run, const ast::NameList& name) {
  ast::RangeVar written = relation_name(name);
  return {run.schema_of(written), written.name};
}

const TypeDescriptor* find_type_descriptor(DdlRun& run, const ast::NameList& name) {
  DataDefinition::ObjectName wanted = object_name(run, name);
  if (!wanted.schema.empty() && run.catalog().find_schema(wanted.schema) == nullptr)
    throw undefined_schema(wanted.schema);
  // The snapshot keeps it until the statement changes something.
  if (auto type = run.catalog().find_type(wanted.schema, wanted.name)) return type.get();
  bool is_builtin = wanted.schema.empty() || wanted.schema == "pg_catalog";
  if (is_builtin && find_type_by_name(wanted.name) != nullptr) return nullptr;
  if (run.catalog().find_table(wanted.schema, wanted.name) != nullptr) return nullptr;
  throw SqlError(sqlstate::undefined_object,
                 concat("type \"", written_type_name(name), "\" does not exist"));
}

std::unique_ptr<const UtilityCommand> make_create_enum(const PlannedOwner& planned) {
  return std::make_unique<CreateEnum>(planned);
}

std::unique_ptr<const UtilityCommand> make_alter_enum(const PlannedOwner& planned) {
  return std::make_unique<AlterEnum>(planned);
}

}  // namespace pgsilo
