#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "planner/stored/stored_tree.h"
#include "planner/stored/tree_reader.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

constexpr size_t node_work = 512;
// What the binder makes of an expression of the greatest depth: casts stand between its levels.
constexpr int max_depth = 3 * limits::max_nesting_depth;

const BuiltinProcedure& procedure_of(Oid oid) {
  if (const BuiltinProcedure* procedure = find_procedure(oid)) return *procedure;
  throw SqlError(sqlstate::undefined_function,
                 concat("function with OID ", oid, " does not exist"));
}

// A VARIADIC function of any types is given its arguments one by one, others an array of them;
// subscripts are one for each dimension, of slices all upper and then all lower bounds.
bool takes(const BuiltinProcedure& procedure, size_t arguments) {
  constexpr size_t dimensions = limits::max_array_dimensions;
  if (procedure.oid == array_element_procedure)
    return arguments >= 2 && arguments <= 1 + dimensions;
  if (procedure.oid == array_slice_procedure)
    return arguments >= 3 && arguments <= 1 + 2 * dimensions && arguments % 2 == 1;
  size_t declared = procedure.argument_types().size();
  constexpr Oid any = 2276;
  return procedure.variadic == any ? arguments + 1 >= declared : arguments == declared;
}

// Of an older program; the start has told of it.
[[noreturn]] void throw_unread(const StoredExpression& stored) {
  throw SqlError(sqlstate::invalid_object_definition,
                 concat("expression kept by an older program could not be read: ", stored.text))
      .hint("Drop the default or the constraint, or define it anew.");
}

bool is_pseudo_type(Oid type) { return type == type_oid::record; }

}  // namespace

const BoundExpression* TreeReader::read_expression() {
  const BoundExpression* expression = needed();
  if (!text_.empty()) throw damaged_expression();
  return expression;
}

const BoundExpression* TreeReader::needed() {
  const BoundExpression* expression = nullptr;
  child(expression);
  if (expression == nullptr) throw damaged_expression();
  return expression;
}

void TreeReader::child(const BoundExpression*& to) {
  did_work(node_work);
  if (!take("(")) {
    if (item() != "none") throw damaged_expression();
    return;
  }
  std::string_view kind = item();
  Oid type = invalid_oid;
  oid(type);
  auto typmod = number<int32_t>();
  if (find_type(type) == nullptr && !is_pseudo_type(type)) {
    throw SqlError(sqlstate::undefined_object, concat("type with OID ", type, " does not exist"));
  }
  if (!open_.empty()) binding_.use_type(type);
  if (++depth_ > max_depth) throw damaged_expression();
  require_stack();
  to = node(kind, type, typmod);
  --depth_;
  end();
}

// Of a set-returning function in a select list.
void TreeReader::child(const CallExpression*& to) { to = as<CallExpression>(set_call()); }

void TreeReader::list(ExpressionList& to) {
  std::vector<const BoundExpression*> children;
  while (!at_end()) children.push_back(needed());
  to = binding_.arena.copy_span(children);
}

bool TreeReader::flag() {
  std::string_view text = item();
  if (text != "t" && text != "f") throw damaged_expression();
  return text == "t";
}

void TreeReader::flag(bool& to) { to = flag(); }

bool TreeReader::take(std::string_view sign) {
  if (!text_.starts_with(sign)) return false;
  text_.remove_prefix(sign.size());
  return true;
}

void TreeReader::begin(std::string_view kind) {
  if (!take("(") || item() != kind) throw damaged_expression();
}

void TreeReader::end() {
  if (!take(")")) throw damaged_expression();
  take(" ");
}

std::string_view TreeReader::item() {
  size_t end = text_.find_first_of(" ()");
  if (end == 0 || end == std::string_view::npos) throw damaged_expression();
  std::string_view found = text_.substr(0, end);
  text_.remove_prefix(text_[end] == ' ' ? end + 1 : end);
  return found;
}

size_t TreeReader::index(size_t size) {
  auto value = number<size_t>();
  if (value >= size) throw damaged_expression();
  return value;
}

const BoundExpression* TreeReader::node(std::string_view kind, Oid type, int32_t typmod) {
  if (kind == "constant") return constant(type, typmod);
  if (kind == "column") return column_(number<int16_t>(), type, typmod);
  if (kind == "variable") return variable(type, typmod);
  if (kind == "case") return case_when(type, typmod);
  if (kind == "case_value") return stand_in(type, typmod);
  if (kind == "sublink") return sublink(type, typmod);
  if (kind == "row_value") return row_value(type, typmod);
  const BoundExpression* made = nullptr;
  stored::any_kind([&]<typename N>(std::string_view name) {
    if (name != kind) return false;
    auto* node = make<N>(type, typmod);
    stored::fields(*this, *node);
    complete(*node);
    made = node;
    return true;
  });
  if (made == nullptr) throw damaged_expression();
  return made;
}

