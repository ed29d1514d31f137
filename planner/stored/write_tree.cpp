#include <string>
#include <vector>

#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "catalog/catalog_view.h"
#include "catalog/descriptors.h"
#include "planner/binder/binding.h"
#include "planner/stored/stored_fields.h"
#include "planner/stored/stored_tree.h"
#include "sql/internal_error.h"
#include "sql/types/type.h"
#include "sql/types/user_type.h"

namespace pgsilo {

namespace {

constexpr size_t node_work = 512;

class TreeWriter {
 public:
  explicit TreeWriter(const CatalogView& catalog) : catalog_(catalog) {}

  void child(const BoundExpression* expression) {
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
        PGSILO_REQUIRE(node->relation == 0 && node->levels_up == 0);
        return column(*expression, node->column);
      }
      case ExpressionKind::case_when:
        return case_when(*as<CaseExpression>(expression));
      case ExpressionKind::execution_parameter:
        return stand_in(*as<ExecutionParameterExpression>(expression));
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
  void list(ExpressionList expressions) {
    for (const BoundExpression* expression : expressions) child(expression);
  }
  void oid(Oid oid) { item(concat(oid)); }
  void flag(bool value) { item(value ? "t" : "f"); }
  template <typename E>
  void word(E value, stored::Words words) {
    item(words[static_cast<size_t>(value)]);
  }

  StoredExpression finish() { return StoredExpression::make(std::move(uses_), text_); }

 private:
  void item(std::string_view text) {
    if (!text_.empty() && text_.back() != '(') text_ += ' ';
    text_ += text;
  }
  void begin(std::string_view kind, const BoundExpression& node) {
    item("(");
    item(kind);
    oid(node.type);
    item(concat(node.typmod));
    // A column has its type with or without the expression.
    if (kind == "column") return;
    if (auto type = share_user_type(node.type)) uses_.types.push_back(type->type().oid);
  }
  void end() { text_ += ')'; }

  void column(const BoundExpression& node, int32_t index) {
    begin("column", node);
    item(concat(index + 1));
    end();
  }

  void constant(const ConstantExpression& node) {
    begin("constant", node);
    const TypeInfo& type = type_info(node.type);
    if (node.value.null) {
      item("null");
    } else if (type.by_reference) {
      bytes(node.value.bytes());
    } else {
      item(concat(node.value.i64));
      note_sequence(node);
    }
    end();
  }
  // `x00ff`: a value's bytes are the same in memory and in rows.
  void bytes(std::string_view value) {
    constexpr char digits[] = "0123456789abcdef";
    did_work(value.size());
    item("x");
    text_.reserve(text_.size() + 2 * value.size() + 1);
    for (unsigned char byte : value) {
      text_ += digits[byte >> 4];
      text_ += digits[byte & 15];
    }
  }
  void note_sequence(const ConstantExpression& node) {
    if (node.type != type_oid::regclass) return;
    auto named = static_cast<Oid>(node.value.i64);
    const TableDescriptor* relation = catalog_.find_table(named);
    if (relation != nullptr && relation->kind == RelationKind::sequence)
      uses_.sequences.push_back(named);
  }

  // CASE x WHEN y: the conditions read x as the stand-in of the CASE that many CASEs out.
  void case_when(const CaseExpression& node) {
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
  void stand_in(const ExecutionParameterExpression& node) {
    size_t out = 0;
    while (out < stand_ins_.size() && stand_ins_[stand_ins_.size() - 1 - out] != node.index) ++out;
    PGSILO_REQUIRE(out < stand_ins_.size());
    begin("case_value", node);
    item(concat(out));
    end();
  }

  const CatalogView& catalog_;
  std::string text_;
  ExpressionUses uses_;
  std::vector<int32_t> stand_ins_;  // of the CASEs whose conditions are being written
};

}  // namespace

StoredExpression store_expression(const CatalogView& catalog, const BoundExpression& expression) {
  TreeWriter writer(catalog);
  writer.child(&expression);
  return writer.finish();
}

}  // namespace pgsilo
