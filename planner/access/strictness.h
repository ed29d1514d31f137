// Which relations a condition rejects when all their columns are NULL.
// Thread safety: pure functions.
#pragma once

#include "planner/access/relation_set.h"
#include "planner/bound/expression.h"

namespace pgsilo {

// Relations of which an all-null row makes the condition false or NULL.
RelationSet non_nullable_relations(const BoundExpression& condition);

// `=` of a type that hashes, both sides of types that hash alike.
bool is_hashable_equality(const CallExpression& call);
// Values of both types hash alike, and are equal as TypeInfo::equal of either says.
bool hash_alike(Oid left, Oid right);

}  // namespace pgsilo
