// $n of the client: its type is declared, or learned from the first place that needs it as
// something. Thread safety: none; see StatementBinding.
#pragma once

#include <cstdint>
#include <span>

#include "planner/bound/expression.h"

namespace pgsilo {

struct StatementBinding;

// Throws 42P02 "there is no parameter $n" where parameters are not allowed or n is out of range; in
// a statement to prepare, of an n that a client cannot give, check_parameters() does.
const BoundExpression* bind_parameter(StatementBinding& binding, int32_t number, int32_t location);
// A parameter of unknown type used as `target`: throws 42P08 when another use has made it something
// else.
const BoundExpression* coerce_parameter(StatementBinding& binding,
                                        const ParameterExpression& parameter, Oid target,
                                        int32_t location);
// After binding: throws 42P18 for a parameter nobody gave a type, of which there nearly always is
// one below an n that is too great.
void check_parameters(const StatementBinding& binding);
// Of a statement that gives no reason to infer them from: 42P18 for the first that is not declared.
void require_known_types(std::span<const Oid> types);
}  // namespace pgsilo
