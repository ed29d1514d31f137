// COPY FROM STDIN: lines are parsed in place and written by the table's writer; nothing is
// allocated per row.
#include <algorithm>
#include <new>

#include "catalog/catalog_view.h"
#include "catalog/named_relation.h"
#include "catalog/named_type.h"
#include "executor/compiled_statement.h"
#include "executor/constraint/reference_events.h"
#include "executor/constraint/table_writer.h"
#include "executor/copy/copy_command.h"
#include "executor/copy/copy_fields.h"
#include "executor/copy/copy_lines.h"
#include "executor/execution_state.h"
#include "executor/plan_compiler.h"
#include "executor/statement_planner.h"
#include "sql/ast/make_node.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"
#include "sql/types/type.h"
#include "storage/relation/relation.h"

namespace pgsilo {

namespace {

// Defaults of the columns that the data lacks, and the table's checks: taken from the plan of an
// INSERT into the other columns.
class RowCompletion {
 public:
  RowCompletion(ExecutionState& state, const TableDescriptor& table,
                const std::vector<size_t>& columns) {
    planned_ = plan_insert(state, table, columns);
    const auto& insert = *as<InsertNode>(planned_->root);
    PlanCompiler compiler(compiled_, *planned_);
    std::vector<Register> row = compiler.new_register_list(table.columns.size());
    row_ = row.empty() ? 0 : row.front();
    std::vector<const BoundExpression*> defaults(insert.values.begin(), insert.values.end());
    for (size_t column : columns) defaults[column] = nullptr;
    std::vector<Register> no_slots(insert.child->columns.size());
    defaults_ = compiler.row_into(defaults, no_slots, row);
    std::vector<const BoundExpression*> made;
    std::vector<Register> targets;
    for (const ColumnAssignment& column : insert.generated) {
      made.push_back(column.value);
      targets.push_back(row[static_cast<size_t>(column.column)]);
    }
    generated_ = compiler.row_into(made, row, targets);
    for (const CheckConstraint& check : insert.checks) {
      checks_.push_back({check.name, compiler.expression(check.condition, row)});
    }
    index_keys_ = compile_index_keys(insert.index_keys, table.columns.size(), compiler);
    for (const ColumnDescriptor& column : table.columns) {
      if (column.not_null && !column.dropped) not_null_.push_back(column.number - 1);
    }
    context_.types = &state.session.types;
    context_.execution = &state.session;
  }

  IndexKeySource index_keys() { return {index_keys_, compiled_.registers.data(), &context_}; }
  std::span<Datum> row(size_t size) { return {compiled_.registers.data() + row_, size}; }

  // The row holds the data's columns; by-reference defaults go to `arena`.
  void complete(const TableWriter& writer, Arena& arena, size_t size) {
    context_.use_arena(arena);
    Datum* registers = compiled_.registers.data();
    if (defaults_.computes()) defaults_.evaluate(registers, context_);
    if (generated_.computes()) generated_.evaluate(registers, context_);
    writer.check_not_null(row(size), not_null_);
    for (const Check& check : checks_) {
      const Datum& holds = check.condition.evaluate(registers, context_);
      if (!holds.null && !holds.as_bool()) writer.raise_check_violation(row(size), check.name);
    }
  }

 private:
  struct Check {
    std::string_view name;
    ExpressionProgram condition;
  };

  std::shared_ptr<const PlannedStatement> plan_insert(ExecutionState& state,
                                                      const TableDescriptor& table,
                                                      const std::vector<size_t>& columns) {
    auto* relation = ast::make_node<ast::RangeVar>(arena_);
    relation->schema_name = table.schema_name;
    relation->name = table.name;
    std::vector<ast::Assignment> targets(columns.size());
    std::vector<const ast::Node*> values;
    std::vector<Oid> types;
    for (size_t i = 0; i < columns.size(); ++i) {
      targets[i].column = table.columns[columns[i]].name;
      auto* parameter = ast::make_node<ast::ParamRef>(arena_);
      parameter->number = static_cast<int32_t>(i + 1);
      values.push_back(parameter);
      types.push_back(table.columns[columns[i]].type);
    }
    auto* select = ast::make_node<ast::SelectStmt>(arena_);
    ast::NodeList rows[] = {arena_.copy_span(values)};
    select->values_lists = arena_.copy_span(rows);
    auto* insert = ast::make_node<ast::InsertStmt>(arena_);
    insert->relation = relation;
    insert->columns = arena_.copy_span(targets);
    insert->overriding = ast::Overriding::system_value;  // COPY takes what it is given
    if (!columns.empty()) insert->source = select;
    return StatementPlanner(state.session)
        .plan({.statement = insert, .declared_parameter_types = types});
  }

