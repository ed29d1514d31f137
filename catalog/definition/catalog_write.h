// What the definitions of all kinds of objects write with: the transaction, the rows, the session's
// view, new OIDs, notices, schemas. Internal to catalog/: steps throw EngineOutcome for the
// engine's answers, which DataDefinition::run() turns into a status. Thread safety: none; one
// operation.
#pragma once

#include <initializer_list>
#include <source_location>
#include <span>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "catalog/catalog_rows.h"
#include "catalog/catalog_writer.h"
#include "catalog/data_definition.h"
#include "catalog/named_type.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

class CatalogWrite {
 public:
  explicit CatalogWrite(DataDefinition& definition);

  // A row of pg_depend.
  struct Dependency {
    ObjectAddress object;
    ObjectAddress referenced;
    int32_t part = 0;  // of what is referenced
    char type = 'n';
  };

  // What depends on the things that go, as PostgreSQL lists it: "table t", "type u".
  struct Dependent {
    std::string object;
    std::string needed;
  };

 protected:
  Oid new_oid();
  void notice(SqlState state, std::string message,
              std::source_location place = std::source_location::current());
  // Where something of that name is made; makes the session's temporary schema if it is that.
  const SchemaDescriptor& creation_schema(std::string_view name);
  // The same for relations, which are temporary there and nowhere else.
  const SchemaDescriptor& creation_schema(std::string_view name, RelationPersistence* persistence);
  // Puts the schema's row into the read set: nobody drops it meanwhile.
  void rest_on_schema(Oid schema);
  // True, with a notice, if there is no such schema and that is no error.
  bool skip_missing_schema(std::string_view schema, bool if_exists);
  void report_missing_schema(std::string_view schema, bool if_exists);
  // "t", "public.t" where it is not visible.
  std::string shown_name(const TableDescriptor& relation) const;
  // "table t", "view v", "sequence s".
  std::string shown_relation(const TableDescriptor& relation) const;
  std::string shown_type(Oid type) const { return pgsilo::shown_type(view_, type); }
  // 2BP01 if there are dependents, or with `cascade` a notice. `dropped`: "type t", empty: several.
  void announce_drop(std::string_view dropped, std::span<const Dependent> dependents, bool cascade);
  using TypeDraft = std::shared_ptr<TypeDescriptor>;
  // A type of that name without values, and its array type; insert_type() then makes the rows of
  // both and shows them to the transaction.
  TypeDraft new_type(const DataDefinition::ObjectName& name);
  void insert_type(TypeDraft type);
  // A copy of a type that a user made, to be changed: nobody else changes its row until the
  // transaction ends, nor has since the view looked at it.
  TypeDraft type_draft(Oid type);
  // Rewrites its row, for those who rest on it, and shows it to the transaction.
  void finish_type(TypeDraft draft);
  // A column of the type is made. Who drops the type notices by its row, which is rewritten. Null:
  // it is built in.
  std::shared_ptr<const UserType> hold_type(Oid type);
  // The rows of a type that nothing uses any more.
  void remove_type(const TypeDescriptor& type);
  // The same of a domain's constraint.
  void remove_domain_constraint(const DomainConstraint& constraint);
  // What the object needed.
  void remove_dependencies(ObjectAddress object);
  void remove_row(system_oid::Table table, std::initializer_list<int64_t> key);
  // What needs the object or, `part` not 0, that part of it: rows of pg_depend. The object is
  // locked.
  std::vector<Dependency> dependencies_on(ObjectAddress object, int32_t part = 0) const;
  // What the object needs.
  std::vector<Dependency> dependencies_of(ObjectAddress object) const;
  // Those of an object that goes and of its parts; with `part`, of that one.
  void remove_comments(ObjectAddress object, int32_t part = 0);
  bool type_name_taken(Oid schema, std::string_view name);
  // The first of _name, __name ... that no type of the schema has.
  std::string array_type_name(Oid schema, std::string_view name);
  // An array type of that name gives way, as PostgreSQL has it: 42710 if another kind of type has
  // the name, with a hint if it is wanted for a relation.
  void move_array_type(Oid schema, std::string_view name, bool for_relation);

  // Of rows that nobody else adds or removes, for a block has locked what they are about; a
  // one-shot rests on all that it reads.
  ReadPurpose locked_rows_purpose() const;
  Dependency dependency_of_row(std::string_view row) const;
  const SchemaDescriptor& own_temporary_schema();

  DataDefinition& definition_;
  CatalogView& view_;
  Transaction& transaction_;
  Catalog& catalog_;
  Arena arena_;
  CatalogRows rows_;
  CatalogWriter writer_;
};

}  // namespace pgsilo
