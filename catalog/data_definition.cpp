#include "catalog/data_definition.h"

#include "catalog/definition/comment_steps.h"
#include "catalog/definition/definition_steps.h"
#include "catalog/definition/domain_steps.h"
#include "catalog/definition/type_steps.h"

namespace pgsilo {

// Runs the steps of one operation; the engine's answers come back as a status.
template <typename Steps, typename Operation>
TransactionStatus DataDefinition::run(Operation operation) {
  try {
    Steps steps(*this);
    operation(steps);
    return TransactionStatus::ok;
  } catch (const EngineOutcome& outcome) {
    return outcome.status;
  }
}

TransactionStatus DataDefinition::create_table(const TableDefinition& definition,
                                               bool if_not_exists, const TableDescriptor** table) {
  if (table != nullptr) *table = nullptr;
  return run([&](DefinitionSteps& steps) { steps.create_table(definition, if_not_exists, table); });
}

TransactionStatus DataDefinition::drop_tables(std::span<const ObjectName> names, bool if_exists,
                                              bool cascade) {
  return run([&](DefinitionSteps& steps) { steps.drop_tables(names, if_exists, cascade); });
}

TransactionStatus DataDefinition::drop_indexes(std::span<const ObjectName> names, bool if_exists,
                                               bool cascade) {
  return run([&](DefinitionSteps& steps) { steps.drop_indexes(names, if_exists, cascade); });
}

TransactionStatus DataDefinition::create_view(const ViewDefinition& definition) {
  return run([&](DefinitionSteps& steps) { steps.create_view(definition); });
}

TransactionStatus DataDefinition::drop_views(std::span<const ObjectName> names, bool if_exists,
                                             bool cascade) {
  return run([&](DefinitionSteps& steps) { steps.drop_views(names, if_exists, cascade); });
}

TransactionStatus DataDefinition::create_index(Oid table, const IndexDefinition& definition,
                                               bool if_not_exists) {
  return run([&](DefinitionSteps& steps) { steps.create_index(table, definition, if_not_exists); });
}

TransactionStatus DataDefinition::begin_index(Oid table, const IndexDefinition& definition,
                                              bool if_not_exists, Oid* index) {
  return run([&](DefinitionSteps& steps) {
    *index = steps.begin_index(table, definition, if_not_exists);
  });
}

TransactionStatus DataDefinition::finish_index(Oid table, Oid index) {
  return run([&](DefinitionSteps& steps) { steps.finish_index(table, index); });
}

TransactionStatus DataDefinition::discard_index(Oid table, Oid index) {
  return run([&](DefinitionSteps& steps) { steps.discard_index(table, index); });
}

TransactionStatus DataDefinition::add_key(Oid table, const IndexDefinition& definition) {
  return run([&](DefinitionSteps& steps) { steps.add_key(table, definition); });
}

TransactionStatus DataDefinition::add_check(Oid table, const CheckDefinition& definition,
                                            RowTransform* check) {
  return run([&](DefinitionSteps& steps) { steps.add_check(table, definition, check); });
}

TransactionStatus DataDefinition::add_foreign_key(Oid table, const ForeignKeyDefinition& definition,
                                                  Oid* constraint) {
  return run(
      [&](DefinitionSteps& steps) { *constraint = steps.add_foreign_key(table, definition); });
}

TransactionStatus DataDefinition::visit_rows(Oid table, RowTransform& visitor, bool validates) {
  return run([&](DefinitionSteps& steps) { steps.visit_rows(table, visitor, validates); });
}

TransactionStatus DataDefinition::set_validated(Oid table, Oid constraint) {
  return run([&](DefinitionSteps& steps) { steps.set_validated(table, constraint); });
}

TransactionStatus DataDefinition::set_deferrability(Oid table, Oid constraint, bool deferrable,
                                                    bool initially_deferred) {
  return run([&](DefinitionSteps& steps) {
    steps.set_deferrability(table, constraint, deferrable, initially_deferred);
  });
}

TransactionStatus DataDefinition::drop_constraint(Oid table, std::string_view name, bool if_exists,
                                                  bool cascade) {
  return run(
      [&](DefinitionSteps& steps) { steps.drop_constraint(table, name, if_exists, cascade); });
}

TransactionStatus DataDefinition::add_column(Oid table, const ColumnDefinition& definition,
                                             Datum missing, RowTransform* transform,
                                             bool if_not_exists) {
  return run([&](DefinitionSteps& steps) {
    steps.add_column(table, definition, missing, transform, if_not_exists);
  });
}

TransactionStatus DataDefinition::drop_column(Oid table, std::string_view column, bool if_exists,
                                              bool cascade) {
  return run([&](DefinitionSteps& steps) { steps.drop_column(table, column, if_exists, cascade); });
}

TransactionStatus DataDefinition::set_column_type(Oid table, std::string_view column,
                                                  const ColumnTypeDefinition& to,
                                                  RowTransform* transform) {
  return run([&](DefinitionSteps& steps) { steps.set_column_type(table, column, to, transform); });
}

TransactionStatus DataDefinition::set_default(Oid table, std::string_view column,
                                              const StoredExpression& value) {
  return run([&](DefinitionSteps& steps) { steps.set_default(table, column, value); });
}

TransactionStatus DataDefinition::set_expressions(Oid table, const TableExpressions& expressions) {
  return run([&](DefinitionSteps& steps) { steps.set_expressions(table, expressions); });
}

TransactionStatus DataDefinition::set_comment(const CommentAddress& of, std::string_view text) {
  return run<CommentSteps>([&](CommentSteps& steps) { steps.set_comment(of, text); });
}

TransactionStatus DataDefinition::set_statistics_target(Oid table, std::string_view column,
                                                        int32_t target) {
  return run([&](DefinitionSteps& steps) { steps.set_statistics_target(table, column, target); });
}

TransactionStatus DataDefinition::set_storage(Oid table, std::string_view column, char storage) {
  return run([&](DefinitionSteps& steps) { steps.set_storage(table, column, storage); });
}

TransactionStatus DataDefinition::set_not_null(Oid table, std::string_view column, bool not_null) {
  return run([&](DefinitionSteps& steps) { steps.set_not_null(table, column, not_null); });
}

TransactionStatus DataDefinition::set_options(Oid table, std::vector<std::string> options) {
  return run([&](DefinitionSteps& steps) { steps.set_options(table, std::move(options)); });
}

TransactionStatus DataDefinition::rewrite_table(Oid table) {
  return run([&](DefinitionSteps& steps) { steps.rewrite_table(table); });
}

TransactionStatus DataDefinition::truncate(std::span<const Oid> tables, bool restart_identity,
                                           bool cascade) {
  return run([&](DefinitionSteps& steps) { steps.truncate(tables, restart_identity, cascade); });
}

TransactionStatus DataDefinition::create_sequence(const NewSequence& definition,
                                                  const SequenceOwner& owner, bool if_not_exists) {
  return run(
      [&](DefinitionSteps& steps) { steps.create_sequence(definition, owner, if_not_exists); });
}

TransactionStatus DataDefinition::alter_sequence(Oid sequence, const SequenceOptions& options,
                                                 const SequenceOwner& owner) {
  return run([&](DefinitionSteps& steps) { steps.alter_sequence(sequence, options, owner); });
}

TransactionStatus DataDefinition::drop_sequences(std::span<const ObjectName> names, bool if_exists,
                                                 bool cascade) {
  return run([&](DefinitionSteps& steps) { steps.drop_sequences(names, if_exists, cascade); });
}

TransactionStatus DataDefinition::create_column_sequence(Oid table, ColumnDefinition* definition) {
  return run([&](DefinitionSteps& steps) { steps.create_column_sequence(table, definition); });
}

TransactionStatus DataDefinition::add_identity(Oid table, std::string_view column,
                                               const ColumnSequenceDefinition& definition) {
  return run([&](DefinitionSteps& steps) { steps.add_identity(table, column, definition); });
}

TransactionStatus DataDefinition::set_identity(Oid table, std::string_view column,
                                               IdentityKind kind, const SequenceOptions& options) {
  return run([&](DefinitionSteps& steps) { steps.set_identity(table, column, kind, options); });
}

TransactionStatus DataDefinition::create_statistics(Oid table,
                                                    const StatisticsDefinition& definition) {
  return run([&](DefinitionSteps& steps) { steps.create_statistics(table, definition); });
}

TransactionStatus DataDefinition::drop_statistics(const StatisticsDescriptor& statistics) {
  return run([&](DefinitionSteps& steps) { steps.drop_statistics(statistics); });
}

TransactionStatus DataDefinition::alter_statistics(const StatisticsDescriptor& statistics,
                                                   const StatisticsChange& change) {
  return run([&](DefinitionSteps& steps) { steps.alter_statistics(statistics, change); });
}

TransactionStatus DataDefinition::drop_generation(Oid table, std::string_view column,
                                                  bool if_exists) {
  return run([&](DefinitionSteps& steps) { steps.drop_generation(table, column, if_exists); });
}

TransactionStatus DataDefinition::drop_identity(Oid table, std::string_view column,
                                                bool if_exists) {
  return run([&](DefinitionSteps& steps) { steps.drop_identity(table, column, if_exists); });
}

TransactionStatus DataDefinition::rename_relation(Oid relation, std::string_view new_name) {
  return run([&](DefinitionSteps& steps) { steps.rename_relation(relation, new_name); });
}

TransactionStatus DataDefinition::rename_column(Oid table, std::string_view column,
                                                std::string_view new_name) {
  return run([&](DefinitionSteps& steps) { steps.rename_column(table, column, new_name); });
}

TransactionStatus DataDefinition::rename_constraint(Oid table, std::string_view constraint,
                                                    std::string_view new_name) {
  return run([&](DefinitionSteps& steps) { steps.rename_constraint(table, constraint, new_name); });
}

TransactionStatus DataDefinition::settle_temporary_tables() {
  return run([&](DefinitionSteps& steps) { steps.settle_temporary_tables(); });
}

TransactionStatus DataDefinition::drop_temporary_objects() {
  return run([&](DefinitionSteps& steps) {
    if (const SchemaDescriptor* schema = view_.temporary_schema()) steps.empty_schema(schema->oid);
  });
}

TransactionStatus DataDefinition::drop_temporary_schema(Oid schema) {
  return run([&](DefinitionSteps& steps) {
    steps.empty_schema(schema);
    steps.remove_schema(schema);
  });
}

TransactionStatus DataDefinition::create_schema(std::string_view name, bool if_not_exists) {
  return run([&](DefinitionSteps& steps) { steps.create_schema(name, if_not_exists); });
}

TransactionStatus DataDefinition::drop_schemas(std::span<const std::string_view> names,
                                               bool if_exists, bool cascade) {
  return run([&](DefinitionSteps& steps) { steps.drop_schemas(names, if_exists, cascade); });
}

TransactionStatus DataDefinition::create_enum(const ObjectName& name,
                                              std::span<const std::string_view> labels) {
  return run<TypeSteps>([&](TypeSteps& steps) { steps.create_enum(name, labels); });
}

TransactionStatus DataDefinition::add_enum_value(Oid type, const EnumValueDefinition& value,
                                                 bool if_not_exists) {
  return run<TypeSteps>(
      [&](TypeSteps& steps) { steps.add_enum_value(type, value, if_not_exists); });
}

TransactionStatus DataDefinition::rename_enum_value(Oid type, std::string_view old_name,
                                                    std::string_view new_name) {
  return run<TypeSteps>(
      [&](TypeSteps& steps) { steps.rename_enum_value(type, old_name, new_name); });
}

TransactionStatus DataDefinition::rename_type(Oid type, std::string_view new_name) {
  return run<TypeSteps>([&](TypeSteps& steps) { steps.rename_type(type, new_name); });
}

TransactionStatus DataDefinition::drop_types(std::span<const ObjectName> names, bool if_exists,
                                             bool cascade) {
  return run<TypeSteps>([&](TypeSteps& steps) { steps.drop_types(names, if_exists, cascade); });
}

TransactionStatus DataDefinition::set_type_schema(Oid type, std::string_view schema) {
  return run<TypeSteps>([&](TypeSteps& steps) { steps.set_schema(type, schema); });
}

TransactionStatus DataDefinition::create_domain(const ObjectName& name,
                                                const DomainDefinition& definition) {
  return run<DomainSteps>([&](DomainSteps& steps) { steps.create(name, definition); });
}

TransactionStatus DataDefinition::drop_domains(std::span<const ObjectName> names, bool if_exists,
                                               bool cascade) {
  return run<TypeSteps>(
      [&](TypeSteps& steps) { steps.drop_types(names, if_exists, cascade, /*domains=*/true); });
}

TransactionStatus DataDefinition::set_domain_default(Oid domain, const StoredExpression& value,
                                                     std::string_view text) {
  return run<DomainSteps>([&](DomainSteps& steps) { steps.set_default(domain, value, text); });
}

TransactionStatus DataDefinition::set_domain_not_null(Oid domain, bool not_null,
                                                      DomainValues* values) {
  return run<DomainSteps>(
      [&](DomainSteps& steps) { steps.set_not_null(domain, not_null, values); });
}

TransactionStatus DataDefinition::add_domain_constraint(
    Oid domain, const DomainConstraintDefinition& constraint, DomainValues* values) {
  return run<DomainSteps>(
      [&](DomainSteps& steps) { steps.add_constraint(domain, constraint, values); });
}

TransactionStatus DataDefinition::validate_domain_constraint(Oid domain, std::string_view name,
                                                             DomainValues* values) {
  return run<DomainSteps>(
      [&](DomainSteps& steps) { steps.validate_constraint(domain, name, values); });
}

TransactionStatus DataDefinition::drop_domain_constraint(Oid domain, std::string_view name,
                                                         bool if_exists) {
  return run<DomainSteps>(
      [&](DomainSteps& steps) { steps.drop_constraint(domain, name, if_exists); });
}

TransactionStatus DataDefinition::rename_domain_constraint(Oid domain, std::string_view name,
                                                           std::string_view new_name) {
  return run<DomainSteps>(
      [&](DomainSteps& steps) { steps.rename_constraint(domain, name, new_name); });
}

}  // namespace pgsilo
