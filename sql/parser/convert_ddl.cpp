#include "sql/ast/constant.h"
#include "sql/parser/tree_converter.h"

namespace pgsilo {

using namespace ast;

namespace {

DropBehavior behavior_of(PgQuery__DropBehavior from) {
  return from == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE ? DropBehavior::cascade
                                                       : DropBehavior::restrict;
}

ObjectKind object_kind_of(PgQuery__ObjectType from) {
  switch (from) {
    case PG_QUERY__OBJECT_TYPE__OBJECT_TABLE:
      return ObjectKind::table;
    case PG_QUERY__OBJECT_TYPE__OBJECT_INDEX:
      return ObjectKind::index;
    case PG_QUERY__OBJECT_TYPE__OBJECT_VIEW:
      return ObjectKind::view;
    case PG_QUERY__OBJECT_TYPE__OBJECT_MATVIEW:
      return ObjectKind::materialized_view;
    case PG_QUERY__OBJECT_TYPE__OBJECT_SEQUENCE:
      return ObjectKind::sequence;
    case PG_QUERY__OBJECT_TYPE__OBJECT_SCHEMA:
      return ObjectKind::schema;
    case PG_QUERY__OBJECT_TYPE__OBJECT_COLUMN:
      return ObjectKind::column;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TYPE:
      return ObjectKind::type;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TABCONSTRAINT:
      return ObjectKind::constraint;
    default:
      return ObjectKind::other;
  }
}

ForeignKeyAction action_of(const char* from) {
  switch (from != nullptr ? from[0] : 'a') {
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

std::string_view alter_feature(PgQuery__AlterTableType type) {
  switch (type) {
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetTableSpace:
      return "ALTER TABLE SET TABLESPACE";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetAccessMethod:
      return "ALTER TABLE SET ACCESS METHOD";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ClusterOn:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropCluster:
      return "ALTER TABLE CLUSTER ON";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddInherit:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropInherit:
      return "ALTER TABLE INHERIT";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddOf:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropOf:
      return "ALTER TABLE OF";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ReplicaIdentity:
      return "ALTER TABLE REPLICA IDENTITY";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AttachPartition:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DetachPartition:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DetachPartitionFinalize:
      return "partitioning";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_EnableRowSecurity:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DisableRowSecurity:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ForceRowSecurity:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_NoForceRowSecurity:
      return "row-level security";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_EnableRule:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_EnableAlwaysRule:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_EnableReplicaRule:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DisableRule:
      return "rules";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AlterConstraint:
      return "ALTER TABLE ALTER CONSTRAINT";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetOptions:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ResetOptions:
      return "ALTER COLUMN SET (options)";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetCompression:
      return "ALTER COLUMN SET COMPRESSION";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropExpression:
      return "generated columns";
    default:
      if (type >= PG_QUERY__ALTER_TABLE_TYPE__AT_EnableTrig &&
          type <= PG_QUERY__ALTER_TABLE_TYPE__AT_DisableTrigUser) {
        return "triggers";
      }
      return "this form of ALTER TABLE";
  }
}

}  // namespace

DefElem TreeConverter::def_elem(const PgQuery__DefElem& from) {
  DefElem to;
  to.name_space = text(from.defnamespace);
  to.name = text(from.defname);
  to.location = from.location;
  if (from.arg == nullptr) return to;
  auto word = [&](std::string_view value) {
    return make_text_constant(arena_, ConstantKind::string, value, from.location);
  };
  switch (from.arg->node_case) {
    case PG_QUERY__NODE__NODE_STRING:
      to.argument = word(string_of(from.arg));
      break;
    case PG_QUERY__NODE__NODE_TYPE_NAME: {
      // A word that is no key word looks like a type to the grammar.
      const PgQuery__TypeName& type = *from.arg->type_name;
      to.argument =
          word(type.n_names > 0 ? string_of(type.names[type.n_names - 1]) : std::string_view());
      break;
    }
    case PG_QUERY__NODE__NODE_INTEGER:
      to.argument = make_integer(arena_, from.arg->integer->ival, from.location);
      break;
    case PG_QUERY__NODE__NODE_FLOAT:
      to.argument =
          make_text_constant(arena_, ConstantKind::decimal, from.arg->float_->fval, from.location);
      break;
    case PG_QUERY__NODE__NODE_BOOLEAN:
      to.argument = make_boolean(arena_, from.arg->boolean->boolval != 0, from.location);
      break;
    case PG_QUERY__NODE__NODE_LIST:
      to.words = names(from.arg->list->items, from.arg->list->n_items);
      break;
    default:
      to.argument = expression(from.arg);
      break;
  }
  return to;
}

List<DefElem> TreeConverter::def_elems(PgNode* const* items, size_t count) {
  return list<DefElem>(items, count,
                       [this](const PgNode* item) { return def_elem(*item->def_elem); });
}

IndexElement TreeConverter::index_element(const PgQuery__IndexElem& from) {
  IndexElement to;
  to.column = text(from.name);
  to.expression = expression(from.expr);
  to.collation = names(from.collation, from.n_collation);
  to.opclass = names(from.opclass, from.n_opclass);
  if (from.ordering == PG_QUERY__SORT_BY_DIR__SORTBY_ASC) to.direction = SortDirection::ascending;
  if (from.ordering == PG_QUERY__SORT_BY_DIR__SORTBY_DESC) to.direction = SortDirection::descending;
  if (from.nulls_ordering == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST)
    to.nulls = NullsOrder::first;
  if (from.nulls_ordering == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST)
    to.nulls = NullsOrder::last;
  return to;
}

List<IndexElement> TreeConverter::index_elements(PgNode* const* items, size_t count) {
  return list<IndexElement>(
      items, count, [this](const PgNode* item) { return index_element(*item->index_elem); });
}

Constraint* TreeConverter::constraint(const PgQuery__Constraint& from) {
  auto* to = make<Constraint>(from.location);
  to->constraint_kind =
      static_cast<ConstraintKind>(from.contype - PG_QUERY__CONSTR_TYPE__CONSTR_NULL);
  to->name = text(from.conname);
  to->expression = expression(from.raw_expr);
  if (from.raw_expr != nullptr) to->expression_text = expression_text(from.raw_expr);
  to->keys = names(from.keys, from.n_keys);
  to->including = names(from.including, from.n_including);
  to->options = def_elems(from.options, from.n_options);
  to->using_index = text(from.indexname);
  to->nulls_not_distinct = from.nulls_not_distinct != 0;
  to->no_inherit = from.is_no_inherit != 0;
  to->deferrable = from.deferrable != 0;
  to->initially_deferred = from.initdeferred != 0;
  to->not_valid = from.skip_validation != 0;
  to->identity_always = from.generated_when != nullptr && from.generated_when[0] == 'a';
  to->referenced = range_var(from.pktable);
  to->foreign_columns = names(from.fk_attrs, from.n_fk_attrs);
  to->referenced_columns = names(from.pk_attrs, from.n_pk_attrs);
  if (from.fk_matchtype != nullptr && from.fk_matchtype[0] == 'f')
    to->match = ForeignKeyMatch::full;
  if (from.fk_matchtype != nullptr && from.fk_matchtype[0] == 'p')
    to->match = ForeignKeyMatch::partial;
  to->on_update = action_of(from.fk_upd_action);
  to->on_delete = action_of(from.fk_del_action);
  to->on_delete_columns = names(from.fk_del_set_cols, from.n_fk_del_set_cols);
  return to;
}

// The grammar gives DEFERRABLE and its kin as nodes after the constraint they belong to.
List<const Constraint*> TreeConverter::column_constraints(const PgQuery__ColumnDef& from) {
  std::span<const Constraint*> all = arena_.make_span<const Constraint*>(from.n_constraints);
  size_t count = 0;
  Constraint* last = nullptr;
  for (size_t i = 0; i < from.n_constraints; ++i) {
    const PgQuery__Constraint& item = *from.constraints[i]->constraint;
    bool is_attribute = item.contype >= PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_DEFERRABLE;
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
    if (item.contype == PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_DEFERRABLE) last->deferrable = true;
    if (item.contype == PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_DEFERRED) {
      last->deferrable = true;
      last->initially_deferred = true;
    }
  }
  return all.subspan(0, count);
}

const ColumnDef* TreeConverter::column_def(const PgQuery__ColumnDef& from) {
  auto* to = make<ColumnDef>(from.location);
  to->name = text(from.colname);
  to->type = type_name(from.type_name);
  to->collate = collate_clause(from.coll_clause);
  to->compression = text(from.compression);
  to->storage = text(from.storage);
  to->constraints = column_constraints(from);
  return to;
}

List<const ColumnDef*> TreeConverter::column_defs(PgNode* const* items, size_t count) {
  return list<const ColumnDef*>(
      items, count, [this](const PgNode* item) { return column_def(*item->column_def); });
}

const Node* TreeConverter::create_table(const PgQuery__CreateStmt& from) {
  auto* to = make<CreateTableStmt>();
  to->relation = range_var(from.relation);
  to->elements = list<const Node*>(from.table_elts, from.n_table_elts,
                                   [this](const PgNode* item) -> const Node* {
                                     if (item->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF)
                                       return column_def(*item->column_def);
                                     if (item->node_case == PG_QUERY__NODE__NODE_CONSTRAINT)
                                       return constraint(*item->constraint);
                                     auto* like = make<TableLike>();
                                     like->relation = range_var(item->table_like_clause->relation);
                                     like->options = item->table_like_clause->options;
                                     return like;
                                   });
  to->is_partition = from.partbound != nullptr;
  if (!to->is_partition) to->inherits = range_vars(from.inh_relations, from.n_inh_relations);
  to->is_partitioned = from.partspec != nullptr;
  to->of_type = from.of_typename != nullptr;
  to->options = def_elems(from.options, from.n_options);
  if (from.oncommit > PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_NOOP) {
    to->on_commit =
        static_cast<OnCommit>(from.oncommit - PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_NOOP);
  }
  to->tablespace = text(from.tablespacename);
  to->access_method = text(from.access_method);
  to->if_not_exists = from.if_not_exists != 0;
  return to;
}

const Node* TreeConverter::create_table_as(const PgQuery__CreateTableAsStmt& from) {
  auto* to = make<CreateTableAsStmt>();
  to->query = statement(from.query);
  to->into = into_clause(from.into);
  to->is_select_into = from.is_select_into != 0;
  to->is_materialized_view = from.objtype == PG_QUERY__OBJECT_TYPE__OBJECT_MATVIEW;
  to->if_not_exists = from.if_not_exists != 0;
  return to;
}

const Node* TreeConverter::create_index(const PgQuery__IndexStmt& from) {
  auto* to = make<CreateIndexStmt>();
  to->name = text(from.idxname);
  to->relation = range_var(from.relation);
  to->access_method = text(from.access_method);
  if (to->access_method.empty()) to->access_method = "btree";
  to->elements = index_elements(from.index_params, from.n_index_params);
  to->including = index_elements(from.index_including_params, from.n_index_including_params);
  to->options = def_elems(from.options, from.n_options);
  to->where = expression(from.where_clause);
  to->tablespace = text(from.table_space);
  to->unique = from.unique != 0;
  to->nulls_not_distinct = from.nulls_not_distinct != 0;
  to->concurrently = from.concurrent != 0;
  to->if_not_exists = from.if_not_exists != 0;
  return to;
}

const Node* TreeConverter::drop(const PgQuery__DropStmt& from) {
  ObjectKind kind = object_kind_of(from.remove_type);
  if (kind == ObjectKind::other) return unsupported_statement(drop_feature(from.remove_type));
  auto* to = make<DropStmt>();
  to->object_kind = kind;
  to->objects = list<NameList>(from.objects, from.n_objects, [this](PgNode* item) -> NameList {
    if (item->node_case == PG_QUERY__NODE__NODE_LIST)
      return names(item->list->items, item->list->n_items);
    if (item->node_case == PG_QUERY__NODE__NODE_TYPE_NAME) return type_words(*item->type_name);
    return names(&item, 1);
  });
  to->behavior = behavior_of(from.behavior);
  to->missing_ok = from.missing_ok != 0;
  to->concurrently = from.concurrent != 0;
  return to;
}

namespace {

// The commands that are told by their kind (and name) alone.
struct PlainCommand {
  PgQuery__AlterTableType type;
  AlterTableKind kind;
};

constexpr PlainCommand plain_commands[] = {
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DropColumn, AlterTableKind::drop_column},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetNotNull, AlterTableKind::set_not_null},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DropNotNull, AlterTableKind::drop_not_null},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DropConstraint, AlterTableKind::drop_constraint},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_ValidateConstraint, AlterTableKind::validate_constraint},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetStatistics, AlterTableKind::set_statistics},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetStorage, AlterTableKind::set_storage},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetLogged, AlterTableKind::set_logged},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_SetUnLogged, AlterTableKind::set_unlogged},
    {PG_QUERY__ALTER_TABLE_TYPE__AT_DropIdentity, AlterTableKind::drop_identity},
};

}  // namespace

