#include <algorithm>
#include <charconv>
#include <vector>

#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "planner/binder/binding.h"
#include "planner/bound/make_expression.h"
#include "planner/stored/stored_fields.h"
#include "planner/stored/stored_tree.h"
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

class TreeReader {
 public:
  TreeReader(StatementBinding& binding, std::string_view text, ColumnMaker column)
      : binding_(binding), text_(text), column_(column) {}

  const BoundExpression* read() {
    const BoundExpression* expression = nullptr;
    child(expression);
    if (expression == nullptr || !text_.empty()) throw damaged_expression();
    return expression;
  }

  void child(const BoundExpression*& to) {
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
    if (++depth_ > max_depth) throw damaged_expression();
    require_stack();
    to = node(kind, type, typmod);
    --depth_;
    if (!take(")")) throw damaged_expression();
  }
  void list(ExpressionList& to) {
    std::vector<const BoundExpression*> children;
    while (!text_.starts_with(')')) child(children.emplace_back());
    for (const BoundExpression* read : children) {
      if (read == nullptr) throw damaged_expression();
    }
    to = binding_.arena.copy_span(children);
  }
  void oid(Oid& to) { to = number<Oid>(); }
  void flag(bool& to) {
    std::string_view text = item();
    if (text != "t" && text != "f") throw damaged_expression();
    to = text == "t";
  }
  template <typename E>
  void word(E& to, stored::Words words) {
    auto found = std::ranges::find(words, item());
    if (found == words.end()) throw damaged_expression();
    to = static_cast<E>(found - words.begin());
  }

 private:
  static bool is_pseudo_type(Oid type) { return type == type_oid::record; }

  bool take(std::string_view sign) {
    if (!text_.starts_with(sign)) return false;
    text_.remove_prefix(sign.size());
    if (sign == ")" && text_.starts_with(' ')) text_.remove_prefix(1);
    return true;
  }
  std::string_view item() {
    size_t end = text_.find_first_of(" ()");
    if (end == 0 || end == std::string_view::npos) throw damaged_expression();
    std::string_view found = text_.substr(0, end);
    text_.remove_prefix(text_[end] == ' ' ? end + 1 : end);
    return found;
  }
  template <typename T>
  T number() {
    return number<T>(item());
  }
  template <typename T>
  static T number(std::string_view text) {
    T value;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) throw damaged_expression();
    return value;
  }

  const BoundExpression* node(std::string_view kind, Oid type, int32_t typmod) {
    if (kind == "constant") return constant(type, typmod);
    if (kind == "column") return column_(number<int16_t>(), type, typmod);
    if (kind == "case") return case_when(type, typmod);
    if (kind == "case_value") return stand_in(type, typmod);
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
  template <typename N>
  N* make(Oid type, int32_t typmod) {
    N* node = make_expression<N>(binding_.arena, type);
    node->typmod = typmod;
    return node;
  }

  // What is known of the procedures and not stored; and what every node of the kind has.
  template <typename N>
  void complete(N& node) {
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
    if constexpr (std::is_same_v<N, CallExpression>) {
      const BuiltinProcedure& procedure = procedure_of(node.procedure);
      if (!takes(procedure, node.arguments.size()) || procedure.returns_set ||
          procedure.kind != 'f')
        throw damaged_expression();
      bool is_operator = node.form == CallForm::infix_operator;
      if (is_operator != (find_operator(node.operator_oid) != nullptr)) throw damaged_expression();
      node.volatility = volatility_of(procedure);
      node.strict = procedure.strict;
      if (node.volatility == Volatility::volatile_) binding_.calls_volatile = true;
    }
    if constexpr (std::is_same_v<N, BooleanExpression>) {
      bool is_not = node.op == BooleanOperator::not_;
      if (is_not ? node.arguments.size() != 1 : node.arguments.size() < 2)
        throw damaged_expression();
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

  const BoundExpression* constant(Oid type, int32_t typmod) {
    auto* node = make<ConstantExpression>(type, typmod);
    std::string_view value = item();
    if (value == "null") return node;
    node->value = type_info(type).by_reference ? Datum::of_bytes(bytes(value))
                                               : Datum::of_int(number<int64_t>(value));
    return node;
  }
  std::string_view bytes(std::string_view digits) {
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

  const BoundExpression* case_when(Oid type, int32_t typmod) {
    auto* node = make<CaseExpression>(type, typmod);
    child(node->argument);
    child(node->otherwise);
    if (node->otherwise == nullptr) throw damaged_expression();
    if (node->argument != nullptr) node->argument_parameter = binding_.new_execution_parameter();
    std::vector<BoundWhen> whens;
    while (!text_.starts_with(')')) {
      BoundWhen& when = whens.emplace_back();
      stand_ins_.push_back(node);
      child(when.condition);
      stand_ins_.pop_back();
      child(when.result);
      if (when.condition == nullptr || when.result == nullptr) throw damaged_expression();
    }
    if (whens.empty()) throw damaged_expression();
    node->whens = binding_.arena.copy_span(whens);
    return node;
  }
  const BoundExpression* stand_in(Oid type, int32_t typmod) {
    auto out = number<size_t>();
    if (out >= stand_ins_.size()) throw damaged_expression();
    const CaseExpression& chosen = *stand_ins_[stand_ins_.size() - 1 - out];
    if (chosen.argument == nullptr) throw damaged_expression();
    auto* node = make<ExecutionParameterExpression>(type, typmod);
    node->index = chosen.argument_parameter;
    node->source = chosen.argument;
    return node;
  }

  StatementBinding& binding_;
  std::string_view text_;
  ColumnMaker column_;
  int depth_ = 0;
  std::vector<const CaseExpression*> stand_ins_;  // of the CASEs whose conditions are being read
};

}  // namespace

void require_column(int16_t number, size_t columns) {
  if (number < 1 || static_cast<size_t>(number) > columns) throw damaged_expression();
}

const BoundExpression* read_expression(StatementBinding& binding, const StoredExpression& stored,
                                       ColumnMaker column) {
  if (stored.is_sql()) throw_unread(stored);
  for (Oid type : stored.uses.types) binding.use_type(type);
  return TreeReader(binding, stored.tree(), column).read();
}

const BoundExpression* read_constant_expression(StatementBinding& binding,
                                                const StoredExpression& stored) {
  return read_expression(binding, stored, [](int16_t, Oid, int32_t) -> const BoundExpression* {
    throw damaged_expression();
  });
}

}  // namespace pgsilo
