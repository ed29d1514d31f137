#include "planner/binder/coercion.h"

#include <string>

#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "catalog/catalog_view.h"
#include "planner/binder/binding.h"
#include "planner/binder/parameters.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "sql/internal_error.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

bool is_string_category(Oid type) {
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->category == 'S';
}

bool allows(CoercionContext context, CastContext needed) {
  switch (needed) {
    case CastContext::implicit:
      return true;
    case CastContext::assignment:
      return context != CoercionContext::implicit;
    case CastContext::explicit_:
      return context == CoercionContext::explicit_;
  }
  return false;
}

// int2vector and oidvector are arrays, too, and so are domains over arrays.
Oid array_element(Oid given) {
  Oid type = base_type_of(given);
  if (type == type_oid::int2vector || type == type_oid::oidvector) return type_info(type).element;
  const TypeInfo* info = find_type(type);
  return info != nullptr && is_array_type(*info) ? info->element : invalid_oid;
}

// Arrays convert where their elements convert.
CoercionPath find_array_path(Oid source, Oid target, CoercionContext context) {
  Oid source_element = array_element(source);
  // Nothing becomes one of the vectors, or they would catch what should go to ordinary arrays.
  bool is_vector = target == type_oid::int2vector || target == type_oid::oidvector;
  Oid target_element = is_vector ? invalid_oid : array_element(target);
  if (source_element == invalid_oid || target_element == invalid_oid) return {};
  CoercionPath element = find_coercion_path(source_element, target_element, context);
  // An array knows of which type its elements are, and is compared, sent and printed so.
  bool is_same = source_element == target_element;
  if (element.method == CoercionMethod::none || is_same) return element;
  return {CoercionMethod::array, invalid_oid};
}

// Any type to a string type on assignment, any string type to any type explicitly.
CoercionPath find_io_path(Oid source, Oid target, CoercionContext context) {
  bool reads = context != CoercionContext::implicit && is_string_category(target);
  bool writes = context == CoercionContext::explicit_ && is_string_category(source);
  if (!reads && !writes) return {};
  const TypeInfo* from = find_type(source);
  const TypeInfo* to = find_type(target);
  auto has_text = [](const TypeInfo* type) {
    return type != nullptr && (type->typtype == 'b' || type->typtype == 'e');
  };
  if (!has_text(from) || !has_text(to)) return {};
  return {CoercionMethod::io, invalid_oid};
}

// Literals that mean something else later, or after SET: 'now', dates whose parts DateStyle orders,
// times without a zone, names of catalog objects.
bool depends_on_moment(const TypeInfo& type, std::string_view text) {
  if (type.category == 'N' && type.oid != type_oid::oid && type.name.starts_with("reg"))
    return true;
  if (type.category != 'D') return false;
  if (type.oid == type_oid::timestamptz || type.oid == type_oid::timetz) return true;
  if (type.oid == type_oid::time) return text.find_first_not_of("0123456789:.") != text.npos;
  // yyyy-mm-dd, and whatever time follows it.
  bool iso = text.size() >= 10 && text[4] == '-' && text[7] == '-' &&
             text.find_first_not_of("0123456789-:. T") == text.npos;
  return !iso;
}

// nextval('s'): what the name means is looked at again when the catalog changes.
bool rests_on_sequence(StatementBinding& binding, Datum relation) {
  const TableDescriptor* table = binding.catalog.find_table(static_cast<Oid>(relation.i64));
  if (table == nullptr || table->kind != RelationKind::sequence) return false;
  binding.use_table(table);
  return true;
}