void TreeConverter::fill_alter_column(const PgQuery__AlterTableCmd& from, AlterTableCommand& to) {
  PgNode* expression_node = nullptr;
  switch (from.subtype) {
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddColumn:
      to.kind = AlterTableKind::add_column;
      to.column = column_def(*from.def->column_def);
      return;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AlterColumnType:
      to.kind = AlterTableKind::set_type;
      to.column = column_def(*from.def->column_def);
      expression_node = from.def->column_def->raw_default;
      break;
    default:
      to.kind = from.def != nullptr ? AlterTableKind::set_default : AlterTableKind::drop_default;
      expression_node = from.def;
      break;
  }
  if (expression_node == nullptr) return;
  to.expression = expression(expression_node);
  to.expression_text = expression_text(expression_node);
}

AlterTableCommand TreeConverter::alter_table_command(const PgQuery__AlterTableCmd& from) {
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
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddColumn:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AlterColumnType:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ColumnDefault:
      fill_alter_column(from, to);
      break;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddConstraint:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AlterConstraint:
      to.kind = from.subtype == PG_QUERY__ALTER_TABLE_TYPE__AT_AddConstraint
                    ? AlterTableKind::add_constraint
                    : AlterTableKind::alter_constraint;
      to.constraint = constraint(*from.def->constraint);
      break;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetRelOptions:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ResetRelOptions:
      to.kind = from.subtype == PG_QUERY__ALTER_TABLE_TYPE__AT_SetRelOptions
                    ? AlterTableKind::set_options
                    : AlterTableKind::reset_options;
      to.options = def_elems(from.def->list->items, from.def->list->n_items);
      break;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddIdentity:
      to.kind = AlterTableKind::add_identity;
      to.constraint = constraint(*from.def->constraint);
      break;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetIdentity:
      to.kind = AlterTableKind::set_identity;
      to.options = def_elems(from.def->list->items, from.def->list->n_items);
      break;
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ChangeOwner:
      to.kind = AlterTableKind::change_owner;
      if (from.newowner != nullptr) to.name = text(from.newowner->rolename);
      break;
    default:
      to.feature = alter_feature(from.subtype);
      break;
  }
  return to;
}

