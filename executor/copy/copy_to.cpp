// COPY TO STDOUT, of a table or of a query.
#include <algorithm>

#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "catalog/catalog_view.h"
#include "catalog/descriptors.h"
#include "catalog/named_relation.h"
#include "executor/copy/copy_command.h"
#include "executor/copy/copy_options.h"
#include "executor/execution.h"
#include "executor/execution_state.h"
#include "executor/result_sink.h"
#include "executor/statement_planner.h"
#include "sql/ast/make_node.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

// Prints rows as lines.
class LinePrinter final : public ResultSink {
 public:
  LinePrinter(ExecutionState& state, const CopyOptions& options, std::vector<bool> force_quote,
              std::span<const ResultColumn> columns)
      : state_(state), options_(options), force_quote_(std::move(force_quote)) {
    for (const ResultColumn& column : columns) types_.push_back(&type_info(column.type_oid));
  }

  void header(std::span<const ResultColumn> columns) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i != 0) line_.append(options_.delimiter);
      append(columns[i].name, /*force_quote=*/false, columns.size());
    }
    end_line();
  }

  void row(std::span<const Datum> values) override {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i != 0) line_.append(options_.delimiter);
      if (values[i].null) {
        line_.append(options_.null_text);
        continue;
      }
      value_.clear();
      types_[i]->print(values[i], value_, state_.session.types);
      append(value_.view(), options_.force_quote_all || force_quote_[i], values.size());
    }
    end_line();
    ++state_.rows_processed;
  }

 private:
  void end_line() {
    line_.append('\n');
    state_.session.copy_sink->write(line_.view());
    line_.clear();
  }

  void append(std::string_view text, bool force_quote, size_t column_count) {
    line_.reserve(text.size());
    if (options_.csv) {
      append_csv(text, force_quote, column_count);
    } else {
      append_text(text);
    }
  }

  void append_text(std::string_view text) {
    WorkMeter meter;
    for (char byte : text) {
      meter.did(2);
      switch (byte) {
        case '\b':
          line_.append("\\b");
          break;
        case '\f':
          line_.append("\\f");
          break;
        case '\n':
          line_.append("\\n");
          break;
        case '\r':
          line_.append("\\r");
          break;
        case '\t':
          line_.append("\\t");
          break;
        case '\v':
          line_.append("\\v");
          break;
        default:
          if (byte == '\\' || byte == options_.delimiter) line_.append('\\');
          line_.append(byte);
      }
    }
  }

  void append_csv(std::string_view text, bool force_quote, size_t column_count) {
    bool quote = force_quote || text == options_.null_text || (column_count == 1 && text == "\\.");
    WorkMeter meter;
    for (char byte : text) {
      meter.did(1);
      quote = quote || byte == options_.delimiter || byte == options_.quote || byte == '\n' ||
              byte == '\r';
    }
    if (!quote) {
      line_.append(text);
      return;
    }
    line_.append(options_.quote);
    for (char byte : text) {
      meter.did(2);
      if (byte == options_.quote || byte == options_.escape) line_.append(options_.escape);
      line_.append(byte);
    }
    line_.append(options_.quote);
  }

  ExecutionState& state_;
  const CopyOptions& options_;
  std::vector<bool> force_quote_;
  std::vector<const TypeInfo*> types_;
  ByteBuffer value_;
  ByteBuffer line_;
};

class CopyTo final : public UtilityCommand {
 public:
  explicit CopyTo(std::shared_ptr<const PlannedStatement> planned)
      : planned_(std::move(planned)), options_(CopyOptions::parse(syntax(), planned_->text)) {
    if (syntax().query != nullptr) query_ = compile_query();
  }

  StatementKind kind() const override { return StatementKind::copy_out; }
  std::string_view tag() const override { return "COPY"; }
  bool tag_counts_rows() const override { return true; }
  bool read_only() const override { return query_ == nullptr || query_->read_only(); }
  bool only_reads() const override { return query_ == nullptr || query_->only_reads(); }

