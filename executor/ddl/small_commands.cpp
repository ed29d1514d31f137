// TRUNCATE, CREATE SCHEMA, ALTER ... RENAME.
#include <algorithm>

#include "executor/ddl/ddl_command.h"
#include "executor/ddl/statistics.h"
#include "executor/ddl/type_names.h"

namespace pgsilo {

namespace {

class Truncate final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override { return "TRUNCATE TABLE"; }

 private:
  void execute(DdlRun& run) const override {
    std::vector<Oid> tables;
    for (const ast::RangeVar* name : syntax<ast::TruncateStmt>().relations) {
      const TableDescriptor& table = *run.find_table(*name);
      run.refuse_foreign_temporary(table, "truncate");
      run.refuse_in_use(table, "TRUNCATE");
      Oid oid = table.oid;
      if (std::find(tables.begin(), tables.end(), oid) == tables.end()) tables.push_back(oid);
    }
    const auto& syntax = this->syntax<ast::TruncateStmt>();
    run.finish(run.definition().truncate(tables, syntax.restart_identity,
                                         syntax.behavior == ast::DropBehavior::cascade));
  }
};

class CreateSchema final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override { return "CREATE SCHEMA"; }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::CreateSchemaStmt>();
    if (syntax.has_elements) throw_unsupported("CREATE SCHEMA with schema elements");
    run.finish(run.definition().create_schema(syntax.name, syntax.if_not_exists));
  }
};

class Rename final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override {
    const auto& syntax = this->syntax<ast::RenameStmt>();
    bool is_column = syntax.object_kind == ast::ObjectKind::column;
    return alter_tag(is_column ? syntax.relation_kind : syntax.object_kind);
  }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::RenameStmt>();
    if (syntax.object_kind == ast::ObjectKind::statistics) return rename_statistics(run, syntax);
    if (syntax.object_kind == ast::ObjectKind::type ||
        syntax.object_kind == ast::ObjectKind::domain)
      return rename_type(run, syntax);
    if (syntax.object_kind == ast::ObjectKind::domain_constraint) {
      return run.finish(run.definition().rename_domain_constraint(
          domain_to_alter(run, syntax.object).address.oid, syntax.old_name, syntax.new_name));
    }
    const ast::RangeVar& name = *syntax.relation;
    if (syntax.object_kind == ast::ObjectKind::schema) throw_unsupported("ALTER SCHEMA ... RENAME");
    if (const IndexDescriptor* index = run.catalog().find_index(run.schema_of(name), name.name)) {
      if (syntax.object_kind == ast::ObjectKind::index ||
          syntax.object_kind == ast::ObjectKind::table) {
        return run.finish(run.definition().rename_relation(index->oid, syntax.new_name));
      }
    }
    const TableDescriptor* table = run.find_relation(name, syntax.missing_ok);
    if (table == nullptr) return;
    require_kind(*table, syntax.object_kind);
    if (syntax.object_kind == ast::ObjectKind::column) require_kind(*table, syntax.relation_kind);
    switch (syntax.object_kind) {
      case ast::ObjectKind::column:
        if (table->kind == RelationKind::sequence) {
          throw SqlError(sqlstate::wrong_object_type,
                         concat("cannot rename columns of relation \"", name.name, "\""))
              .detail("This operation is not supported for sequences.");
        }
        return run.finish(
            run.definition().rename_column(table->oid, syntax.old_name, syntax.new_name));
      case ast::ObjectKind::constraint:
        return run.finish(
            run.definition().rename_constraint(table->oid, syntax.old_name, syntax.new_name));
      default:
        return run.finish(run.definition().rename_relation(table->oid, syntax.new_name));
    }
  }
};

}  // namespace

std::unique_ptr<const UtilityCommand> make_truncate(const PlannedOwner& planned) {
  return std::make_unique<Truncate>(planned);
}

std::unique_ptr<const UtilityCommand> make_create_schema(const PlannedOwner& planned) {
  return std::make_unique<CreateSchema>(planned);
}

std::unique_ptr<const UtilityCommand> make_rename(const PlannedOwner& planned) {
  return std::make_unique<Rename>(planned);
}

}  // namespace pgsilo
