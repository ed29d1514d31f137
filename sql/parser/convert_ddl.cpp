#include "sql/ast/constant.h"
#include "sql/parser/tree_converter.h"

namespace pgsilo {

using namespace ast;

namespace {

DropBehavior behavior_of(::DropBehavior from) {
  return from == DROP_CASCADE ? DropBehavior::cascade : DropBehavior::restrict;
}

ObjectKind object_kind_of(::ObjectType from) {
  switch (from) {
    case OBJECT_TABLE:
      return ObjectKind::table;
    case OBJECT_INDEX:
      return ObjectKind::index;
    case OBJECT_VIEW:
      return ObjectKind::view;
    case OBJECT_MATVIEW:
      return ObjectKind::materialized_view;
    case OBJECT_SEQUENCE:
      return ObjectKind::sequence;
    case OBJECT_SCHEMA:
      return ObjectKind::schema;
    case OBJECT_COLUMN:
      return ObjectKind::column;
    case OBJECT_TYPE:
      return ObjectKind::type;
    case OBJECT_DOMAIN:
      return ObjectKind::domain;
    case OBJECT_DOMCONSTRAINT:
      return ObjectKind::domain_constraint;
    case OBJECT_STATISTIC_EXT:
      return ObjectKind::statistics;
    case OBJECT_TABCONSTRAINT:
      return ObjectKind::constraint;
    default:
      return ObjectKind::other;
  }
}

ForeignKeyAction action_of(char from) {
  switch (from) {
    case 'r':
      return ForeignKeyAction::restrict;
    case 'c':
      return ForeignKeyAction::cascade;
    case 'n':
      return ForeignKeyAction::set_null;
    case 'd':
      return ForeignKeyAction::set_default;
    default:
      return ForeignKeyAction::no_action;
  }
}

std::string_view alter_feature(::AlterTableType type) {
  switch (type) {
    case AT_SetTableSpace:
      return "ALTER TABLE SET TABLESPACE";
    case AT_SetAccessMethod:
      return "ALTER TABLE SET ACCESS METHOD";
    case AT_ClusterOn:
    case AT_DropCluster:
      return "ALTER TABLE CLUSTER ON";
    case AT_AddInherit:
    case AT_DropInherit:
      return "ALTER TABLE INHERIT";
    case AT_AddOf:
    case AT_DropOf:
      return "ALTER TABLE OF";
    case AT_ReplicaIdentity:
      return "ALTER TABLE REPLICA IDENTITY";
    case AT_AttachPartition:
    case AT_DetachPartition:
    case AT_DetachPartitionFinalize:
      return "partitioning";
    case AT_EnableRowSecurity:
    case AT_DisableRowSecurity:
    case AT_ForceRowSecurity:
    case AT_NoForceRowSecurity:
      return "row-level security";
    case AT_EnableRule:
    case AT_EnableAlwaysRule:
    case AT_EnableReplicaRule:
    case AT_DisableRule:
      return "rules";
    case AT_AlterConstraint:
      return "ALTER TABLE ALTER CONSTRAINT";
    case AT_SetOptions:
    case AT_ResetOptions:
      return "ALTER COLUMN SET (options)";
    case AT_SetCompression:
      return "ALTER COLUMN SET COMPRESSION";
    default:
      if (type >= AT_EnableTrig && type <= AT_DisableTrigUser) {
        return "triggers";
      }
      return "this form of ALTER TABLE";
  }
}

}  // namespace

DefElem TreeConverter::def_elem(const ::DefElem& from) {
  DefElem to;
  to.name_space = text(from.defnamespace);
  to.name = text(from.defname);
  to.location = from.location;
  if (from.arg == nullptr) return to;
  auto word = [&](std::string_view value) {
    return make_text_constant(arena_, ConstantKind::string, value, from.location);
  };
  switch (from.arg->type) {
    case T_String:
      to.argument = word(string_of(from.arg));
      break;
    case T_TypeName: {
      // A word that is no key word looks like a type to the grammar.
      to.argument = word(string_of(last_node(node_as<::TypeName>(from.arg).names)));
      break;
    }
    case T_Integer:
      to.argument = make_integer(arena_, node_as<::Integer>(from.arg).ival, from.location);
      break;
    case T_Float:
      to.argument = make_text_constant(arena_, ConstantKind::decimal,
                                       node_as<::Float>(from.arg).fval, from.location);
      break;
    case T_Boolean:
      to.argument = make_boolean(arena_, node_as<::Boolean>(from.arg).boolval, from.location);
      break;
    case T_List:
      to.words = names(list_in(from.arg));
      break;
    default:
      to.argument = expression(from.arg);
      break;
  }
  return to;
}

List<DefElem> TreeConverter::def_elems(const ::List* items) {
  return list<DefElem>(items,
                       [this](const PgNode* item) { return def_elem(node_as<::DefElem>(item)); });
}

IndexElement TreeConverter::index_element(const ::IndexElem& from) {
  IndexElement to;
  to.column = text(from.name);
  to.expression = expression(from.expr);
  to.collation = names(from.collation);
  to.opclass = names(from.opclass);
  to.has_opclass_options = from.opclassopts != nullptr;
  if (from.ordering == SORTBY_ASC) to.direction = SortDirection::ascending;
  if (from.ordering == SORTBY_DESC) to.direction = SortDirection::descending;
  if (from.nulls_ordering == SORTBY_NULLS_FIRST) to.nulls = NullsOrder::first;
  if (from.nulls_ordering == SORTBY_NULLS_LAST) to.nulls = NullsOrder::last;
  return to;
}

List<IndexElement> TreeConverter::index_elements(const ::List* items) {
  return list<IndexElement>(
      items, [this](const PgNode* item) { return index_element(node_as<::IndexElem>(item)); });
}

Constraint* TreeConverter::constraint(const ::Constraint& from) {
  auto* to = make<Constraint>(from.location);
  to->constraint_kind = static_cast<ConstraintKind>(from.contype - CONSTR_NULL);
  to->name = text(from.conname);
  to->expression = expression(from.raw_expr);
  to->keys = names(from.keys);
  to->including = names(from.including);
  to->options = def_elems(from.options);
  to->using_index = text(from.indexname);
  to->nulls_not_distinct = from.nulls_not_distinct != 0;
  to->no_inherit = from.is_no_inherit != 0;
  to->deferrable = from.deferrable != 0;
  to->initially_deferred = from.initdeferred != 0;
  to->not_valid = from.skip_validation != 0;
  to->identity_always = from.generated_when == 'a';
  to->referenced = range_var(from.pktable);
  to->foreign_columns = names(from.fk_attrs);
  to->referenced_columns = names(from.pk_attrs);
  if (from.fk_matchtype == 'f') to->match = ForeignKeyMatch::full;
  if (from.fk_matchtype == 'p') to->match = ForeignKeyMatch::partial;
  to->on_update = action_of(from.fk_upd_action);
  to->on_delete = action_of(from.fk_del_action);
  to->on_delete_columns = names(from.fk_del_set_cols);
  return to;
}

// The grammar gives DEFERRABLE and its kin as nodes after the constraint they belong to.
List<const Constraint*> TreeConverter::column_constraints(const ::ColumnDef& from) {
  std::span<const ListCell> items = cells(from.constraints);
  std::span<const Constraint*> all = arena_.make_span<const Constraint*>(items.size());
  size_t count = 0;
  Constraint* last = nullptr;
  for (const ListCell& cell : items) {
    const auto& item = node_as<::Constraint>(node_in(cell));
    bool is_attribute = item.contype >= CONSTR_ATTR_DEFERRABLE;
    if (!is_attribute) {
      last = constraint(item);
      all[count++] = last;
      continue;
    }
    bool defers = last != nullptr && (last->constraint_kind == ConstraintKind::primary_key ||
                                      last->constraint_kind == ConstraintKind::unique ||
                                      last->constraint_kind == ConstraintKind::exclusion ||
                                      last->constraint_kind == ConstraintKind::foreign_key);
    if (!defers) throw_misplaced_attribute(item.contype, item.location);
    if (item.contype == CONSTR_ATTR_DEFERRABLE) last->deferrable = true;
    if (item.contype == CONSTR_ATTR_DEFERRED) {
      last->deferrable = true;
      last->initially_deferred = true;
    }
  }
  return all.subspan(0, count);
}

const ColumnDef* TreeConverter::column_def(const ::ColumnDef& from) {
  auto* to = make<ColumnDef>(from.location);
  to->name = text(from.colname);
  to->type = type_name(from.typeName);
  to->collate = collate_clause(from.collClause);
  to->compression = text(from.compression);
  if (from.storage != 0) to->storage = arena_.copy_string({&from.storage, 1});
  to->constraints = column_constraints(from);
  return to;
}

List<const ColumnDef*> TreeConverter::column_defs(const ::List* items) {
  return list<const ColumnDef*>(
      items, [this](const PgNode* item) { return column_def(node_as<::ColumnDef>(item)); });
}

const Node* TreeConverter::create_table(const ::CreateStmt& from) {
  auto* to = make<CreateTableStmt>();
  to->relation = range_var(from.relation);
  to->elements = list<const Node*>(from.tableElts, [this](const PgNode* item) -> const Node* {
    if (item->type == T_ColumnDef) return column_def(node_as<::ColumnDef>(item));
    if (item->type == T_Constraint) return constraint(node_as<::Constraint>(item));
    auto* like = make<TableLike>();
    like->relation = range_var(node_as<::TableLikeClause>(item).relation);
    like->options = node_as<::TableLikeClause>(item).options;
    return like;
  });
  to->is_partition = from.partbound != nullptr;
  if (!to->is_partition) to->inherits = range_vars(from.inhRelations);
  to->is_partitioned = from.partspec != nullptr;
  to->of_type = from.ofTypename != nullptr;
  to->options = def_elems(from.options);
  to->on_commit = static_cast<OnCommit>(from.oncommit);
  to->tablespace = text(from.tablespacename);
  to->access_method = text(from.accessMethod);
  to->if_not_exists = from.if_not_exists != 0;
  return to;
}

const Node* TreeConverter::create_table_as(const ::CreateTableAsStmt& from) {
  auto* to = make<CreateTableAsStmt>();
  to->query = statement(from.query);
  to->into = into_clause(from.into);
  to->is_select_into = from.is_select_into != 0;
  to->is_materialized_view = from.objtype == OBJECT_MATVIEW;
  to->if_not_exists = from.if_not_exists != 0;
  return to;
}

const Node* TreeConverter::create_view(const ::ViewStmt& from) {
  auto* to = make<CreateViewStmt>();
  to->view = range_var(from.view);
  to->columns = names(from.aliases);
  to->query = statement(from.query);
  to->options = def_elems(from.options);
  to->check_option = static_cast<ViewCheckOption>(from.withCheckOption);
  to->or_replace = from.replace != 0;
  return to;
}

const Node* TreeConverter::create_index(const ::IndexStmt& from) {
  auto* to = make<CreateIndexStmt>();
  to->name = text(from.idxname);
  to->relation = range_var(from.relation);
  to->access_method = text(from.accessMethod);
  if (to->access_method.empty()) to->access_method = "btree";
  to->elements = index_elements(from.indexParams);
  to->including = index_elements(from.indexIncludingParams);
  to->options = def_elems(from.options);
  to->where = expression(from.whereClause);
  to->tablespace = text(from.tableSpace);
  to->unique = from.unique != 0;
  to->nulls_not_distinct = from.nulls_not_distinct != 0;
  to->concurrently = from.concurrent != 0;
  to->if_not_exists = from.if_not_exists != 0;
  return to;
}

const Node* TreeConverter::drop(const ::DropStmt& from) {
  ObjectKind kind = object_kind_of(from.removeType);
  if (kind == ObjectKind::other) return unsupported_statement(drop_feature(from.removeType));
  auto* to = make<DropStmt>();
  to->object_kind = kind;
  to->objects =
      list<NameList>(from.objects, [this](const PgNode* item) { return object_name(item); });
  to->behavior = behavior_of(from.behavior);
  to->missing_ok = from.missing_ok != 0;
  to->concurrently = from.concurrent != 0;
  return to;
}

namespace {

// The commands that are told by their kind (and name) alone.
struct PlainCommand {
  ::AlterTableType type;
  AlterTableKind kind;
};

constexpr PlainCommand plain_commands[] = {
    {AT_DropColumn, AlterTableKind::drop_column},
    {AT_SetNotNull, AlterTableKind::set_not_null},
    {AT_DropNotNull, AlterTableKind::drop_not_null},
    {AT_DropConstraint, AlterTableKind::drop_constraint},
    {AT_ValidateConstraint, AlterTableKind::validate_constraint},
    {AT_SetLogged, AlterTableKind::set_logged},
    {AT_SetUnLogged, AlterTableKind::set_unlogged},
    {AT_DropIdentity, AlterTableKind::drop_identity},
    {AT_DropExpression, AlterTableKind::drop_expression},
};

}  // namespace

void TreeConverter::fill_alter_column(const ::AlterTableCmd& from, AlterTableCommand& to) {
  const PgNode* expression_node = nullptr;
  switch (from.subtype) {
    case AT_AddColumn:
      to.kind = AlterTableKind::add_column;
      to.column = column_def(node_as<::ColumnDef>(from.def));
      return;
    case AT_AlterColumnType:
      to.kind = AlterTableKind::set_type;
      to.column = column_def(node_as<::ColumnDef>(from.def));
      expression_node = node_as<::ColumnDef>(from.def).raw_default;
      break;
    default:
      to.kind = from.def != nullptr ? AlterTableKind::set_default : AlterTableKind::drop_default;
      expression_node = from.def;
      break;
  }
  if (expression_node == nullptr) return;
  to.expression = expression(expression_node);
}

AlterTableCommand TreeConverter::alter_table_command(const ::AlterTableCmd& from) {
  AlterTableCommand to;
  to.name = text(from.name);
  to.behavior = behavior_of(from.behavior);
  to.missing_ok = from.missing_ok != 0;
  for (const PlainCommand& plain : plain_commands) {
    if (plain.type != from.subtype) continue;
    to.kind = plain.kind;
    return to;
  }
  switch (from.subtype) {
    case AT_AddColumn:
    case AT_AlterColumnType:
    case AT_ColumnDefault:
      fill_alter_column(from, to);
      break;
    case AT_AddConstraint:
    case AT_AlterConstraint:
      to.kind = from.subtype == AT_AddConstraint ? AlterTableKind::add_constraint
                                                 : AlterTableKind::alter_constraint;
      to.constraint = constraint(node_as<::Constraint>(from.def));
      break;
    case AT_SetRelOptions:
    case AT_ResetRelOptions:
      to.kind = from.subtype == AT_SetRelOptions ? AlterTableKind::set_options
                                                 : AlterTableKind::reset_options;
      to.options = def_elems(list_in(from.def));
      break;
    case AT_SetStatistics:
      to.kind = AlterTableKind::set_statistics;
      to.target = static_cast<int32_t>(node_as<::Integer>(from.def).ival);
      break;
    case AT_SetStorage:
      to.kind = AlterTableKind::set_storage;
      to.storage = text(node_as<::String>(from.def).sval);
      break;
    case AT_AddIdentity:
      to.kind = AlterTableKind::add_identity;
      to.constraint = constraint(node_as<::Constraint>(from.def));
      break;
    case AT_SetIdentity:
      to.kind = AlterTableKind::set_identity;
      to.options = def_elems(list_in(from.def));
      break;
    case AT_ChangeOwner:
      to.kind = AlterTableKind::change_owner;
      if (from.newowner != nullptr) to.name = text(from.newowner->rolename);
      break;
    default:
      to.feature = alter_feature(from.subtype);
      break;
  }
  return to;
}

const Node* TreeConverter::alter_table(const ::AlterTableStmt& from) {
  ObjectKind kind = object_kind_of(from.objtype);
  if (kind != ObjectKind::table && kind != ObjectKind::index && kind != ObjectKind::sequence &&
      kind != ObjectKind::view)
    return unsupported_statement(alter_feature_of(from.objtype));
  auto* to = make<AlterTableStmt>();
  to->relation = range_var(from.relation);
  to->commands = list<AlterTableCommand>(from.cmds, [this](const PgNode* item) {
    return alter_table_command(node_as<::AlterTableCmd>(item));
  });
  to->object_kind = kind;
  to->missing_ok = from.missing_ok != 0;
  return to;
}

const Node* TreeConverter::rename(const ::RenameStmt& from) {
  ObjectKind kind = object_kind_of(from.renameType);
  bool on_table = kind == ObjectKind::table || kind == ObjectKind::index ||
                  kind == ObjectKind::sequence || kind == ObjectKind::constraint ||
                  kind == ObjectKind::type || kind == ObjectKind::view ||
                  kind == ObjectKind::domain || kind == ObjectKind::domain_constraint ||
                  kind == ObjectKind::statistics ||
                  (kind == ObjectKind::column &&
                   (from.relationType == OBJECT_TABLE || from.relationType == OBJECT_VIEW));
  if (!on_table) return unsupported_statement(alter_feature_of(from.renameType));
  auto* to = make<RenameStmt>();
  to->object_kind = kind;
  if (kind == ObjectKind::type || kind == ObjectKind::domain ||
      kind == ObjectKind::domain_constraint || kind == ObjectKind::statistics) {
    to->object = names(list_in(from.object));
  } else {
    to->relation = range_var(from.relation);
  }
  if (kind == ObjectKind::column) to->relation_kind = object_kind_of(from.relationType);
  to->old_name = text(from.subname);
  to->new_name = text(from.newname);
  to->missing_ok = from.missing_ok != 0;
  return to;
}

const Node* TreeConverter::truncate(const ::TruncateStmt& from) {
  auto* to = make<TruncateStmt>();
  to->relations = range_vars(from.relations);
  to->restart_identity = from.restart_seqs != 0;
  to->behavior = behavior_of(from.behavior);
  return to;
}

const Node* TreeConverter::comment(const ::CommentStmt& from) {
  ObjectKind kind = object_kind_of(from.objtype);
  if (kind == ObjectKind::materialized_view || kind == ObjectKind::other) {
    return unsupported_statement("COMMENT ON this kind of object");
  }
  auto* to = make<CommentStmt>();
  to->object_kind = kind;
  to->object = kind == ObjectKind::domain_constraint
                   ? domain_constraint_words(node_as<::List>(from.object))
                   : object_name(from.object);
  to->comment = text(from.comment);
  return to;
}

const Node* TreeConverter::create_schema(const ::CreateSchemaStmt& from) {
  auto* to = make<CreateSchemaStmt>();
  to->name = text(from.schemaname);
  if (to->name.empty() && from.authrole != nullptr) to->name = text(from.authrole->rolename);
  to->if_not_exists = from.if_not_exists != 0;
  to->has_elements = from.schemaElts != nullptr;
  return to;
}

}  // namespace pgsilo