const BoundExpression* read_literal(StatementBinding& binding, const ConstantExpression& literal,
                                    Oid target, int32_t typmod) {
  auto* constant = binding.arena.make<ConstantExpression>(literal);  // keeps the location
  constant->type = target;
  constant->typmod = no_typmod;
  if (literal.value.null) return constant;
  const TypeInfo& type = type_info(target);
  binding.use_type(target);
  try {
    // Only interval's input depends on its modifier; the others are cut to it by a coercion of
    // their own.
    int32_t reading_typmod = target == type_oid::interval ? typmod : no_typmod;
    constant->value = type.parse(literal.value.bytes(), reading_typmod, binding.types);
    if (reading_typmod >= 0) constant->typmod = reading_typmod;
  } catch (SqlError& error) {
    if (error.diagnostic().position < 0 && error.state() != sqlstate::query_canceled)
      error.amend().position = binding.position(literal.location);
    throw;
  }
  if (target == type_oid::regclass && rests_on_sequence(binding, constant->value)) return constant;
  if (depends_on_moment(type, literal.value.bytes())) binding.cacheable = false;
  return constant;
}

const BoundExpression* cast_call(StatementBinding& binding, const BoundExpression* argument,
                                 Oid target, Oid procedure, CallForm form, int32_t location) {
  const BuiltinProcedure* found = find_procedure(procedure);
  PGSILO_REQUIRE(found != nullptr);
  // Some cast functions also want a modifier and whether the cast is explicit.
  auto arguments = binding.arena.make_span<const BoundExpression*>(found->argument_count);
  arguments[0] = argument;
  if (arguments.size() > 1) arguments[1] = make_int4(binding.arena, no_typmod);
  if (arguments.size() > 2)
    arguments[2] = make_boolean(binding.arena, form == CallForm::explicit_cast);
  CallExpression* call = make_call(binding.arena, *found, target, arguments, location);
  call->form = form;
  return call;
}

const BoundExpression* relabel(StatementBinding& binding, const BoundExpression* expression,
                               Oid target, CallForm form, int32_t location) {
  auto* node = make_expression<RelabelExpression>(binding.arena, target, location);
  node->argument = expression;
  node->form = form;
  return node;
}

// As one of the type beneath, if it is of a domain.
const BoundExpression* without_domain(StatementBinding& binding,
                                      const BoundExpression* expression) {
  Oid base = base_type_of(expression->type);
  if (base == expression->type) return expression;
  return relabel(binding, expression, base, CallForm::implicit_cast, expression->location);
}

const BoundExpression* convert_elements(StatementBinding& binding,
                                        const BoundExpression* expression, Oid target,
                                        CallForm form, int32_t location) {
  auto* node = make_expression<ArrayCoercionExpression>(binding.arena, target, location);
  node->argument = expression;
  node->form = form;
  node->source_element = array_element(expression->type);
  node->target_element = array_element(target);
  // Whatever the context allows, an explicit cast is made in the same way.
  CoercionPath element =
      find_coercion_path(node->source_element, node->target_element, CoercionContext::explicit_);
  node->procedure = element.procedure;
  node->through_text = element.method == CoercionMethod::io;
  return node;
}

const BoundExpression* convert(StatementBinding& binding, const BoundExpression* expression,
                               Oid target, CoercionPath path, CallForm form, int32_t location) {
  if (location < 0) location = expression->location;
  if (path.method != CoercionMethod::relabel) expression = without_domain(binding, expression);
  switch (path.method) {
    case CoercionMethod::relabel:
      return relabel(binding, expression, target, form, location);
    case CoercionMethod::io: {
      auto* node = make_expression<IoConversionExpression>(binding.arena, target, location);
      node->argument = expression;
      node->form = form;
      return node;
    }
    case CoercionMethod::function: {
      // int2 becomes an oid by way of int4.
      Oid result = find_procedure(path.procedure)->result;
      if (!sign_differs(result, target))
        return cast_call(binding, expression, target, path.procedure, form, location);
      expression =
          cast_call(binding, expression, result, path.procedure, CallForm::implicit_cast, location);
      return relabel(binding, expression, target, form, location);
    }
    case CoercionMethod::array:
      return convert_elements(binding, expression, target, form, location);
    case CoercionMethod::none:
      break;
  }
  throw SqlError(sqlstate::internal_error,
                 concat("failed to find conversion function from ", type_name(expression->type),
                        " to ", type_name(target)));
}

