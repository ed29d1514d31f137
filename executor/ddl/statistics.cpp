// CREATE STATISTICS, ALTER STATISTICS ... SET STATISTICS, RENAME TO, and DROP STATISTICS.
#include "executor/ddl/statistics.h"

#include <algorithm>

#include "executor/ddl/ddl_command.h"
#include "executor/ddl/table_definition.h"
#include "executor/ddl/type_names.h"
#include "sql/limits.h"

namespace pgsilo {

namespace {

constexpr size_t most_columns = 8;

// Null, with a notice, or 42704: there is none.
const StatisticsDescriptor* find_statistics(DdlRun& run, const ast::NameList& written,
                                            bool missing_ok) {
  DataDefinition::ObjectName name = object_name(run, written);
  const CatalogSnapshot& snapshot = run.catalog().snapshot();
  std::vector<Oid> schemas = run.catalog().name_path().schemas;
  if (!name.schema.empty()) {
    const SchemaDescriptor* schema = run.catalog().find_schema(name.schema);
    if (schema == nullptr && !missing_ok) throw undefined_schema(name.schema);
    schemas.clear();
    if (schema != nullptr) schemas.push_back(schema->oid);
  }
  for (Oid schema : schemas) {
    if (auto found = snapshot.find<StatisticsDescriptor>(schema, name.name)) return found.get();
  }
  std::string message =
      concat("statistics object \"", written_type_name(written), "\" does not exist");
  if (!missing_ok) throw SqlError(sqlstate::undefined_object, message);
  run.notice(message + ", skipping");
  return nullptr;
}

// What follows FROM.
const TableDescriptor& find_table(DdlRun& run, const ast::CreateStatisticsStmt& syntax) {
  if (syntax.relations != 1) {
    throw SqlError(sqlstate::feature_not_supported,
                   "only a single relation is allowed in CREATE STATISTICS");
  }
  if (syntax.relation == nullptr) throw_unsupported("CREATE STATISTICS on what is no table");
  const TableDescriptor& table = *run.find_relation(*syntax.relation);
  if (table.is_system()) {
    throw SqlError(sqlstate::insufficient_privilege,
                   concat("permission denied: \"", table.name, "\" is a system catalog"));
  }
  if (table.kind != RelationKind::table) {
    bool is_view = table.kind == RelationKind::view;
    throw SqlError(sqlstate::wrong_object_type,
                   concat("cannot define statistics for relation \"", table.name, "\""))
        .detail(concat("This operation is not supported for ", is_view ? "views." : "sequences."));
  }
  return table;
}

void set_kinds(const ast::NameList& kinds, StatisticsDefinition& made) {
  bool all = kinds.empty();
  made.ndistinct = made.dependencies = made.common = all;
  for (std::string_view kind : kinds) {
    if (kind == "ndistinct") {
      made.ndistinct = true;
    } else if (kind == "dependencies") {
      made.dependencies = true;
    } else if (kind == "mcv") {
      made.common = true;
    } else {
      throw SqlError(sqlstate::syntax_error, concat("unrecognized statistics kind \"", kind, "\""));
    }
  }
}

std::vector<int16_t> numbers_of(const TableDescriptor& table,
                                const ast::CreateStatisticsStmt& syntax) {
  std::vector<int16_t> numbers;
  if (syntax.columns.size() > most_columns) {
    throw SqlError(sqlstate::too_many_columns,
                   concat("cannot have more than ", most_columns, " columns in statistics"));
  }
  for (const ast::StatisticsElement& element : syntax.columns) {
    if (element.column.empty()) throw_unsupported("CREATE STATISTICS on expressions");
    const ColumnDescriptor* column = table.find_column(element.column);
    if (column == nullptr) {
      throw SqlError(sqlstate::undefined_column,
                     concat("column \"", element.column, "\" does not exist"));
    }
    if (find_type(column->type)->key_form == KeyForm::none) {
      throw SqlError(
          sqlstate::feature_not_supported,
          concat("column \"", element.column, "\" cannot be used in statistics because its type ",
                 type_name(column->type), " has no default btree operator class"));
    }
    numbers.push_back(column->number);
  }
  if (numbers.size() < 2) {
    throw SqlError(sqlstate::invalid_object_definition,
                   "extended statistics require at least 2 columns");
  }
  std::ranges::sort(numbers);
  if (std::ranges::adjacent_find(numbers) != numbers.end()) {
    throw SqlError(sqlstate::duplicate_column, "duplicate column name in statistics definition");
  }
  return numbers;
}

class CreateStatistics final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override { return "CREATE STATISTICS"; }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::CreateStatisticsStmt>();
    const TableDescriptor& table = find_table(run, syntax);
    DataDefinition::ObjectName name = object_name(run, syntax.name);
    const SchemaDescriptor* schema = name.schema.empty() ? run.catalog().creation_schema()
                                                         : run.catalog().find_schema(name.schema);
    if (schema == nullptr) throw undefined_schema(name.schema);
    if (run.catalog().snapshot().find<StatisticsDescriptor>(schema->oid, name.name) != nullptr) {
      std::string message = concat("statistics object \"", name.name, "\" already exists");
      if (!syntax.if_not_exists) throw SqlError(sqlstate::duplicate_object, message);
      return run.state().session.notices->notice(
          SqlError(Severity::notice, sqlstate::duplicate_object, message + ", skipping"));
    }
    if (schema->oid != table.schema)
      throw_unsupported("a statistics object in another schema than its table's");
    StatisticsDefinition made;
    made.name = name.name;
    made.columns = numbers_of(table, syntax);
    set_kinds(syntax.kinds, made);
    run.finish(run.definition().create_statistics(table.oid, made));
  }
};