const Node* TreeConverter::alter_table(const PgQuery__AlterTableStmt& from) {
  ObjectKind kind = object_kind_of(from.objtype);
  if (kind != ObjectKind::table && kind != ObjectKind::index && kind != ObjectKind::sequence)
    return unsupported_statement(alter_feature_of(from.objtype));
  auto* to = make<AlterTableStmt>();
  to->relation = range_var(from.relation);
  to->commands = list<AlterTableCommand>(from.cmds, from.n_cmds, [this](const PgNode* item) {
    return alter_table_command(*item->alter_table_cmd);
  });
  to->object_kind = kind;
  to->missing_ok = from.missing_ok != 0;
  return to;
}

const Node* TreeConverter::rename(const PgQuery__RenameStmt& from) {
  ObjectKind kind = object_kind_of(from.rename_type);
  bool on_table =
      kind == ObjectKind::table || kind == ObjectKind::index || kind == ObjectKind::sequence ||
      kind == ObjectKind::constraint || kind == ObjectKind::type ||
      (kind == ObjectKind::column && from.relation_type == PG_QUERY__OBJECT_TYPE__OBJECT_TABLE);
  if (!on_table) return unsupported_statement(alter_feature_of(from.rename_type));
  auto* to = make<RenameStmt>();
  to->object_kind = kind;
  if (kind == ObjectKind::type) {
    to->object = names(from.object->list->items, from.object->list->n_items);
  } else {
    to->relation = range_var(from.relation);
  }
  to->old_name = text(from.subname);
  to->new_name = text(from.newname);
  to->missing_ok = from.missing_ok != 0;
  return to;
}

