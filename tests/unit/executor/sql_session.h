// SQL over the real planner, catalog and storage, without a server: statements in, text out.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_buffer.h"
#include "catalog/sequence/sequence_session.h"
#include "executor/constraint/index_keys.h"
#include "executor/executable_plan.h"
#include "executor/execution.h"
#include "executor/execution_context.h"
#include "executor/result_sink.h"
#include "executor/statement_planner.h"
#include "executor/transaction_status.h"
#include "sql/ast/ast.h"
#include "sql/parser/parser.h"
#include "sql/types/type.h"
#include "tests/unit/catalog/catalog_fixture.h"

namespace pgsilo::testing {

// Hands text to COPY in pieces of a chosen size.
class TextCopySource final : public CopySource {
 public:
  TextCopySource(std::string text, size_t piece_bytes)
      : text_(std::move(text)), piece_bytes_(piece_bytes) {}
  void begin(uint32_t) override {}
  bool read(std::string_view* piece) override {
    if (at_ == text_.size()) return false;
    piece_ = text_.substr(at_, piece_bytes_);  // moves, so that a view kept too long shows
    at_ += piece_.size();
    *piece = piece_;
    return true;
  }

 private:
  std::string text_;
  std::string piece_;
  size_t piece_bytes_;
  size_t at_ = 0;
};

class TextCopySink final : public CopySink {
 public:
  void begin(uint32_t) override {}
  void write(std::string_view row) override { text.append(row); }
  void end() override {}
  std::string text;
};

class TextResult final : public ResultSink {
 public:
  TextResult(std::span<const ResultColumn> columns, TypeContext& types)
      : columns_(columns), types_(types) {}
  void row(std::span<const Datum> values) override {
    ByteBuffer line;
    for (size_t i = 0; i < values.size(); ++i) {
      if (i != 0) line.append('|');
      if (values[i].null) {
        line.append("NULL");
      } else {
        type_info(columns_[i].type_oid).print(values[i], line, types_);
      }
    }
    if (!text.empty()) text.push_back('\n');
    text.append(line.view());
    ++rows;
  }
  std::string text;
  size_t rows = 0;

 private:
  std::span<const ResultColumn> columns_;
  TypeContext& types_;
};

class SqlSession final : public CatalogSession, private NoticeSink {
 public:
  explicit SqlSession(CatalogEngine& engine) : CatalogSession(engine) {
    engine.catalog.use_index_evaluators(make_index_evaluator);
    prepare();
  }
  SqlSession(const EngineParts& parts, Catalog& catalog, RedoSink& sink)
      : CatalogSession(parts, catalog, sink) {
    prepare();
  }

  // Runs statements, each as a transaction of its own unless begin_block() was called. The rows of
  // the last one as text (columns by |, rows by line), its tag where it has none, or "ERROR: state:
  // message".
  std::string run(std::string_view sql, std::span<const Datum> parameters = {},
                  std::span<const Oid> types = {}) {
    std::string answer;
    Arena syntax;
    try {
      for (const ast::RawStatement& raw : parse(sql, syntax)) {
        answer = run_one(*raw.statement, sql, parameters, types);
      }
    } catch (const SqlError& error) {
      answer = describe(error);
    }
    return answer;
  }

  void begin_block(TransactionMode mode = TransactionMode::interactive,
                   Isolation isolation = Isolation::serializable) {
    transaction.begin(mode, isolation);
    in_block = true;
  }
  std::string commit_block() {
    in_block = false;
    return std::string(name_of(commit()));
  }
  void abort_block() {
    in_block = false;
    abort();
  }

  static std::string describe(const SqlError& error) {
    const SqlDiagnostic& diagnostic = error.diagnostic();
    std::string text = "ERROR: " + state_text(diagnostic.state) + ": " + diagnostic.message;
    if (!diagnostic.detail.empty()) text += "\nDETAIL: " + diagnostic.detail;
    if (!diagnostic.context.empty()) text += "\nCONTEXT: " + diagnostic.context;
    return text;
  }
  static std::string state_text(const SqlState& state) { return std::string(state.text()); }

  std::shared_ptr<const ExecutablePlan> plan(const ast::Node& node, std::string_view sql,
                                             std::span<const Oid> parameter_types = {}) {
    return StatementPlanner(context, planner_settings)
        .prepare({.statement = &node, .text = sql, .declared_parameter_types = parameter_types});
  }

  SequenceSession sequences;
  ExecutionContext context;
  PlannerSettings planner_settings;
  std::vector<std::string> notices;
  bool in_block = false;

 private:
  void prepare() {
    context.transaction = &transaction;
    context.catalog = &view;
    context.notices = this;
    context.sequences = &sequences;
    context.database_name = "postgres";
    context.user_name = context.session_user_name = "postgres";
    context.types.arena = &arena;
    view.refresh();
  }

  void notice(const SqlError& notice) override { notices.push_back(notice.diagnostic().message); }

  std::string run_one(const ast::Node& node, std::string_view sql,
                      std::span<const Datum> parameters, std::span<const Oid> types) {
    if (!in_block) begin();
    view.refresh();
    try {
      std::shared_ptr<const ExecutablePlan> executable = plan(node, sql, types);
      TextResult result(executable->result_columns(), context.types);
      std::string tag;
      {
        Execution execution(executable, context, parameters);
        execution.run(result);
        tag = execution.command_tag();
      }
      if (!in_block) {
        TransactionStatus status = commit();
        if (status != TransactionStatus::ok) raise_transaction_status(status);
      }
      return executable->returns_rows() ? result.text : tag;
    } catch (...) {
      if (!in_block) abort();
      throw;
    }
  }
};

}  // namespace pgsilo::testing
