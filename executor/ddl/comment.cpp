// COMMENT ON.
#include "catalog/comments.h"
#include "catalog/named_relation.h"
#include "catalog/named_type.h"
#include "executor/ddl/ddl_command.h"
#include "executor/ddl/statistics.h"
#include "executor/ddl/type_names.h"

namespace pgsilo {

namespace {

CommentAddress column_address(DdlRun& run, std::span<const std::string_view> words) {
  if (words.size() < 2) throw SqlError(sqlstate::syntax_error, "column name must be qualified");
  const TableDescriptor* table = run.find_relation(relation_name(words.first(words.size() - 1)));
  if (table->kind == RelationKind::sequence) {
    throw SqlError(sqlstate::wrong_object_type,
                   concat("cannot set comment on relation \"", table->name, "\""))
        .detail("This operation is not supported for sequences.");
  }
  const ColumnDescriptor* column = table->find_column(words.back());
  if (column == nullptr) {
    throw SqlError(
        sqlstate::undefined_column,
        concat("column \"", words.back(), "\" of relation \"", table->name, "\" does not exist"));
  }
  return {{system_oid::pg_class, table->oid}, column->number};
}

CommentAddress constraint_address(DdlRun& run, std::span<const std::string_view> words) {
  const TableDescriptor* table = run.find_relation(relation_name(words.first(words.size() - 1)));
  const ConstraintDescriptor* constraint = table->find_constraint(words.back());
  if (constraint == nullptr) {
    throw SqlError(
        sqlstate::undefined_object,
        concat("constraint \"", words.back(), "\" for table \"", table->name, "\" does not exist"));
  }
  return {{system_oid::pg_constraint, constraint->oid}};
}

CommentAddress index_address(DdlRun& run, const ast::RangeVar& name) {
  if (const IndexDescriptor* index = run.catalog().find_index(run.schema_of(name), name.name))
    return {{system_oid::pg_class, index->oid}};
  const TableDescriptor* other = run.find_relation(name);
  throw SqlError(sqlstate::wrong_object_type, concat("\"", other->name, "\" is not an index"));
}

CommentAddress type_address(DdlRun& run, const ast::NameList& name) {
  const TypeDescriptor* made = find_type_descriptor(run, name);
  if (made == nullptr) return {{system_oid::pg_type, find_named_type(run.catalog(), name)->oid}};
  bool is_array = made->array_name == name.back();
  return {{system_oid::pg_type, is_array ? made->array_oid : made->address.oid}};
}

CommentAddress domain_constraint_address(DdlRun& run, const ast::NameList& words) {
  const TypeDescriptor& type = require_domain(run, words.first(words.size() - 1));
  const DomainConstraint* constraint = type.domain->find_constraint(words.back());
  if (constraint == nullptr) {
    throw SqlError(
        sqlstate::undefined_object,
        concat("constraint \"", words.back(), "\" for domain ", type.name, " does not exist"));
  }
  return {{system_oid::pg_constraint, constraint->oid}};
}

CommentAddress schema_address(DdlRun& run, std::string_view name) {
  const SchemaDescriptor* schema = run.catalog().snapshot().find_schema(name);  // not pg_temp
  if (schema == nullptr) throw undefined_schema(name);
  return {{system_oid::pg_namespace, schema->oid}};
}

CommentAddress address_of(DdlRun& run, const ast::CommentStmt& syntax) {
  std::span<const std::string_view> words(syntax.object.begin(), syntax.object.size());
  switch (syntax.object_kind) {
    case ast::ObjectKind::column:
      return column_address(run, words);
    case ast::ObjectKind::constraint:
      return constraint_address(run, words);
    case ast::ObjectKind::index:
      return index_address(run, relation_name(words));
    case ast::ObjectKind::type:
      return type_address(run, syntax.object);
    case ast::ObjectKind::domain:
      return {require_domain(run, syntax.object).address};
    case ast::ObjectKind::statistics:
      return {require_statistics(run, syntax.object).address};
    case ast::ObjectKind::domain_constraint:
      return domain_constraint_address(run, syntax.object);
    case ast::ObjectKind::schema:
      return schema_address(run, words.back());
    case ast::ObjectKind::view:
      return {{system_oid::pg_class, run.find_view(relation_name(words))->oid}};
    case ast::ObjectKind::sequence:
      return {{system_oid::pg_class, run.find_sequence(relation_name(words))->oid}};
    default:
      return {{system_oid::pg_class, run.find_table(relation_name(words))->oid}};
  }
}

class Comment final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override { return "COMMENT"; }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::CommentStmt>();
    run.finish(run.definition().set_comment(address_of(run, syntax), syntax.comment));
  }
};

}  // namespace

std::unique_ptr<const UtilityCommand> make_comment(const PlannedOwner& planned) {
  return std::make_unique<Comment>(planned);
}

}  // namespace pgsilo
