// DROP TABLE, VIEW, INDEX, SEQUENCE, SCHEMA, TYPE, DOMAIN; DROP MATERIALIZED VIEW, of which none
// exists.
#include <vector>

#include "executor/ddl/ddl_command.h"
#include "executor/ddl/statistics.h"
#include "executor/ddl/type_names.h"

namespace pgsilo {

namespace {

struct ObjectWords {
  std::string_view word;  // in messages
  std::string_view tag;
};

ObjectWords words_of(ast::ObjectKind kind) {
  switch (kind) {
    case ast::ObjectKind::index:
      return {"index", "DROP INDEX"};
    case ast::ObjectKind::view:
      return {"view", "DROP VIEW"};
    case ast::ObjectKind::materialized_view:
      return {"materialized view", "DROP MATERIALIZED VIEW"};
    case ast::ObjectKind::sequence:
      return {"sequence", "DROP SEQUENCE"};
    case ast::ObjectKind::schema:
      return {"schema", "DROP SCHEMA"};
    case ast::ObjectKind::type:
      return {"type", "DROP TYPE"};
    case ast::ObjectKind::domain:
      return {"type", "DROP DOMAIN"};
    case ast::ObjectKind::statistics:
      return {"statistics object", "DROP STATISTICS"};
    default:
      return {"table", "DROP TABLE"};
  }
}

class Drop final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override {
    return words_of(syntax<ast::DropStmt>().object_kind).tag;
  }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::DropStmt>();
    if (syntax.object_kind == ast::ObjectKind::statistics) return drop_statistics(run, syntax);
    if (syntax.object_kind == ast::ObjectKind::schema) {
      std::vector<std::string_view> names;
      for (const ast::NameList& object : syntax.objects) names.push_back(object.back());
      return drop_schemas(run, names);
    }
    std::vector<DataDefinition::ObjectName> names;
    for (const ast::NameList& object : syntax.objects) names.push_back(object_name(run, object));
    switch (syntax.object_kind) {
      case ast::ObjectKind::table:
        for (const DataDefinition::ObjectName& name : names) {
          const TableDescriptor* table = run.catalog().find_table(name.schema, name.name);
          if (table != nullptr) run.refuse_in_use(*table, tag());
        }
        return run.finish(run.definition().drop_tables(
            names, syntax.missing_ok, syntax.behavior == ast::DropBehavior::cascade));
      case ast::ObjectKind::index:
        return run.finish(run.definition().drop_indexes(
            names, syntax.missing_ok, syntax.behavior == ast::DropBehavior::cascade));
      case ast::ObjectKind::sequence:
        return run.finish(run.definition().drop_sequences(
            names, syntax.missing_ok, syntax.behavior == ast::DropBehavior::cascade));
      case ast::ObjectKind::type:
        return run.finish(run.definition().drop_types(
            names, syntax.missing_ok, syntax.behavior == ast::DropBehavior::cascade));
      case ast::ObjectKind::domain:
        return run.finish(run.definition().drop_domains(
            names, syntax.missing_ok, syntax.behavior == ast::DropBehavior::cascade));
      case ast::ObjectKind::view:
        return run.finish(run.definition().drop_views(
            names, syntax.missing_ok, syntax.behavior == ast::DropBehavior::cascade));
      case ast::ObjectKind::materialized_view:
        return drop_nothing(run, names, words_of(syntax.object_kind).word, syntax.missing_ok);
      default:
        throw_unsupported(words_of(syntax.object_kind).tag);
    }
  }

  void drop_schemas(DdlRun& run, const std::vector<std::string_view>& names) const {
    const auto& syntax = this->syntax<ast::DropStmt>();
    for (std::string_view name : names) {
      const SchemaDescriptor* schema = run.catalog().snapshot().find_schema(name);
      if (schema == nullptr) continue;
      for (const auto& [oid, table] : run.catalog().snapshot().tables()) {
        if (table->schema == schema->oid && table->kind == RelationKind::table)
          run.refuse_in_use(*table, "DROP TABLE");
      }
    }
    run.finish(run.definition().drop_schemas(names, syntax.missing_ok,
                                             syntax.behavior == ast::DropBehavior::cascade));
  }

  // Kinds of which there is no object: every name is missing, or something else's.
  static void drop_nothing(DdlRun& run, const std::vector<DataDefinition::ObjectName>& names,
                           std::string_view kind, bool missing_ok) {
    for (const DataDefinition::ObjectName& name : names) {
      if (!name.schema.empty() && run.catalog().find_schema(name.schema) == nullptr) {
        if (!missing_ok) throw undefined_schema(name.schema);
        run.notice(concat("schema \"", name.schema, "\" does not exist, skipping"));
        continue;
      }
      const TableDescriptor* table = run.catalog().find_table(name.schema, name.name);
      if (table != nullptr) {
        throw SqlError(sqlstate::wrong_object_type, concat("\"", name.name, "\" is not a ", kind))
            .hint(table->kind == RelationKind::view ? "Use DROP VIEW to remove a view."
                                                    : "Use DROP TABLE to remove a table.");
      }
      if (!missing_ok) {
        throw SqlError(sqlstate::undefined_table,
                       concat(kind, " \"", name.name, "\" does not exist"));
      }
      run.notice(concat(kind, " \"", name.name, "\" does not exist, skipping"));
    }
  }
};

}  // namespace

std::unique_ptr<const UtilityCommand> make_drop(const PlannedOwner& planned) {
  return std::make_unique<Drop>(planned);
}

}  // namespace pgsilo
