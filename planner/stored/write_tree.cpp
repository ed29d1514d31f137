#include <string>

#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "catalog/catalog_view.h"
#include "catalog/descriptors.h"
#include "planner/binder/binding.h"
#include "planner/stored/stored_tree.h"
#include "planner/stored/tree_writer.h"
#include "sql/internal_error.h"
#include "sql/types/type.h"
#include "sql/types/user_type.h"

namespace pgsilo {

namespace {
constexpr size_t node_work = 512;
}  // namespace

void TreeWriter::child(const BoundExpression* expression) {
  did_work(node_work);
  require_stack();
  if (expression == nullptr) return item("none");
  switch (expression->kind) {
    case ExpressionKind::constant:
      return constant(*as<ConstantExpression>(expression));
    case ExpressionKind::slot:
      return column(*expression, as<SlotExpression>(expression)->slot);
    case ExpressionKind::column: {
      const auto* node = as<ColumnExpression>(expression);
      if (!open_.empty()) return variable(*node);
      PGSILO_REQUIRE(node->relation == 0 && node->levels_up == 0);
      return column(*expression, node->column);
    }
    case ExpressionKind::case_when:
      return case_when(*as<CaseExpression>(expression));
    case ExpressionKind::execution_parameter:
      return stand_in(*as<ExecutionParameterExpression>(expression));
    case ExpressionKind::sublink:
      return sublink(*as<SublinkExpression>(expression));
    default:
      break;
  }
  bool written = stored::any_kind([&]<typename N>(std::string_view name) {
    const N* node = try_as<N>(expression);
    if (node == nullptr) return false;
    begin(name, *node);
    stored::fields(*this, *node);
    end();
    return true;
  });
  PGSILO_REQUIRE(written);
}

void TreeWriter::number(int64_t value) { item(concat(value)); }

void TreeWriter::item(std::string_view text) {
  if (!text_.empty() && text_.back() != '(') text_ += ' ';
  text_ += text;
}

void TreeWriter::begin(std::string_view kind, const BoundExpression& node) {
  begin(kind);
  oid(node.type);
  number(node.typmod);
  // A column has its type with or without the expression.
  if (node.kind == ExpressionKind::column || node.kind == ExpressionKind::slot) return;
  if (auto type = share_user_type(node.type)) uses_.types.push_back(type->type().oid);
}

void TreeWriter::column(const BoundExpression& node, int32_t index) {
  begin("column", node);
  number(index + 1);
  end();
}

void TreeWriter::constant(const ConstantExpression& node) {
  begin("constant", node);
  const TypeInfo& type = type_info(node.type);
  if (node.value.null) {
    item("null");
  } else if (type.by_reference) {
    bytes(node.value.bytes());
  } else {
    number(node.value.i64);
    note_relation(node);
  }
  end();
}

// `x00ff`: a value's bytes are the same in memory and in rows.
void TreeWriter::bytes(std::string_view value) {
  constexpr char digits[] = "0123456789abcdef";
  did_work(value.size());
  item("x");
  text_.reserve(text_.size() + 2 * value.size() + 1);
  for (unsigned char byte : value) {
    text_ += digits[byte >> 4];
    text_ += digits[byte & 15];
  }
}

void TreeWriter::note_relation(const ConstantExpression& node) {
  if (node.type != type_oid::regclass) return;
  auto named = static_cast<Oid>(node.value.i64);
  const TableDescriptor* relation = catalog_.find_table(named);
  if (relation == nullptr) return;
  if (!open_.empty()) return use_relation(named);
  if (relation->kind == RelationKind::sequence) uses_.sequences.push_back(named);
}

// CASE x WHEN y: the conditions read x as the stand-in of the CASE that many CASEs out.
void TreeWriter::case_when(const CaseExpression& node) {
  begin("case", node);
  child(node.argument);
  child(node.otherwise);
  for (const BoundWhen& when : node.whens) {
    stand_ins_.push_back(node.argument != nullptr ? node.argument_parameter : -1);
    child(when.condition);
    stand_ins_.pop_back();
    child(when.result);
  }
  end();
}

void TreeWriter::stand_in(const ExecutionParameterExpression& node) {
  if (row_value(node)) return;
  size_t out = 0;
  while (out < stand_ins_.size() && stand_ins_[stand_ins_.size() - 1 - out] != node.index) ++out;
  PGSILO_REQUIRE(out < stand_ins_.size());
  begin("case_value", node);
  number(static_cast<int64_t>(out));
  end();
}

StoredExpression store_expression(const CatalogView& catalog, const BoundExpression& expression) {
  TreeWriter writer(catalog);
  writer.child(&expression);
  return writer.finish_expression();
}

}  // namespace pgsilo