// The length coercion to `typmod`, where the type has one and the expression is not known to fit
// already.
const BoundExpression* coerce_typmod(StatementBinding& binding, const BoundExpression* expression,
                                     int32_t typmod, CoercionContext context) {
  if (typmod < 0 || typmod == expression->typmod) return expression;
  if (!type_info(expression->type).has_typmods()) return expression;
  auto* node = make_expression<TypmodCoercionExpression>(binding.arena, expression->type,
                                                         expression->location);
  node->typmod = typmod;
  node->argument = expression;
  node->explicit_cast = context == CoercionContext::explicit_;
  return node;
}

// A value of a type that has the domain's form, made fit for it.
const BoundExpression* coerce_to_domain(StatementBinding& binding,
                                        const BoundExpression* expression, Oid domain,
                                        CoercionContext context, CallForm form, int32_t location) {
  binding.use_type(domain);
  int32_t typmod = no_typmod;
  Oid base = base_type_of(domain, &typmod);
  if (typmod >= 0 && expression->type != base)
    expression = relabel(binding, expression, base, CallForm::implicit_cast, expression->location);
  expression = coerce_typmod(binding, expression, typmod, context);
  auto* node = make_expression<DomainCoercionExpression>(
      binding.arena, domain, location >= 0 ? location : expression->location);
  node->argument = expression;
  node->form = form;
  return node;
}

// Of type unknown: a literal, a parameter, or what somebody else made of one.
const BoundExpression* coerce_unknown(StatementBinding& binding, const BoundExpression* expression,
                                      Oid target, int32_t typmod, CallForm form, int32_t location) {
  if (auto* constant = try_as<ConstantExpression>(expression))
    return read_literal(binding, *constant, target, typmod);
  return convert(binding, expression, target, {CoercionMethod::io, invalid_oid}, form, location);
}

}  // namespace

CoercionPath find_coercion_path(Oid given_source, Oid given_target, CoercionContext context) {
  // A domain converts as the type beneath it.
  Oid source = base_type_of(given_source);
  Oid target = base_type_of(given_target);
  if (source == target) return {CoercionMethod::relabel, invalid_oid};
  if (const BuiltinCast* cast = find_cast(source, target)) {
    if (!allows(context, cast->context)) return {};
    switch (cast->method) {
      case CastMethod::function:
        return {CoercionMethod::function, cast->procedure};
      case CastMethod::binary:
        return {CoercionMethod::relabel, invalid_oid};
      case CastMethod::in_out:
        return {CoercionMethod::io, invalid_oid};
    }
  }
  CoercionPath path = find_array_path(source, target, context);
  return path.method != CoercionMethod::none ? path : find_io_path(source, target, context);
}

bool is_polymorphic(Oid type) {
  return type == type_oid::anyelement || type == type_oid::anyarray ||
         type == type_oid::anynonarray || type == type_oid::anycompatible ||
         type == type_oid::anycompatiblearray || type == type_oid::anycompatiblenonarray ||
         type == type_oid::anyenum || type == type_oid::anyrange ||
         type == type_oid::anymultirange || type == type_oid::anycompatiblerange;
}

bool can_coerce(Oid source, Oid target, CoercionContext context) {
  if (source == target || target == type_oid::any) return true;
  switch (target) {
    case type_oid::anyelement:
    case type_oid::anycompatible:
      return true;
    case type_oid::anynonarray:
    case type_oid::anycompatiblenonarray:
      return array_element(source) == invalid_oid;
    case type_oid::anyarray:
    case type_oid::anycompatiblearray:
      return source == type_oid::unknown || array_element(source) != invalid_oid;
    case type_oid::anyenum: {
      const TypeInfo* info = find_type(source);
      return source == type_oid::unknown || (info != nullptr && info->typtype == 'e');
    }
    case type_oid::anyrange:
    case type_oid::anymultirange:
    case type_oid::anycompatiblerange:
      return source == type_oid::unknown;
    default:
      break;
  }
  if (source == type_oid::unknown) return true;
  return find_coercion_path(source, target, context).method != CoercionMethod::none;
}

