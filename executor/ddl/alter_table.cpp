// ALTER TABLE: its commands one after the other, each on what the one before left, in the order
// that PostgreSQL brings them into.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catalog/definition/object_names.h"
#include "executor/ddl/column_type.h"
#include "executor/ddl/foreign_key.h"
#include "executor/ddl/row_transforms.h"
#include "executor/ddl/sequence_options.h"
#include "executor/ddl/statistics.h"
#include "executor/ddl/storage_options.h"
#include "executor/ddl/table_definition.h"
#include "executor/ddl/view.h"
#include "executor/expression/standalone_expression.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
#include "planner/bound/expression_tree.h"
#include "planner/stored/stored_tree.h"
#include "sql/limits.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

class AlterTable final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override {
    return alter_tag(syntax<ast::AlterTableStmt>().object_kind);
  }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::AlterTableStmt>();
    if (alter_index(run, syntax)) return;
    // All kinds of relations have owners.
    if (std::all_of(syntax.commands.begin(), syntax.commands.end(), [](const auto& each) {
          return each.kind == ast::AlterTableKind::change_owner;
        })) {
      return change_owner(run, syntax);
    }
    if (syntax.object_kind == ast::ObjectKind::sequence)
      throw_unsupported("ALTER SEQUENCE ... SET LOGGED or UNLOGGED");
    if (const TableDescriptor* view = find_view(run, syntax)) return alter_view(run, *view, syntax);
    const TableDescriptor* table = run.find_table(*syntax.relation, syntax.missing_ok);
    if (table != nullptr) run.refuse_foreign_temporary(*table, "alter");
    if (table == nullptr) return;
    if (syntax.object_kind == ast::ObjectKind::view)
      throw SqlError(sqlstate::wrong_object_type, concat("\"", table->name, "\" is not a view"));
    run.refuse_in_use(*table, tag());
    Oid oid = table->oid;
    refuse_second_types(syntax);
    ColumnReferences references;
    for (int pass = 0; pass <= last_pass; ++pass) {
      for (const ast::AlterTableCommand& command : syntax.commands) {
        if (pass_of(command) == pass) apply(run, oid, command, references);
      }
      if (pass != key_pass) continue;
      for (const auto& [constraint, column] : references)
        add_foreign_key(run, oid, *constraint, column);
    }
  }

  // Of a user.
  static const TableDescriptor* find_view(DdlRun& run, const ast::AlterTableStmt& syntax) {
    const TableDescriptor* found =
        find_relation(run.catalog(), run.binding().database_name, *syntax.relation).table;
    bool is_view = found != nullptr && found->kind == RelationKind::view && !found->is_system();
    return is_view ? found : nullptr;
  }

  // Whether that was all: an index has storage parameters, by ALTER TABLE, too.
  static bool alter_index(DdlRun& run, const ast::AlterTableStmt& syntax) {
    using Kind = ast::AlterTableKind;
    bool is_for_index = syntax.object_kind == ast::ObjectKind::index;
    bool sets_options = std::ranges::all_of(syntax.commands, [](const auto& command) {
      return command.kind == Kind::set_options || command.kind == Kind::reset_options;
    });
    if (!sets_options && is_for_index) throw_unsupported("ALTER INDEX");
    if (!sets_options || (!is_for_index && syntax.object_kind != ast::ObjectKind::table))
      return false;
    const ast::RangeVar& name = *syntax.relation;
    NamedRelation found = run.find_named(name, syntax.missing_ok);
    if (!found.exists()) return true;
    if (found.index == nullptr) {
      if (!is_for_index) return false;
      throw SqlError(sqlstate::wrong_object_type, concat("\"", name.name, "\" is not an index"));
    }
    Oid oid = found.index->oid;
    for (const ast::AlterTableCommand& command : syntax.commands) {
      const std::vector<std::string>& before = run.catalog().snapshot().find_index(oid)->options;
      run.finish(run.definition().set_options(
          oid, command.kind == Kind::set_options
                   ? set_options(run, before, command.options, StorageOptionsOf::index)
                   : reset_options(before, command.options)));
    }
    return true;
  }

  // The foreign keys of new columns, made when all keys are there, and the columns' names.
  using ColumnReferences = std::vector<std::pair<const ast::Constraint*, std::string>>;

  static void refuse_second_types(const ast::AlterTableStmt& syntax) {
    std::set<std::string_view> columns;
    for (const ast::AlterTableCommand& command : syntax.commands) {
      if (command.kind != ast::AlterTableKind::set_type || columns.insert(command.name).second)
        continue;
      throw SqlError(sqlstate::feature_not_supported,
                     concat("cannot alter type of column \"", command.name, "\" twice"));
    }
  }

  static constexpr int key_pass = 4;
  static constexpr int last_pass = 6;
  // What goes, then types, new columns, new constraints, and what is said of columns.
  static int pass_of(const ast::AlterTableCommand& command) {
    using Kind = ast::AlterTableKind;
    switch (command.kind) {
      case Kind::drop_column:
      case Kind::drop_constraint:
      case Kind::drop_default:
      case Kind::drop_not_null:
      case Kind::drop_identity:
      case Kind::drop_expression:
        return 0;
      case Kind::set_type:
        return 1;
      case Kind::add_column:
        return 2;
      case Kind::set_not_null:
      case Kind::set_statistics:
      case Kind::set_identity:
        return 3;
      case Kind::add_constraint:
        return is_key(*command.constraint) ? key_pass : key_pass + 1;
      case Kind::set_default:
      case Kind::add_identity:
        return 5;
      default:
        return last_pass;
    }
  }
  static bool is_key(const ast::Constraint& constraint) {
    return constraint.constraint_kind == ast::ConstraintKind::primary_key ||
           constraint.constraint_kind == ast::ConstraintKind::unique;
  }

  static void change_owner(DdlRun& run, const ast::AlterTableStmt& syntax) {
    const TableDescriptor* relation = run.find_relation(*syntax.relation, syntax.missing_ok);
    if (relation == nullptr) return;
    require_kind(*relation, syntax.object_kind);
    for (const ast::AlterTableCommand& command : syntax.commands) require_own_role(command.name);
  }

  static void apply(DdlRun& run, Oid table, const ast::AlterTableCommand& command,
                    ColumnReferences& references) {
    DataDefinition& definition = run.definition();
    switch (command.kind) {
      case ast::AlterTableKind::add_column:
        return add_column(run, table, command, references);
      case ast::AlterTableKind::drop_column:
        return run.finish(definition.drop_column(table, command.name, command.missing_ok,
                                                 command.behavior == ast::DropBehavior::cascade));
      case ast::AlterTableKind::set_default:
        return set_default(run, table, command);
      case ast::AlterTableKind::drop_default:
        return run.finish(definition.set_default(table, command.name, {}));
      case ast::AlterTableKind::set_not_null:
        return run.finish(definition.set_not_null(table, command.name, true));
      case ast::AlterTableKind::drop_not_null:
        return run.finish(definition.set_not_null(table, command.name, false));
      case ast::AlterTableKind::set_type:
        return alter_column_type(run, table, command);
      case ast::AlterTableKind::add_constraint:
        return add_constraint(run, table, *command.constraint);
      case ast::AlterTableKind::drop_constraint:
        refuse_pending_references(run, table, command.name);
        return run.finish(
            definition.drop_constraint(table, command.name, command.missing_ok,
                                       command.behavior == ast::DropBehavior::cascade));
      case ast::AlterTableKind::alter_constraint:
        return alter_constraint(run, table, *command.constraint);
      case ast::AlterTableKind::set_options:
        return run.finish(definition.set_options(
            table,
            set_options(run, run.table(table).options, command.options, StorageOptionsOf::table)));
      case ast::AlterTableKind::add_identity:
        return add_identity(run, table, command);
      case ast::AlterTableKind::set_identity:
        return set_identity(run, table, command);
      case ast::AlterTableKind::drop_identity:
        return run.finish(definition.drop_identity(table, command.name, command.missing_ok));
      case ast::AlterTableKind::drop_expression:
        return run.finish(definition.drop_generation(table, command.name, command.missing_ok));
      case ast::AlterTableKind::set_statistics:
        return set_statistics_target(run, table, command);
      case ast::AlterTableKind::set_storage:
        return set_storage(run, table, command);
      case ast::AlterTableKind::validate_constraint:
        return validate_constraint(run, table, command.name);
      case ast::AlterTableKind::reset_options:
        return run.finish(definition.set_options(
            table, reset_options(run.table(table).options, command.options)));
      case ast::AlterTableKind::set_logged:
        throw_unsupported("ALTER TABLE ... SET LOGGED");
      case ast::AlterTableKind::set_unlogged:
        throw_unsupported("ALTER TABLE ... SET UNLOGGED");
      case ast::AlterTableKind::change_owner:
        return require_own_role(command.name);
      case ast::AlterTableKind::unsupported:
        throw_unsupported(command.feature);
    }
  }

  static void set_statistics_target(DdlRun& run, Oid table, const ast::AlterTableCommand& command) {
    if (command.name.empty()) {
      throw SqlError(sqlstate::feature_not_supported, "cannot refer to non-index column by number");
    }
    int32_t target = check_statistics_target(run, command.target);
    find_column(run, table, command.name);
    run.finish(run.definition().set_statistics_target(table, command.name, target));
  }

  static void set_storage(DdlRun& run, Oid table, const ast::AlterTableCommand& command) {
    char storage = find_storage(command.storage);
    const ColumnDescriptor& column = find_column(run, table, command.name);
    const TypeInfo& type = *find_type(column.type);
    if (storage != 'p' && type.storage == 'p') {
      throw SqlError(sqlstate::feature_not_supported, concat("column data type ", type.display_name,
                                                             " can only have storage PLAIN"));
    }
    run.finish(run.definition().set_storage(table, command.name, storage));
  }

  // pg_attribute.attstorage. Rows are stored in one way here: it is kept for who reads it.
  static char find_storage(std::string_view name) {
    constexpr std::pair<std::string_view, char> storages[] = {
        {"plain", 'p'}, {"external", 'e'}, {"extended", 'x'}, {"main", 'm'}};
    for (const auto& [known, letter] : storages) {
      if (known == name) return letter;
    }
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("invalid storage type \"", name, "\""));
  }

  static bool is_volatile(const BoundExpression& expression) {
    return contains(expression, [](const BoundExpression& part) {
      const auto* call = try_as<CallExpression>(&part);
      return call != nullptr && call->volatility == Volatility::volatile_;
    });
  }

  static const BoundExpression* domain_default(DdlRun& run, const ColumnDefinition& from) {
    ColumnDescriptor column;
    column.name = from.name;
    column.type = from.type;
    column.typmod = from.typmod;
    column.user_type = share_user_type(from.type);
    return bind_column_default(run.binding(), column);
  }

  static void add_column(DdlRun& run, Oid table, const ast::AlterTableCommand& command,
                         ColumnReferences& references) {
    const TableDescriptor& before = run.table(table);
    DefinedColumn defined = define_column(run, *command.column, before.name);
    if (command.missing_ok && before.find_column(defined.column.name) != nullptr) {
      return run.finish(run.definition().add_column(table, defined.column, Datum(), nullptr, true));
    }
    for (const IndexDefinition& key : defined.keys) {
      if (key.primary) defined.column.not_null = true;
    }
    size_t old_columns = before.columns.size();
    if (defined.column.sequence) add_sequence(run, table, defined);
    if (defined.generation != nullptr) add_generation(run, before, defined);
    Datum missing;
    std::unique_ptr<ColumnTransform> transform;
    const BoundExpression* value = defined.default_value;
    // Whether a domain allows its default, or NULL, is asked where there are rows.
    bool is_of_domain = base_type_of(defined.column.type) != defined.column.type;
    if (value == nullptr && is_of_domain) value = domain_default(run, defined.column);
    if (value != nullptr && (defined.column.generated || is_of_domain || is_volatile(*value))) {
      size_t read_columns = defined.column.generated ? old_columns : 0;
      transform = std::make_unique<ColumnTransform>(run, *value, read_columns, old_columns);
    } else if (value != nullptr) {
      StandaloneExpression once(*value, 0, run.types(), &run.state().session);
      missing = once.evaluate({}, run.arena());
    }
    run.finish(run.definition().add_column(table, defined.column, missing, transform.get(),
                                           command.missing_ok));
    for (const IndexDefinition& key : defined.keys)
      run.finish(run.definition().add_key(table, key));
    for (const ast::Constraint* check : defined.checks) add_check(run, table, *check);
    for (const ast::Constraint* key : defined.foreign_keys)
      references.emplace_back(key, defined.column.name);
  }

  // As in PostgreSQL, errors do not say where in the statement.
  static void add_generation(DdlRun& run, const TableDescriptor& table, DefinedColumn& defined) {
    KeptText elsewhere(run.binding());
    TableShape shape = TableShape::of(table);
    shape.names.push_back(defined.column.name);
    shape.columns.push_back({defined.column.name, defined.column.type, defined.column.typmod});
    shape.generated.push_back(true);
    defined.default_value = define_generation(run, *defined.generation, shape, defined.column);
  }

  // serial and identity: existing rows get values of the new sequence.
  static void add_sequence(DdlRun& run, Oid table, DefinedColumn& defined) {
    run.finish(run.definition().create_column_sequence(table, &defined.column));
    const ColumnDefinition& column = defined.column;
    defined.default_value =
        column.identity_sequence != invalid_oid
            ? make_next_value(run.binding(), column.identity_sequence, column.type)
            : read_constant_expression(run.binding(), column.default_value);
  }

  static void add_identity(DdlRun& run, Oid table, const ast::AlterTableCommand& command) {
    run.finish(run.definition().add_identity(table, command.name,
                                             define_identity(run, *command.constraint)));
  }

  static void set_identity(DdlRun& run, Oid table, const ast::AlterTableCommand& command) {
    SequenceClauses clauses = read_sequence_options(run, command.options);
    run.finish(
        run.definition().set_identity(table, command.name, clauses.identity, clauses.options));
  }

  static void set_default(DdlRun& run, Oid table, const ast::AlterTableCommand& command) {
    const ColumnDescriptor& column = find_column(run, table, command.name);
    const BoundExpression* value =
        bind_default(run, command.expression, column.name, column.type, column.typmod);
    StoredExpression made;
    // They refuse any default.
    if (!is_no_default(*value) || column.identity != IdentityKind::none || column.generated)
      made = store_expression(run.catalog(), *value);
    run.finish(run.definition().set_default(table, command.name, made));
  }

  static void add_constraint(DdlRun& run, Oid table, const ast::Constraint& constraint) {
    switch (constraint.constraint_kind) {
      case ast::ConstraintKind::primary_key:
      case ast::ConstraintKind::unique:
        return run.finish(run.definition().add_key(table, define_key(run, constraint)));
      case ast::ConstraintKind::check:
        return add_check(run, table, constraint);
      case ast::ConstraintKind::foreign_key:
        return add_foreign_key(run, table, constraint);
      default:
        throw_unsupported_constraint(run, constraint);
    }
  }

  static void add_check(DdlRun& run, Oid table, const ast::Constraint& constraint) {
    if (constraint.not_valid) throw_unsupported("NOT VALID");
    const TableDescriptor& descriptor = run.table(table);
    const BoundExpression* condition;
    CheckDefinition check = define_check(run, constraint, TableShape::of(descriptor), &condition);
    if (check.name.empty()) {
      TakenNames taken(descriptor);
      check.name = choose_check_name(descriptor.name, check, taken);
    }
    CheckTransform transform(run, *condition, descriptor, check.name);
    run.finish(run.definition().add_check(table, check, &transform));
  }
};

}  // namespace

std::unique_ptr<const UtilityCommand> make_alter_table(const PlannedOwner& planned) {
  return std::make_unique<AlterTable>(planned);
}

}  // namespace pgsilo
