#include "planner/binder/parameters.h"

#include "planner/binder/binding.h"
#include "planner/bound/make_expression.h"
#include "sql/limits.h"

namespace pgsilo {

namespace {

const BoundExpression* make_parameter(StatementBinding& binding, int32_t index, Oid type,
                                      int32_t location) {
  auto* node = make_expression<ParameterExpression>(binding.arena, type, location);
  node->index = index;
  auto number = static_cast<size_t>(index);
  if (number < binding.parameters.guesses.size()) node->guess = binding.parameters.guesses[number];
  return node;
}

[[noreturn]] void throw_undefined(const StatementBinding& binding, int32_t number,
                                  int32_t location) {
  throw SqlError(sqlstate::undefined_parameter, concat("there is no parameter $", number))
      .at(binding.position(location));
}

}  // namespace

const BoundExpression* bind_parameter(StatementBinding& binding, int32_t number, int32_t location) {
  ParameterTypes& parameters = binding.parameters;
  if (!parameters.allowed || number < 1 || number > limits::max_parameter_number)
    throw_undefined(binding, number, location);
  auto& types = parameters.types;
  if (number > limits::max_parameters) {
    types.resize(limits::max_parameters, invalid_oid);
    if (parameters.beyond == 0) {
      parameters.beyond = number;
      parameters.beyond_location = location;
    }
    return make_parameter(binding, number - 1, type_oid::unknown, location);
  }
  if (types.size() < static_cast<size_t>(number)) types.resize(number, invalid_oid);
  Oid& type = types[number - 1];
  if (type == invalid_oid) type = type_oid::unknown;
  binding.use_type(type);
  return make_parameter(binding, number - 1, type, location);
}

const BoundExpression* coerce_parameter(StatementBinding& binding,
                                        const ParameterExpression& parameter, Oid target,
                                        int32_t location) {
  if (parameter.index >= limits::max_parameters)
    return make_parameter(binding, parameter.index, target, location);
  Oid& type = binding.parameters.types[parameter.index];
  if (type == type_oid::unknown) {
    type = target;
    binding.use_type(type);
  } else if (type != target) {
    throw SqlError(sqlstate::ambiguous_parameter,
                   concat("inconsistent types deduced for parameter $", parameter.index + 1))
        .detail(concat(type_name(type), " versus ", type_name(target)))
        .at(binding.position(parameter.location));
  }
  // The position that a cast names is where either of them starts.
  int32_t first = parameter.location;
  if (location >= 0 && (first < 0 || location < first)) first = location;
  return make_parameter(binding, parameter.index, type, first);
}

void check_parameters(const StatementBinding& binding) {
  const ParameterTypes& parameters = binding.parameters;
  require_known_types(parameters.types);
  if (parameters.beyond != 0)
    throw_undefined(binding, parameters.beyond, parameters.beyond_location);
}

void require_known_types(std::span<const Oid> types) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] != invalid_oid && types[i] != type_oid::unknown) continue;
    throw SqlError(sqlstate::indeterminate_datatype,
                   concat("could not determine data type of parameter $", i + 1));
  }
}

}  // namespace pgsilo
