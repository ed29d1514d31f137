#include "executor/ddl/index_build.h"
#include "executor/ddl/index_definition.h"
#include "executor/ddl/storage_options.h"
#include "executor/ddl/table_definition.h"

namespace pgsilo {

namespace {

// The default operator classes, and those whose order is the default's under our collation "C".
bool is_default_operator_class(std::string_view name) {
  static constexpr std::string_view known[] = {"bool_ops",
                                               "int2_ops",
                                               "int4_ops",
                                               "int8_ops",
                                               "float4_ops",
                                               "float8_ops",
                                               "numeric_ops",
                                               "text_ops",
                                               "varchar_ops",
                                               "bpchar_ops",
                                               "date_ops",
                                               "timestamp_ops",
                                               "timestamptz_ops",
                                               "interval_ops",
                                               "time_ops",
                                               "oid_ops",
                                               "name_ops",
                                               "text_pattern_ops",
                                               "varchar_pattern_ops",
                                               "bpchar_pattern_ops",
                                               "bytea_ops"};
  for (std::string_view one : known) {
    if (one == name) return true;
  }
  return false;
}

class CreateIndex final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override { return "CREATE INDEX"; }

 private:
  static void refuse_unsupported(const ast::CreateIndexStmt& syntax) {
    if (syntax.access_method != "btree") {
      throw_unsupported(concat("access method \"", syntax.access_method, "\""));
    }
    if (!syntax.including.empty()) throw_unsupported("INCLUDE");
    if (!syntax.tablespace.empty() && syntax.tablespace != "pg_default")
      throw_unsupported("tablespaces");
  }

  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::CreateIndexStmt>();
    refuse_unsupported(syntax);
    const TableDescriptor* table = run.find_relation(*syntax.relation);
    if (table->kind != RelationKind::table) {
      bool is_view = table->kind == RelationKind::view;
      throw SqlError(sqlstate::wrong_object_type,
                     concat("cannot create index on relation \"", table->name, "\""))
          .detail(
              concat("This operation is not supported for ", is_view ? "views" : "sequences", "."));
    }
    run.refuse_foreign_temporary(*table, "create indexes on");
    run.refuse_in_use(*table, tag());
    IndexDefinition index;
    index.name = syntax.name;
    index.unique = syntax.unique;
    index.nulls_not_distinct = syntax.nulls_not_distinct;
    index.options = define_options(run, syntax.options, StorageOptionsOf::index);
    TableShape shape = TableShape::of(*table);
    IndexBinder binder(run, shape);
    index.predicate = binder.predicate(syntax.where);
    for (const ast::IndexElement& element : syntax.elements) {
      if (!element.opclass.empty() && !is_default_operator_class(element.opclass.back())) {
        throw_unsupported(concat("operator class \"", element.opclass.back(), "\""));
      }
      if (element.has_opclass_options && !element.opclass.empty()) {
        throw SqlError(sqlstate::invalid_parameter_value,
                       concat("operator class ", element.opclass.back(), " has no options"));
      }
      IndexColumnDefinition column;
      column.column = element.column;
      if (column.column.empty()) binder.define(*element.expression, &column);
      column.descending = element.direction == ast::SortDirection::descending;
      column.nulls_first = element.nulls == ast::NullsOrder::unspecified
                               ? column.descending
                               : element.nulls == ast::NullsOrder::first;
      index.columns.push_back(std::move(column));
    }
    index.read_columns = binder.read_columns();
    // An index that is being built fails writers where it is unique or computes, which they must
    // have been told of: CONCURRENTLY does (decisions/index-builds.md).
    bool may_fail_writers = (index.unique || index.computes()) && !syntax.concurrently;
    if (run.state().session.is_alone && !may_fail_writers)
      return build_index_beside_writers(run, table->oid, index, syntax.if_not_exists);
    run.finish(run.definition().create_index(table->oid, index, syntax.if_not_exists));
  }
};

}  // namespace

std::unique_ptr<const UtilityCommand> make_create_index(const PlannedOwner& planned) {
  return std::make_unique<CreateIndex>(planned);
}

}  // namespace pgsilo