  Arena arena_;
  std::shared_ptr<const PlannedStatement> planned_;
  CompiledStatement compiled_;
  Register row_ = 0;
  ExpressionProgram defaults_;
  ExpressionProgram generated_;
  std::vector<Check> checks_;
  std::vector<CompiledIndexKeys> index_keys_;
  std::vector<int32_t> not_null_;
  RowContext context_;
};

// What a column's domain allows stays so until the transaction has committed.
void use_domain(ExecutionState& state, const ColumnDescriptor& column) {
  if (column.user_type == nullptr) return;
  for (const auto& domain : domains_of(*state.session.catalog, column.type)) {
    if (domain->record.record != nullptr)
      state.check(state.transaction().use_descriptor(domain->record.record, domain->record.tid));
  }
}

// The table that is filled, its columns' domains, and the tables that it refers to.
void use_tables(ExecutionState& state, const TableDescriptor& table) {
  state.use_table(table, TableUse::write);
  for (const ColumnDescriptor& column : table.columns) use_domain(state, column);
  for (const ConstraintDescriptor& constraint : table.constraints) {
    if (!constraint.foreign_key || constraint.foreign_key->referenced_table == table.oid) continue;
    Oid referenced = constraint.foreign_key->referenced_table;
    state.use_table(*state.session.catalog->find_table(referenced), TableUse::lock_rows);
  }
}

class CopyFromRun {
 public:
  CopyFromRun(ExecutionState& state, const TableDescriptor& table, const ast::CopyStmt& syntax,
              const CopyOptions& options)
      : state_(state),
        table_(table),
        options_(options),
        columns_(copy_columns(table, syntax.columns)),
        lines_(*state.session.copy_source, options),
        splitter_(options),
        completion_(state, table, columns_),
        writer_(state, table, RowChanges{.inserts = true}, completion_.index_keys()) {
    state.session.transaction->expect_many_rows();
    std::vector<bool> force_not_null =
        copy_option_columns(table, columns_, options.force_not_null, "FORCE_NOT_NULL");
    std::vector<bool> force_null =
        copy_option_columns(table, columns_, options.force_null, "FORCE_NULL");
    for (size_t i = 0; i < columns_.size(); ++i) {
      readers_.push_back(FieldReader(table.columns[columns_[i]]));
      readers_[i].force_not_null = force_not_null[i];
      readers_[i].force_null = force_null[i];
    }
  }

  void run() {
    state_.session.copy_source->begin(static_cast<uint32_t>(columns_.size()));
    try {
      std::string_view line;
      for (bool first = true; read(&line); first = false) {
        validate_text(line);
        line_ = line;
        line_is_shown_ = true;
        if (first && options_.header != CopyHeader::none) {
          if (options_.header == CopyHeader::match) check_header(line);
          continue;
        }
        take(line);
      }
      writer_.finish_load();
    } catch (SqlError& error) {
      add_context(error);
      throw;
    }
  }

 private:
  // What there is to know about one of the data's columns, per row.
  struct FieldReader {
    explicit FieldReader(const ColumnDescriptor& column) : type(&type_info(column.type)) {
      bool of_intervals = type->oid == type_oid::interval || type->element == type_oid::interval;
      if (of_intervals) parse_typmod = column.typmod;
      if (type->has_typmods()) apply_typmod = column.typmod;
    }
    const TypeInfo* type;
    int32_t parse_typmod = no_typmod;
    int32_t apply_typmod = no_typmod;
    bool force_not_null = false;
    bool force_null = false;
  };

  bool read(std::string_view* line) {
    // An error from here on is about the line that is being read.
    line_is_shown_ = false;
    line_number_ = lines_.number() + 1;
    bool more = lines_.next(line);
    line_number_ = lines_.number();
    return more;
  }

  void take(std::string_view line) {
    state_.session.maybe_yield();
    std::span<const CopyField> fields = splitter_.split(line, lines_.is_plain());
    if (fields.size() != columns_.size()) check_field_count(line, fields.size());
    row_memory_.reset();
    state_.session.types.arena = &row_memory_;
    std::span<Datum> row = completion_.row(table_.columns.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
      column_ = i;
      // In its place: the copy of a value just made would read across two stores and wait for them.
      ::new (&row[columns_[i]]) Datum(value(i, fields[i]));
    }
    column_ = no_column;
    completion_.complete(writer_, row_memory_, table_.columns.size());
    // PostgreSQL names only the line in errors from here on.
    line_is_shown_ = false;
    writer_.load(row);
    ++state_.rows_processed;
  }

  Datum value(size_t i, const CopyField& field) {
    const FieldReader& column = readers_[i];
    bool null = (field.null && !column.force_not_null) || (field.quoted_null && column.force_null);
    shown_field_ = null ? nullptr : &field;
    if (null) {
      check_domain(*column.type, Datum(), state_.session.types);
      return Datum();
    }
    if (column.apply_typmod == no_typmod)
      return column.type->parse(field.text, column.parse_typmod, state_.session.types);
    return column.type->apply_typmod(
        column.type->parse(field.text, column.parse_typmod, state_.session.types),
        column.apply_typmod, /*explicit_cast=*/false, state_.session.types);
  }