  void run(ExecutionState& state, ResultSink&) const override {
    std::shared_ptr<const ExecutablePlan> query = query_;
    std::vector<bool> force_quote;
    if (query == nullptr) {
      query = plan_table(state, &force_quote);
    } else {
      if (!query->returns_rows()) {
        throw SqlError(sqlstate::feature_not_supported, "COPY query must have a RETURNING clause");
      }
      force_quote = quoted_columns(*query);
    }
    LinePrinter printer(state, options_, std::move(force_quote), query->result_columns());
    CopySink& sink = *state.session.copy_sink;
    sink.begin(static_cast<uint32_t>(query->result_columns().size()));
    if (options_.header != CopyHeader::none) printer.header(query->result_columns());
    Execution execution(query, state.session, {});
    execution.run(printer);
    sink.end();
  }

 private:
  const ast::CopyStmt& syntax() const { return *ast::as<ast::CopyStmt>(planned_->syntax); }

  // The grammar lets two in that are neither queries nor changes of rows.
  std::shared_ptr<const ExecutablePlan> compile_query() const {
    if (planned_->inner != nullptr) return compile(planned_->inner);
    bool selects_into = syntax().query->kind == ast::NodeKind::create_table_as_stmt;
    throw SqlError(sqlstate::feature_not_supported, selects_into
                                                        ? "COPY (SELECT INTO) is not supported"
                                                        : "MERGE not supported in COPY");
  }

  std::vector<bool> quoted_columns(const ExecutablePlan& query) const {
    std::vector<bool> chosen(query.result_columns().size());
    for (const std::string& name : options_.force_quote) {
      bool found = false;
      for (size_t i = 0; i < chosen.size(); ++i) {
        if (query.result_columns()[i].name != name) continue;
        chosen[i] = found = true;
      }
      if (!found) {
        throw SqlError(sqlstate::undefined_column, concat("column \"", name, "\" does not exist"));
      }
    }
    return chosen;
  }

  // SELECT columns FROM table.
  std::shared_ptr<const ExecutablePlan> plan_table(ExecutionState& state,
                                                   std::vector<bool>* force_quote) const {
    const ast::RangeVar& name = *syntax().relation;
    const TableDescriptor* table =
        &require_table(*state.session.catalog, state.session.database_name, name);
    if (table->kind == RelationKind::view) {
      throw SqlError(sqlstate::wrong_object_type,
                     concat("cannot copy from view \"", table->name, "\""))
          .hint("Try the COPY (SELECT query) TO variant.");
    }
    if (table->kind == RelationKind::sequence) {
      throw SqlError(sqlstate::wrong_object_type,
                     concat("cannot copy from sequence \"", table->name, "\""));
    }
    std::vector<size_t> columns = copy_columns(*table, syntax().columns);
    *force_quote = copy_option_columns(*table, columns, options_.force_quote, "FORCE_QUOTE");
    auto owner = std::make_shared<Arena>();
    Arena& arena = *owner;
    std::vector<ast::Target> targets(columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      auto* column = ast::make_node<ast::ColumnRef>(arena);
      std::string_view fields[] = {table->columns[columns[i]].name};
      column->fields = arena.copy_span(fields);
      targets[i].expression = column;
    }
    auto* relation = ast::make_node<ast::RangeVar>(arena);
    relation->schema_name = table->schema_name;
    relation->name = table->name;
    const ast::Node* from[] = {relation};
    auto* select = ast::make_node<ast::SelectStmt>(arena);
    select->targets = arena.copy_span(targets);
    select->from = arena.copy_span(from);
    return StatementPlanner(state.session).prepare({.statement = select, .owner = owner});
  }

  std::shared_ptr<const PlannedStatement> planned_;
  CopyOptions options_;
  std::shared_ptr<const ExecutablePlan> query_;
};

}  // namespace

std::unique_ptr<const UtilityCommand> make_copy_to(
    const std::shared_ptr<const PlannedStatement>& planned) {
  return std::make_unique<CopyTo>(planned);
}

}  // namespace pgsilo