const BoundExpression* coerce_type(StatementBinding& binding, const BoundExpression* expression,
                                   Oid target, int32_t typmod, CoercionContext context,
                                   CallForm form, int32_t location) {
  constexpr size_t coercion_work = 1024;
  did_work(coercion_work);
  if (expression->type == target || target == type_oid::any) return expression;
  if (is_polymorphic(target)) return expression;
  bool is_unknown = expression->type == type_oid::unknown;
  auto* parameter = is_unknown ? try_as<ParameterExpression>(expression) : nullptr;
  // Of a domain, too: its input function looks at what it reads.
  if (parameter != nullptr) return coerce_parameter(binding, *parameter, target, location);
  int32_t base_typmod = typmod;
  Oid base = base_type_of(target, &base_typmod);
  if (base == target && is_unknown)
    return coerce_unknown(binding, expression, target, typmod, form, location);
  CoercionPath path =
      is_unknown ? CoercionPath{} : find_coercion_path(expression->type, target, context);
  if (base == target) return convert(binding, expression, target, path, form, location);
  // Who shows it shows one cast, that to the domain.
  const BoundExpression* value = expression;
  if (is_unknown) {
    value =
        coerce_unknown(binding, expression, base, base_typmod, CallForm::implicit_cast, location);
  } else if (path.method != CoercionMethod::relabel) {
    value = convert(binding, expression, base, path, CallForm::implicit_cast, location);
  }
  return coerce_to_domain(binding, value, target, context, form, location);
}

const BoundExpression* coerce_to_target(StatementBinding& binding,
                                        const BoundExpression* expression, Oid target,
                                        int32_t typmod, CoercionContext context, CallForm form,
                                        int32_t location) {
  if (!can_coerce(expression->type, target, context)) return nullptr;
  const BoundExpression* result =
      coerce_type(binding, expression, target, typmod, context, form, location);
  const BoundExpression* fitted = coerce_typmod(binding, result, typmod, context);
  bool is_part = fitted != result && result != expression;
  // As in PostgreSQL: of one `::type(n)` the cast below the modifier's is none that was written.
  if (is_part && form == CallForm::explicit_cast)
    return coerce_typmod(binding,
                         coerce_type(binding, expression, target, typmod, context,
                                     CallForm::implicit_cast, location),
                         typmod, context);
  return fitted;
}

// What is AND, OR or NOT was asked when its parts were bound: so all of a condition is looked at
// once.
static bool has_set(const BoundExpression& expression) {
  if (expression.kind == ExpressionKind::set_returning) return true;
  if (expression.kind == ExpressionKind::boolean) return false;
  bool found = false;
  for_each_child(expression,
                 [&](const BoundExpression& child) { found = found || has_set(child); });
  return found;
}

const BoundExpression* coerce_to_specific(StatementBinding& binding,
                                          const BoundExpression* expression, Oid target,
                                          std::string_view construct) {
  if (expression->type != target) {
    const BoundExpression* coerced =
        coerce_to_target(binding, expression, target, no_typmod, CoercionContext::assignment,
                         CallForm::implicit_cast, -1);
    if (coerced == nullptr) {
      throw SqlError(sqlstate::datatype_mismatch,
                     concat("argument of ", construct, " must be type ", type_name(target),
                            ", not type ", type_name(expression->type)))
          .at(binding.position(first_location(*expression)));
    }
    expression = coerced;
  }
  if (has_set(*expression)) {
    throw SqlError(sqlstate::datatype_mismatch,
                   concat("argument of ", construct, " must not return a set"))
        .at(binding.position(first_location(*expression)));
  }
  return expression;
}

const BoundExpression* coerce_to_boolean(StatementBinding& binding,
                                         const BoundExpression* expression,
                                         std::string_view construct) {
  return coerce_to_specific(binding, expression, type_oid::boolean, construct);
}

}  // namespace pgsilo
