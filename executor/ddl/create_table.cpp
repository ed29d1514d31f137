// CREATE TABLE, CREATE TABLE AS, SELECT INTO.
#include "base/long_work.h"
#include "executor/constraint/reference_events.h"
#include "executor/constraint/table_writer.h"
#include "executor/ddl/foreign_key.h"
#include "executor/ddl/storage_options.h"
#include "executor/ddl/table_definition.h"
#include "executor/ddl/table_like.h"
#include "executor/execution.h"
#include "executor/result_sink.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

RelationPersistence persistence_of(const ast::RangeVar& relation) {
  if (relation.persistence == ast::Persistence::temporary) return RelationPersistence::temporary;
  return relation.persistence == ast::Persistence::unlogged ? RelationPersistence::unlogged
                                                            : RelationPersistence::permanent;
}

std::optional<OnCommit> on_commit_of(ast::OnCommit written) {
  if (written == ast::OnCommit::none) return {};
  if (written == ast::OnCommit::drop) return OnCommit::drop;
  return written == ast::OnCommit::delete_rows ? OnCommit::delete_rows : OnCommit::preserve_rows;
}

constexpr size_t element_work = 2048;

class CreateTable final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override { return "CREATE TABLE"; }

 private:
  static void refuse_unsupported(const ast::CreateTableStmt& syntax) {
    if (!syntax.inherits.empty()) throw_unsupported("INHERITS");
    if (syntax.is_partition || syntax.is_partitioned) throw_unsupported("partitioned tables");
    if (syntax.of_type) throw_unsupported("CREATE TABLE ... OF type");
    if (!syntax.tablespace.empty() && syntax.tablespace != "pg_default")
      throw_unsupported("tablespaces");
    if (!syntax.access_method.empty() && syntax.access_method != "heap") {
      throw SqlError(sqlstate::undefined_object,
                     concat("access method \"", syntax.access_method, "\" does not exist"));
    }
  }

  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::CreateTableStmt>();
    refuse_unsupported(syntax);
    TableDefinition table;
    table.schema = run.schema_of(*syntax.relation);
    table.name = syntax.relation->name;
    table.persistence = persistence_of(*syntax.relation);
    table.on_commit = on_commit_of(syntax.on_commit);
    table.options = define_options(run, syntax.options, StorageOptionsOf::table);
    std::vector<const ast::Constraint*> checks;
    std::vector<ForeignKey> foreign_keys;
    std::vector<TableLikeness> likenesses;
    std::vector<const ast::Constraint*> generations;  // by column
    for (const ast::Node* element : syntax.elements) {
      did_work(element_work);
      if (const auto* column = ast::try_as<ast::ColumnDef>(element)) {
        DefinedColumn defined = define_column(run, *column, table.name);
        table.columns.push_back(std::move(defined.column));
        generations.push_back(defined.generation);
        table.keys.insert(table.keys.end(), defined.keys.begin(), defined.keys.end());
        checks.insert(checks.end(), defined.checks.begin(), defined.checks.end());
        for (const ast::Constraint* key : defined.foreign_keys)
          foreign_keys.push_back({key, column->name});
        continue;
      }
      if (const auto* like = ast::try_as<ast::TableLike>(element)) {
        likenesses.emplace_back(run, *like).add_columns(&table);
        generations.resize(table.columns.size());
        continue;
      }
      const auto* constraint = ast::as<ast::Constraint>(element);
      switch (constraint->constraint_kind) {
        case ast::ConstraintKind::primary_key:
        case ast::ConstraintKind::unique:
          table.keys.push_back(define_key(run, *constraint));
          break;
        case ast::ConstraintKind::check:
          checks.push_back(constraint);
          break;
        case ast::ConstraintKind::foreign_key:
          foreign_keys.push_back({constraint, {}});
          break;
        default:
          throw_unsupported_constraint(run, *constraint);
      }
    }
    const TableShape shape = shape_of(table, generations);
    for (size_t i = 0; i < generations.size(); ++i) {
      if (generations[i] != nullptr)
        define_generation(run, *generations[i], shape, table.columns[i]);
    }
    add_checks(run, checks, shape, table);
    for (TableLikeness& likeness : likenesses) likeness.add_expressions(shape, &table);
    const TableDescriptor* made = nullptr;
    run.finish(run.definition().create_table(table, syntax.if_not_exists, &made));
    if (made == nullptr) return;
    // They may refer to the table itself.
    Oid oid = made->oid;
    for (TableLikeness& likeness : likenesses) likeness.complete(oid);
    for (const ForeignKey& key : foreign_keys)
      add_foreign_key(run, oid, *key.constraint, key.column, /*is_new=*/true);
  }

  struct ForeignKey {
    const ast::Constraint* constraint;
    std::string_view column;  // empty: a constraint of the table
  };

  static TableShape shape_of(const TableDefinition& table,
                             const std::vector<const ast::Constraint*>& generations) {
    TableShape shape;
    shape.name = table.name;
    for (const ColumnDefinition& column : table.columns) {
      shape.names.push_back(column.name);
      shape.columns.push_back({column.name, column.type, column.typmod});
    }
    for (size_t i = 0; i < table.columns.size(); ++i)
      shape.generated.push_back(generations[i] != nullptr || table.columns[i].generated);
    return shape;
  }

  static void add_checks(DdlRun& run, const std::vector<const ast::Constraint*>& checks,
                         const TableShape& shape, TableDefinition& table) {
    for (const ast::Constraint* check : checks) {
      const BoundExpression* bound;
      table.checks.push_back(define_check(run, *check, shape, &bound));
    }
  }
};

