// CREATE VIEW, ALTER VIEW.
#include "executor/ddl/view.h"

#include <algorithm>

#include "executor/ddl/ddl_command.h"
#include "executor/ddl/storage_options.h"
#include "planner/binder/modification_target.h"
#include "planner/binder/query_binder.h"
#include "planner/stored/stored_tree.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

// In any case.
bool is_word(std::string_view value, std::string_view word) {
  return std::ranges::equal(value, word,
                            [](char left, char right) { return (left | ' ') == right; });
}

bool is_boolean(DdlRun& run, const std::string& value) {
  try {
    type_info(type_oid::boolean).parse(value, no_typmod, run.types());
    return true;
  } catch (const SqlError&) {
    return false;
  }
}

// What security means where one role owns everything, is nothing; it is kept and shown.
std::string define_view_option(DdlRun& run, const ast::DefElem& option) {
  std::string value = option_value(option);
  if (option.name == "security_barrier" || option.name == "security_invoker") {
    if (!is_boolean(run, value)) {
      throw SqlError(sqlstate::invalid_parameter_value,
                     concat("invalid value for boolean option \"", option.name, "\": ", value));
    }
  } else if (option.name == "check_option") {
    if (!is_word(value, "local") && !is_word(value, "cascaded")) {
      throw SqlError(sqlstate::invalid_parameter_value,
                     concat("invalid value for enum option \"check_option\": ", value))
          .detail("Valid values are \"local\" and \"cascaded\".");
    }
  } else {
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("unrecognized parameter \"", option.name, "\""));
  }
  return concat(option.name, "=", value);
}

[[noreturn]] void refuse_repeated(std::string_view option) {
  throw SqlError(sqlstate::invalid_parameter_value,
                 concat("parameter \"", option, "\" specified more than once"));
}

std::vector<std::string> define_view_options(DdlRun& run, ast::List<ast::DefElem> options) {
  std::vector<std::string> made;
  made.reserve(options.size());
  for (const ast::DefElem& option : options) {
    for (const ast::DefElem* before = options.data(); before != &option; ++before)
      if (before->name == option.name) refuse_repeated(option.name);
    made.push_back(define_view_option(run, option));
  }
  return made;
}

bool has_name(std::string_view option, std::string_view name) {
  return option.substr(0, option.find('=')) == name;
}

bool has_check_option(const std::vector<std::string>& options) {
  return std::ranges::any_of(
      options, [](const std::string& option) { return has_name(option, "check_option"); });
}

void require_checkable(const BoundQuery& query) {
  std::string_view reason = why_not_updatable(query);
  if (reason.empty()) return;
  throw SqlError(sqlstate::feature_not_supported,
                 "WITH CHECK OPTION is supported only on automatically updatable views")
      .hint(std::string(reason));
}

class CreateView final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override { return "CREATE VIEW"; }

 private:
  static void refuse_unsupported(const ast::CreateViewStmt& syntax) {
    if (syntax.view->persistence == ast::Persistence::unlogged) {
      throw SqlError(sqlstate::syntax_error,
                     "views cannot be unlogged because they do not have storage");
    }
    // SELECT INTO is another statement by then.
    if (syntax.query->kind != ast::NodeKind::select_stmt)
      throw SqlError(sqlstate::feature_not_supported, "views must not contain SELECT INTO");
  }

  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::CreateViewStmt>();
    refuse_unsupported(syntax);
    StatementBinding& binding = run.binding();
    binding.keeps_views = true;
    const BoundQuery& query =
        *bind_query(binding, *ast::as<ast::SelectStmt>(syntax.query), nullptr);
    ViewDefinition view;
    view.schema = run.schema_of(*syntax.view);
    view.name = syntax.view->name;
    view.or_replace = syntax.or_replace;
    view.options = define_view_options(run, syntax.options);
    if (syntax.check_option != ast::ViewCheckOption::none) {
      bool is_local = syntax.check_option == ast::ViewCheckOption::local;
      if (has_check_option(view.options)) refuse_repeated("check_option");
      view.options.push_back(is_local ? "check_option=local" : "check_option=cascaded");
    }
    if (has_check_option(view.options)) require_checkable(query);
    view.columns = columns_of_view(syntax, query);
    view.query = store_query(run.catalog(), query);
    view.persistence = persistence_of(run, syntax, view.query);
    view.query.rest_on_keys(std::move(binding.grouping_keys));
    run.finish(run.definition().create_view(view));
  }

  // Of what is temporary a view is temporary, too.
  static RelationPersistence persistence_of(DdlRun& run, const ast::CreateViewStmt& syntax,
                                            const StoredQuery& query) {
    if (syntax.view->persistence == ast::Persistence::temporary)
      return RelationPersistence::temporary;
    bool reads_temporary = std::ranges::any_of(query.columns, [&](const ColumnUse& use) {
      return run.table(use.relation).persistence == RelationPersistence::temporary;
    });
    if (!reads_temporary) return RelationPersistence::permanent;
    run.notice(concat("view \"", syntax.view->name, "\" will be a temporary view"));
    return RelationPersistence::temporary;
  }

  static std::vector<ColumnDefinition> columns_of_view(const ast::CreateViewStmt& syntax,
                                                       const BoundQuery& query) {
    auto count = static_cast<size_t>(query.visible_targets);
    if (syntax.columns.size() > count) {
      throw SqlError(sqlstate::syntax_error,
                     "CREATE VIEW specifies more column names than columns");
    }
    std::vector<ColumnDefinition> columns(count);
    for (size_t i = 0; i < count; ++i) {
      const BoundTarget& target = query.targets[i];
      columns[i].name = i < syntax.columns.size() ? syntax.columns[i] : target.name;
      columns[i].type = target.expression->type;
      columns[i].typmod = target.expression->typmod;
    }
    return columns;
  }
};

}  // namespace

void alter_view(DdlRun& run, const TableDescriptor& view, const ast::AlterTableStmt& syntax) {
  Oid oid = view.oid;
  std::vector<std::string> options = view.options;
  for (const ast::AlterTableCommand& command : syntax.commands) {
    for (const ast::DefElem& option : command.options) {
      for (const ast::DefElem* before = command.options.data(); before != &option; ++before)
        if (before->name == option.name) refuse_repeated(option.name);
    }
    bool sets = command.kind == ast::AlterTableKind::set_options;
    if (command.kind == ast::AlterTableKind::set_default ||
        command.kind == ast::AlterTableKind::drop_default)
      throw_unsupported("ALTER VIEW ... ALTER COLUMN ... DEFAULT");
    if (!sets && command.kind != ast::AlterTableKind::reset_options) {
      throw SqlError(sqlstate::wrong_object_type,
                     concat("ALTER action ", action_name(command.kind),
                            " cannot be performed on relation \"", view.name, "\""))
          .detail("This operation is not supported for views.");
    }
    for (const ast::DefElem& option : command.options) {
      std::erase_if(options,
                    [&](const std::string& known) { return has_name(known, option.name); });
      if (sets) options.push_back(define_view_option(run, option));
    }
  }
  run.binding().keeps_views = true;
  if (has_check_option(options)) require_checkable(*bind_view_query(run.binding(), view));
  run.finish(run.definition().set_options(oid, std::move(options)));
}

std::unique_ptr<const UtilityCommand> make_create_view(const PlannedOwner& planned) {
  return std::make_unique<CreateView>(planned);
}

}  // namespace pgsilo
