// What the statements we do not have are called in errors: the command tags of PostgreSQL.
#include "sql/parser/tree_converter.h"

namespace pgsilo {

namespace {

struct DropFeature {
  ::ObjectType type;
  std::string_view name;
};

constexpr DropFeature drop_features[] = {
    {OBJECT_ACCESS_METHOD, "DROP ACCESS METHOD"},
    {OBJECT_AGGREGATE, "DROP AGGREGATE"},
    {OBJECT_CAST, "DROP CAST"},
    {OBJECT_COLLATION, "DROP COLLATION"},
    {OBJECT_CONVERSION, "DROP CONVERSION"},
    {OBJECT_EVENT_TRIGGER, "DROP EVENT TRIGGER"},
    {OBJECT_EXTENSION, "DROP EXTENSION"},
    {OBJECT_FDW, "DROP FOREIGN DATA WRAPPER"},
    {OBJECT_FOREIGN_SERVER, "DROP SERVER"},
    {OBJECT_FOREIGN_TABLE, "DROP FOREIGN TABLE"},
    {OBJECT_FUNCTION, "DROP FUNCTION"},
    {OBJECT_LANGUAGE, "DROP LANGUAGE"},
    {OBJECT_OPCLASS, "DROP OPERATOR CLASS"},
    {OBJECT_OPERATOR, "DROP OPERATOR"},
    {OBJECT_OPFAMILY, "DROP OPERATOR FAMILY"},
    {OBJECT_POLICY, "DROP POLICY"},
    {OBJECT_PROCEDURE, "DROP PROCEDURE"},
    {OBJECT_PUBLICATION, "DROP PUBLICATION"},
    {OBJECT_ROUTINE, "DROP ROUTINE"},
    {OBJECT_RULE, "DROP RULE"},
    {OBJECT_STATISTIC_EXT, "DROP STATISTICS"},
    {OBJECT_TRANSFORM, "DROP TRANSFORM"},
    {OBJECT_TRIGGER, "DROP TRIGGER"},
    {OBJECT_TSCONFIGURATION, "DROP TEXT SEARCH CONFIGURATION"},
    {OBJECT_TSDICTIONARY, "DROP TEXT SEARCH DICTIONARY"},
    {OBJECT_TSPARSER, "DROP TEXT SEARCH PARSER"},
    {OBJECT_TSTEMPLATE, "DROP TEXT SEARCH TEMPLATE"},
};

struct Feature {
  NodeTag node;
  std::string_view name;
};

constexpr Feature features[] = {
    {T_MergeStmt, "MERGE"},
    {T_GrantStmt, "GRANT"},
    {T_GrantRoleStmt, "GRANT ROLE"},
    {T_AlterDefaultPrivilegesStmt, "ALTER DEFAULT PRIVILEGES"},
    {T_ClusterStmt, "CLUSTER"},
    {T_DefineStmt, "CREATE AGGREGATE, OPERATOR, TYPE, COLLATION or TEXT SEARCH"},
    {T_CreateFunctionStmt, "CREATE FUNCTION"},
    {T_AlterFunctionStmt, "ALTER FUNCTION"},
    {T_DoStmt, "DO"},
    {T_CallStmt, "CALL"},
    {T_RuleStmt, "CREATE RULE"},
    {T_NotifyStmt, "NOTIFY"},
    {T_ListenStmt, "LISTEN"},
    {T_UnlistenStmt, "UNLISTEN"},
    {T_RefreshMatViewStmt, "REFRESH MATERIALIZED VIEW"},
    {T_LoadStmt, "LOAD"},
    {T_CreatedbStmt, "CREATE DATABASE"},
    {T_DropdbStmt, "DROP DATABASE"},
    {T_AlterDatabaseStmt, "ALTER DATABASE"},
    {T_AlterDatabaseSetStmt, "ALTER DATABASE SET"},
    {T_CreateTrigStmt, "CREATE TRIGGER"},
    {T_CreateEventTrigStmt, "CREATE EVENT TRIGGER"},
    {T_CreatePLangStmt, "CREATE LANGUAGE"},
    {T_CreateRoleStmt, "CREATE ROLE"},
    {T_AlterRoleStmt, "ALTER ROLE"},
    {T_AlterRoleSetStmt, "ALTER ROLE SET"},
    {T_DropRoleStmt, "DROP ROLE"},
    {T_ReindexStmt, "REINDEX"},
    {T_CreateCastStmt, "CREATE CAST"},
    {T_CreateConversionStmt, "CREATE CONVERSION"},
    {T_CreateOpClassStmt, "CREATE OPERATOR CLASS"},
    {T_CreateOpFamilyStmt, "CREATE OPERATOR FAMILY"},
    {T_AlterOpFamilyStmt, "ALTER OPERATOR FAMILY"},
    {T_CreateTableSpaceStmt, "CREATE TABLESPACE"},
    {T_DropTableSpaceStmt, "DROP TABLESPACE"},
    {T_AlterObjectDependsStmt, "ALTER ... DEPENDS ON EXTENSION"},
    {T_AlterOperatorStmt, "ALTER OPERATOR"},
    {T_AlterTypeStmt, "ALTER TYPE"},
    {T_DropOwnedStmt, "DROP OWNED"},
    {T_ReassignOwnedStmt, "REASSIGN OWNED"},
    {T_CompositeTypeStmt, "CREATE TYPE"},
    {T_CreateRangeStmt, "CREATE TYPE"},
    {T_CreateFdwStmt, "CREATE FOREIGN DATA WRAPPER"},
    {T_CreateForeignServerStmt, "CREATE SERVER"},
    {T_CreateForeignTableStmt, "CREATE FOREIGN TABLE"},
    {T_CreateUserMappingStmt, "CREATE USER MAPPING"},
    {T_ImportForeignSchemaStmt, "IMPORT FOREIGN SCHEMA"},
    {T_SecLabelStmt, "SECURITY LABEL"},
    {T_CreateExtensionStmt, "CREATE EXTENSION"},
    {T_AlterExtensionStmt, "ALTER EXTENSION"},
    {T_AlterSystemStmt, "ALTER SYSTEM"},
    {T_CreatePolicyStmt, "CREATE POLICY"},
    {T_AlterPolicyStmt, "ALTER POLICY"},
    {T_CreateTransformStmt, "CREATE TRANSFORM"},
    {T_CreateAmStmt, "CREATE ACCESS METHOD"},
    {T_CreatePublicationStmt, "CREATE PUBLICATION"},
    {T_AlterPublicationStmt, "ALTER PUBLICATION"},
    {T_CreateSubscriptionStmt, "CREATE SUBSCRIPTION"},
    {T_AlterSubscriptionStmt, "ALTER SUBSCRIPTION"},
    {T_DropSubscriptionStmt, "DROP SUBSCRIPTION"},
    {T_AlterStatsStmt, "ALTER STATISTICS"},
    {T_AlterCollationStmt, "ALTER COLLATION"},
};

}  // namespace

std::string_view TreeConverter::drop_feature(::ObjectType type) {
  for (const DropFeature& feature : drop_features) {
    if (feature.type == type) return feature.name;
  }
  return "DROP of this kind of object";
}

std::string_view TreeConverter::alter_feature_of(::ObjectType type) {
  switch (type) {
    case OBJECT_VIEW:
      return "ALTER VIEW";
    case OBJECT_MATVIEW:
      return "ALTER MATERIALIZED VIEW";
    case OBJECT_FOREIGN_TABLE:
      return "ALTER FOREIGN TABLE";
    case OBJECT_TYPE:
      return "ALTER TYPE";
    case OBJECT_SCHEMA:
      return "ALTER SCHEMA";
    case OBJECT_DATABASE:
      return "ALTER DATABASE";
    case OBJECT_ROLE:
      return "ALTER ROLE";
    case OBJECT_FUNCTION:
      return "ALTER FUNCTION";
    default:
      return "ALTER of this kind of object";
  }
}

std::string_view TreeConverter::feature_name(const PgNode* node) {
  for (const Feature& feature : features) {
    if (feature.node == node->type) return feature.name;
  }
  return "this statement";
}

}  // namespace pgsilo
