// Functions in FROM. Several run side by side; one that ends early gives NULLs.
#include <algorithm>

#include "catalog/builtin/builtin.h"
#include "executor/operator/compile_operator.h"
#include "executor/operator/operator.h"
#include "executor/operator/set_function.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

struct CompiledFunction {
  Oid set_procedure = 0;  // 0: an ordinary expression, one row
  bool strict = true;
  bool acts_outside = false;
  size_t width = 1;  // columns
  ExpressionProgram value;
  std::vector<ExpressionProgram> arguments;
};

struct CompiledFunctionScan final : CompiledOperator {
  std::vector<CompiledFunction> functions;
  bool with_ordinality = false;
  ExpressionProgram filter;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class FunctionScan final : public Operator {
 public:
  FunctionScan(const CompiledFunctionScan& compiled, ExecutionState& state)
      : Operator(state), compiled_(compiled), arguments_(state), scratch_(state) {
    for (const CompiledFunction& function : compiled.functions) {
      columns_.push_back(
          {function.set_procedure == 0 ? nullptr : make_set_function(function.set_procedure),
           false});
    }
  }

  void open() override {
    arguments_.begin_row();
    ordinal_ = 0;
    for (size_t i = 0; i < columns_.size(); ++i) start(compiled_.functions[i], columns_[i]);
  }

  bool next() override {
    for (;;) {
      state_.session.maybe_yield();
      if (!step_all()) return false;
      ++ordinal_;
      if (compiled_.with_ordinality) at(compiled_.output.back()) = Datum::of_int(ordinal_);
      scratch_.begin_row();
      if (compiled_.filter.is_true(registers(), state_.rows)) return true;
    }
  }

  void close() override {
    for (Column& column : columns_) {
      column.more = false;
      if (column.series != nullptr) column.series->close();
    }
  }

 private:
  // What one function gives.
  struct Column {
    std::unique_ptr<SetFunction> series;  // null: one row
    bool more;
  };

  // False when all have ended.
  bool step_all() {
    bool any = false;
    auto target = compiled_.output.begin();
    for (size_t i = 0; i < columns_.size(); ++i) {
      size_t width = compiled_.functions[i].width;
      values_.assign(width, Datum());
      any |= step(i, values_.data());
      for (size_t k = 0; k < width; ++k) at(*target++) = values_[k];
    }
    return any;
  }

  void start(const CompiledFunction& function, Column& column) {
    column.more = true;
    if (column.series == nullptr) return;
    std::vector<Datum> values;
    for (const ExpressionProgram& argument : function.arguments) {
      values.push_back(argument.evaluate(registers(), state_.rows));
      if (values.back().null && function.strict) column.more = false;
    }
    if (column.more && function.acts_outside) state_.session.act_outside();
    if (column.more) column.series->start(state_.rows, values.data());
  }

  bool step(size_t index, Datum* values) {
    Column& column = columns_[index];
    if (!column.more) return false;
    if (column.series == nullptr) {
      arguments_.use();
      *values = compiled_.functions[index].value.evaluate(registers(), state_.rows);
      column.more = false;
      return true;
    }
    column.more = column.series->next(state_.rows, values);
    return column.more;
  }

  const CompiledFunctionScan& compiled_;
  std::vector<Column> columns_;
  std::vector<Datum> values_;  // of one function's row
  Scratch arguments_;          // live as long as the scan
  Scratch scratch_;
  int64_t ordinal_ = 0;
};

std::unique_ptr<Operator> CompiledFunctionScan::instantiate(ExecutionState& state) const {
  return std::make_unique<FunctionScan>(*this, state);
}

}  // namespace

CompiledOperator* compile_function_scan(const FunctionScanNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledFunctionScan>();
  made->with_ordinality = node.with_ordinality;
  made->output = plan.new_register_list(node.columns.size());
  for (size_t i = 0; i < node.calls.size(); ++i) {
    CompiledFunction& function = made->functions.emplace_back();
    const auto* call = try_as<CallExpression>(node.calls[i]);
    // A function that returns a record is a set of one.
    bool is_record = call != nullptr && !row_columns(call->procedure).empty();
    if (!node.returns_set[i] && !is_record) {
      function.value = plan.expression(node.calls[i], {});
      continue;
    }
    function.set_procedure = call->procedure;
    const BuiltinProcedure* known = find_procedure(call->procedure);
    if (make_set_function(call->procedure) == nullptr)
      throw_unsupported(concat("set-returning function ", known == nullptr ? "?" : known->name));
    function.strict = known->strict;
    function.acts_outside = known->acts_outside;
    function.width = std::max<size_t>(1, row_columns(call->procedure).size());
    function.arguments = plan.expressions(call->arguments, {});
  }
  made->filter = plan.condition(node.filter, made->output);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