// Stores each row of a query.
class TableFiller final : public ResultSink {
 public:
  TableFiller(ExecutionState& state, const TableDescriptor& table)
      : state_(state), writer_(state, table, RowChanges{.inserts = true}) {}
  void row(std::span<const Datum> values) override {
    writer_.insert(values);
    ++state_.rows_processed;
  }

 private:
  ExecutionState& state_;
  TableWriter writer_;
};

class CreateTableAs final : public DdlCommand {
 public:
  explicit CreateTableAs(std::shared_ptr<const PlannedStatement> planned)
      : DdlCommand(std::move(planned)) {
    if (planned_->inner == nullptr) throw_unsupported("CREATE TABLE AS EXECUTE");
    query_ = compile(planned_->inner);
  }
  std::string_view tag() const override { return "SELECT"; }
  std::string_view command_name() const override { return "CREATE TABLE AS"; }
  bool tag_counts_rows() const override { return true; }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::CreateTableAsStmt>();
    const ast::IntoClause& into = *syntax.into;
    if (syntax.is_materialized_view) throw_unsupported("materialized views");
    TableDefinition table;
    table.schema = run.schema_of(*into.relation);
    table.name = into.relation->name;
    table.persistence = persistence_of(*into.relation);
    table.on_commit = on_commit_of(into.on_commit);
    table.options = define_options(run, into.options, StorageOptionsOf::table);
    std::span<const ResultColumn> columns = query_->result_columns();
    if (into.columns.size() > columns.size()) {
      throw SqlError(sqlstate::syntax_error, "too many column names were specified");
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      ColumnDefinition column;
      column.name = i < into.columns.size() ? std::string(into.columns[i]) : columns[i].name;
      column.type = columns[i].type_oid;
      column.typmod = columns[i].type_modifier;
      table.columns.push_back(std::move(column));
    }
    const TableDescriptor* made = nullptr;
    run.finish(run.definition().create_table(table, syntax.if_not_exists, &made));
    ExecutionState& state = run.state();
    state.ran_no_query = made == nullptr || into.with_no_data;
    if (state.ran_no_query) return;
    std::shared_ptr<const CatalogSnapshot> owner = run.catalog().shared_snapshot();
    TableFiller filler(state, *made);
    Execution query(query_, state.session,
                    {state.registers.data(), state.compiled.parameter_count});
    query.run(filler);
  }

  std::shared_ptr<const ExecutablePlan> query_;
};

}  // namespace

std::unique_ptr<const UtilityCommand> make_create_table(const PlannedOwner& planned) {
  return std::make_unique<CreateTable>(planned);
}

std::unique_ptr<const UtilityCommand> make_create_table_as(const PlannedOwner& planned) {
  return std::make_unique<CreateTableAs>(planned);
}

}  // namespace pgsilo