void TreeReader::complete_call(CallExpression& node) {
  const BuiltinProcedure& procedure = procedure_of(node.procedure);
  bool may_return_set = depth_ == set_depth_;
  if (!takes(procedure, node.arguments.size()) || procedure.kind != 'f' ||
      (procedure.returns_set && !may_return_set))
    throw damaged_expression();
  bool is_operator = node.form == CallForm::infix_operator;
  if (is_operator != (find_operator(node.operator_oid) != nullptr)) throw damaged_expression();
  node.volatility = volatility_of(procedure);
  node.strict = procedure.strict;
  if (node.volatility == Volatility::volatile_) binding_.calls_volatile = true;
}

// What is known of the procedures and not stored; and what every node of the kind has.
template <typename N>
void TreeReader::complete(N& node) {
  if constexpr (requires { node.argument; }) {
    if (node.argument == nullptr) throw damaged_expression();
  }
  if constexpr (requires { node.left; }) {
    if (node.left == nullptr || node.right == nullptr) throw damaged_expression();
    procedure_of(node.equality);
  }
  if constexpr (requires { node.operand; }) {
    if (node.operand == nullptr) throw damaged_expression();
  }
  if constexpr (std::is_same_v<N, CallExpression>) complete_call(node);
  if constexpr (std::is_same_v<N, AggregateExpression>) {
    const BuiltinProcedure& procedure = procedure_of(node.procedure);
    bool is_known = procedure.kind == 'a' &&
                    (node.star ? node.arguments.empty() : takes(procedure, node.arguments.size()));
    if (!is_known || node.levels_up < 0 || static_cast<size_t>(node.levels_up) >= open_.size())
      throw damaged_expression();
  }
  if constexpr (std::is_same_v<N, BooleanExpression>) {
    bool is_not = node.op == BooleanOperator::not_;
    if (is_not ? node.arguments.size() != 1 : node.arguments.size() < 2) throw damaged_expression();
  }
  if constexpr (std::is_same_v<N, CoalesceExpression> || std::is_same_v<N, MinMaxExpression>) {
    if (node.arguments.empty()) throw damaged_expression();
  }
  if constexpr (std::is_same_v<N, InListExpression>) {
    if (node.items.empty()) throw damaged_expression();
    procedure_of(node.procedure);
  }
  if constexpr (std::is_same_v<N, ArrayComparisonExpression>) {
    if (node.array == nullptr) throw damaged_expression();
    node.strict = procedure_of(node.procedure).strict;
  }
}

const BoundExpression* TreeReader::constant(Oid type, int32_t typmod) {
  auto* node = make<ConstantExpression>(type, typmod);
  std::string_view value = item();
  if (value == "null") return node;
  node->value = type_info(type).by_reference ? Datum::of_bytes(bytes(value))
                                             : Datum::of_int(number_of<int64_t>(value));
  return node;
}

std::string_view TreeReader::bytes(std::string_view digits) {
  if (!digits.starts_with('x') || digits.size() % 2 != 1) throw damaged_expression();
  digits.remove_prefix(1);
  std::span<char> value = binding_.arena.make_span<char>(digits.size() / 2);
  for (size_t i = 0; i < value.size(); ++i) {
    uint8_t byte = 0;
    const char* at = digits.data() + 2 * i;
    auto [end, error] = std::from_chars(at, at + 2, byte, 16);
    if (error != std::errc() || end != at + 2) throw damaged_expression();
    value[i] = static_cast<char>(byte);
  }
  return {value.data(), value.size()};
}

const BoundExpression* TreeReader::case_when(Oid type, int32_t typmod) {
  auto* node = make<CaseExpression>(type, typmod);
  child(node->argument);
  node->otherwise = needed();
  if (node->argument != nullptr) node->argument_parameter = binding_.new_execution_parameter();
  std::vector<BoundWhen> whens;
  while (!at_end()) {
    BoundWhen& when = whens.emplace_back();
    stand_ins_.push_back(node);
    when.condition = needed();
    stand_ins_.pop_back();
    when.result = needed();
  }
  if (whens.empty()) throw damaged_expression();
  node->whens = binding_.arena.copy_span(whens);
  return node;
}

const BoundExpression* TreeReader::stand_in(Oid type, int32_t typmod) {
  size_t out = index(stand_ins_.size());
  const CaseExpression& chosen = *stand_ins_[stand_ins_.size() - 1 - out];
  if (chosen.argument == nullptr) throw damaged_expression();
  auto* node = make<ExecutionParameterExpression>(type, typmod);
  node->index = chosen.argument_parameter;
  node->source = chosen.argument;
  return node;
}

void require_column(int16_t number, size_t columns) {
  if (number < 1 || static_cast<size_t>(number) > columns) throw damaged_expression();
}

const BoundExpression* read_expression(StatementBinding& binding, const StoredExpression& stored,
                                       ColumnMaker column) {
  if (stored.is_sql()) throw_unread(stored);
  for (Oid type : stored.uses.types) binding.use_type(type);
  return TreeReader(binding, stored.tree(), column).read_expression();
}

const BoundExpression* read_constant_expression(StatementBinding& binding,
                                                const StoredExpression& stored) {
  return read_expression(binding, stored, [](int16_t, Oid, int32_t) -> const BoundExpression* {
    throw damaged_expression();
  });
}

}  // namespace pgsilo