  void check_field_count(std::string_view line, size_t count) const {
    // A table without columns takes empty lines.
    if (columns_.empty() && line.empty()) return;
    if (count > columns_.size()) {
      throw SqlError(sqlstate::bad_copy_file_format, "extra data after last expected column");
    }
    throw SqlError(
        sqlstate::bad_copy_file_format,
        concat("missing data for column \"", table_.columns[columns_[count]].name, "\""));
  }

  void check_header(std::string_view line) {
    std::span<const CopyField> fields = splitter_.split(line);
    if (fields.size() != columns_.size()) {
      throw SqlError(sqlstate::bad_copy_file_format,
                     concat("wrong number of fields in header line: got ", fields.size(),
                            ", expected ", columns_.size()));
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      const std::string& name = table_.columns[columns_[i]].name;
      if (fields[i].null) {
        throw SqlError(
            sqlstate::bad_copy_file_format,
            concat("column name mismatch in header line field ", i + 1, ": got null value (\"",
                   options_.null_text, "\"), expected \"", name, "\""));
      }
      if (fields[i].text != name) {
        throw SqlError(sqlstate::bad_copy_file_format,
                       concat("column name mismatch in header line field ", i + 1, ": got \"",
                              fields[i].text, "\", expected \"", name, "\""));
      }
    }
  }

  // Where in the data an error arose, in PostgreSQL's form.
  void add_context(SqlError& error) const {
    std::string& context = error.amend().context;
    if (!context.empty()) context.push_back('\n');
    context += concat("COPY ", table_.name, ", line ", line_number_);
    if (column_ != no_column) {
      context += concat(", column ", table_.columns[columns_[column_]].name, ": ");
      context += shown_field_ == nullptr ? std::string("null input")
                                         : concat("\"", shown(shown_field_->text), "\"");
    } else if (line_is_shown_) {
      context += concat(": \"", shown(line_), "\"");
    }
  }

  static std::string shown(std::string_view text) {
    constexpr size_t longest = 100;
    std::string_view clipped = text_clip(text.substr(0, valid_text_prefix(text)), longest);
    return clipped.size() == text.size() ? std::string(text) : concat(clipped, "...");
  }

  static constexpr size_t no_column = SIZE_MAX;
  ExecutionState& state_;
  const TableDescriptor& table_;
  const CopyOptions& options_;
  std::vector<size_t> columns_;
  std::vector<FieldReader> readers_;
  CopyLines lines_;
  CopyFieldSplitter splitter_;
  RowCompletion completion_;
  TableWriter writer_;
  Arena row_memory_;
  // For error contexts.
  std::string_view line_;
  uint64_t line_number_ = 0;
  bool line_is_shown_ = false;
  size_t column_ = no_column;
  const CopyField* shown_field_ = nullptr;  // null: a null
};

class CopyFrom final : public UtilityCommand {
 public:
  explicit CopyFrom(std::shared_ptr<const PlannedStatement> planned)
      : planned_(std::move(planned)), options_(CopyOptions::parse(syntax(), planned_->text)) {
    if (syntax().where != nullptr) throw_unsupported("COPY ... WHERE");
  }

  StatementKind kind() const override { return StatementKind::copy_in; }
  std::string_view tag() const override { return "COPY"; }
  bool tag_counts_rows() const override { return true; }

  void run(ExecutionState& state, ResultSink&) const override {
    const ast::RangeVar& name = *syntax().relation;
    std::shared_ptr<const CatalogSnapshot> owner = state.session.catalog->shared_snapshot();
    const TableDescriptor* table =
        &require_table(*state.session.catalog, state.session.database_name, name);
    if (table->kind == RelationKind::sequence) {
      throw SqlError(sqlstate::wrong_object_type,
                     concat("cannot copy to sequence \"", table->name, "\""));
    }
    if (table->kind == RelationKind::view && !table->is_system()) {
      throw SqlError(sqlstate::wrong_object_type,
                     concat("cannot copy to view \"", table->name, "\""))
          .hint("To enable copying to a view, provide an INSTEAD OF INSERT trigger.");
    }
    if (table->is_system()) {
      throw SqlError(sqlstate::insufficient_privilege,
                     concat("permission denied: \"", table->name, "\" is a system catalog"));
    }
    use_tables(state, *table);
    if (options_.freeze && !table->relation->is_private()) {
      throw SqlError(
          sqlstate::object_not_in_prerequisite_state,
          "cannot perform COPY FREEZE because the table was not created or truncated in the "
          "current subtransaction");
    }
    CopyFromRun(state, *table, syntax(), options_).run();
  }

 private:
  const ast::CopyStmt& syntax() const { return *ast::as<ast::CopyStmt>(planned_->syntax); }

  std::shared_ptr<const PlannedStatement> planned_;
  CopyOptions options_;
};

}  // namespace

std::unique_ptr<const UtilityCommand> make_copy_from(
    const std::shared_ptr<const PlannedStatement>& planned) {
  return std::make_unique<CopyFrom>(planned);
}

}  // namespace pgsilo