class AlterStatistics final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override { return "ALTER STATISTICS"; }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::AlterStatisticsStmt>();
    int32_t target = check_statistics_target(run, syntax.target);
    const StatisticsDescriptor* found = find_statistics(run, syntax.name, syntax.missing_ok);
    if (found != nullptr)
      run.finish(run.definition().alter_statistics(*found, {.name = {}, .target = target}));
  }
};

}  // namespace

int32_t check_statistics_target(DdlRun& run, int32_t target) {
  if (target < -1) {
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("statistics target ", target, " is too low"));
  }
  if (target <= limits::most_statistics_target) return target;
  run.state().session.notices->notice(
      SqlError(Severity::warning, sqlstate::invalid_parameter_value,
               concat("lowering statistics target to ", limits::most_statistics_target)));
  return limits::most_statistics_target;
}

const StatisticsDescriptor& require_statistics(DdlRun& run, const ast::NameList& name) {
  return *find_statistics(run, name, /*missing_ok=*/false);
}

void rename_statistics(DdlRun& run, const ast::RenameStmt& syntax) {
  const StatisticsDescriptor& found = require_statistics(run, syntax.object);
  if (run.catalog().snapshot().find<StatisticsDescriptor>(found.schema, syntax.new_name) !=
      nullptr) {
    throw SqlError(sqlstate::duplicate_object,
                   concat("statistics object \"", syntax.new_name, "\" already exists in schema \"",
                          run.table(found.table).schema_name, "\""));
  }
  run.finish(run.definition().alter_statistics(found, {.name = syntax.new_name}));
}

void drop_statistics(DdlRun& run, const ast::DropStmt& syntax) {
  std::vector<Oid> going;  // all are found first
  for (const ast::NameList& name : syntax.objects) {
    std::string_view schema = object_name(run, name).schema;
    if (syntax.missing_ok && !schema.empty() && run.catalog().find_schema(schema) == nullptr) {
      run.notice(concat("schema \"", schema, "\" does not exist, skipping"));
      continue;
    }
    const StatisticsDescriptor* found = find_statistics(run, name, syntax.missing_ok);
    if (found != nullptr && std::ranges::find(going, found->address.oid) == going.end())
      going.push_back(found->address.oid);
  }
  for (Oid oid : going) {
    auto found = run.catalog().snapshot().find<StatisticsDescriptor>(oid);
    run.finish(run.definition().drop_statistics(*found));
  }
}

std::unique_ptr<const UtilityCommand> make_create_statistics(const PlannedOwner& planned) {
  return std::make_unique<CreateStatistics>(planned);
}

std::unique_ptr<const UtilityCommand> make_alter_statistics(const PlannedOwner& planned) {
  return std::make_unique<AlterStatistics>(planned);
}

}  // namespace pgsilo