const Node* TreeConverter::truncate(const PgQuery__TruncateStmt& from) {
  auto* to = make<TruncateStmt>();
  to->relations = range_vars(from.relations, from.n_relations);
  to->restart_identity = from.restart_seqs != 0;
  to->behavior = behavior_of(from.behavior);
  return to;
}

const Node* TreeConverter::comment(const PgQuery__CommentStmt& from) {
  ObjectKind kind = object_kind_of(from.objtype);
  if (kind == ObjectKind::view || kind == ObjectKind::materialized_view ||
      kind == ObjectKind::other) {
    return unsupported_statement("COMMENT ON this kind of object");
  }
  auto* to = make<CommentStmt>();
  to->object_kind = kind;
  if (from.object->node_case == PG_QUERY__NODE__NODE_LIST) {
    to->object = names(from.object->list->items, from.object->list->n_items);
  } else if (from.object->node_case == PG_QUERY__NODE__NODE_TYPE_NAME) {
    to->object = type_words(*from.object->type_name);
  } else {
    PgNode* name = from.object;
    to->object = names(&name, 1);
  }
  to->comment = text(from.comment);
  return to;
}

const Node* TreeConverter::create_schema(const PgQuery__CreateSchemaStmt& from) {
  auto* to = make<CreateSchemaStmt>();
  to->name = text(from.schemaname);
  if (to->name.empty() && from.authrole != nullptr) to->name = text(from.authrole->rolename);
  to->if_not_exists = from.if_not_exists != 0;
  to->has_elements = from.n_schema_elts > 0;
  return to;
}

const Node* TreeConverter::create_sequence(const PgQuery__CreateSeqStmt& from) {
  auto* to = make<CreateSequenceStmt>();
  to->sequence = range_var(from.sequence);
  to->options = def_elems(from.options, from.n_options);
  to->if_not_exists = from.if_not_exists != 0;
  return to;
}

const Node* TreeConverter::alter_sequence(const PgQuery__AlterSeqStmt& from) {
  auto* to = make<AlterSequenceStmt>();
  to->sequence = range_var(from.sequence);
  to->options = def_elems(from.options, from.n_options);
  to->missing_ok = from.missing_ok != 0;
  return to;
}

}  // namespace pgsilo
