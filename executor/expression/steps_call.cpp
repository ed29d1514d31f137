#include <algorithm>
#include <cstring>

#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "catalog/catalog_view.h"
#include "executor/expression/steps.h"
#include "planner/bound/expression.h"
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/time_with_zone.h"

namespace pgsilo::steps {

namespace {
const CallData& call_data(const Step* step) { return *static_cast<const CallData*>(step->data); }
}  // namespace

const Step* call1_strict(const Step* step, Datum* registers, RowContext& context) {
  const Datum& argument = registers[step->a];
  registers[step->result] = argument.null ? Datum() : invoke(call_data(step), context, &argument);
  return step + 1;
}

const Step* call2_strict(const Step* step, Datum* registers, RowContext& context) {
  Datum arguments[2] = {registers[step->a], registers[step->b]};
  registers[step->result] = arguments[0].null || arguments[1].null
                                ? Datum()
                                : invoke(call_data(step), context, arguments);
  return step + 1;
}

const Step* call_strict(const Step* step, Datum* registers, RowContext& context) {
  const Datum* arguments = registers + step->a;
  for (int32_t i = 0; i < step->c; ++i) {
    if (arguments[i].null) {
      registers[step->result] = Datum();
      return step + 1;
    }
  }
  registers[step->result] = invoke(call_data(step), context, arguments);
  return step + 1;
}

const Step* call(const Step* step, Datum* registers, RowContext& context) {
  registers[step->result] = invoke(call_data(step), context, registers + step->a);
  return step + 1;
}

const Step* call_outside(const Step* step, Datum* registers, RowContext& context) {
  const Datum* arguments = registers + step->a;
  bool has_null =
      std::any_of(arguments, arguments + step->c, [](const Datum& each) { return each.null; });
  if (step->b != 0 && has_null) {
    registers[step->result] = Datum();
    return step + 1;
  }
  context.execution->act_outside();
  return call(step, registers, context);
}

const Step* distinct_from(const Step* step, Datum* registers, RowContext& context) {
  Datum arguments[2] = {registers[step->a], registers[step->b]};
  bool distinct;
  if (arguments[0].null || arguments[1].null) {
    distinct = arguments[0].null != arguments[1].null;
  } else {
    distinct = !invoke(call_data(step), context, arguments).as_bool();
  }
  registers[step->result] = Datum::of_bool(distinct != (step->c != 0));
  return step + 1;
}

const Step* min_max(const Step* step, Datum* registers, RowContext&) {
  const Datum& value = registers[step->a];
  Datum& best = registers[step->result];
  if (value.null) return step + 1;
  if (best.null) {
    best = value;
    return step + 1;
  }
  int order = static_cast<const TypeInfo*>(step->data)->compare(value, best);
  if (step->c != 0 ? order < 0 : order > 0) best = value;
  return step + 1;
}

Datum through_text(const IoConversion& conversion, Datum value, RowContext& context) {
  ByteBuffer text;
  conversion.from->print(value, text, *context.types);
  // The parsed value may point into its text.
  std::string_view kept = copy_value(text.view(), *context.arena);
  return conversion.to->parse(kept, conversion.typmod, *context.types);
}

const Step* io_conversion(const Step* step, Datum* registers, RowContext& context) {
  const Datum& value = registers[step->a];
  registers[step->result] =
      value.null ? Datum()
                 : through_text(*static_cast<const IoConversion*>(step->data), value, context);
  return step + 1;
}

const Step* typmod_coercion(const Step* step, Datum* registers, RowContext& context) {
  const auto& coercion = *static_cast<const TypmodCoercion*>(step->data);
  const Datum& value = registers[step->a];
  registers[step->result] = value.null
                                ? Datum()
                                : coercion.type->apply_typmod(value, coercion.typmod,
                                                              coercion.is_explicit, *context.types);
  return step + 1;
}

const Step* domain_coercion(const Step* step, Datum* registers, RowContext& context) {
  const Datum& value = registers[step->a];
  check_domain(*static_cast<const TypeInfo*>(step->data), value, *context.types);
  registers[step->result] = value;
  return step + 1;
}

const Step* sql_value(const Step* step, Datum* registers, RowContext& context) {
  Datum& result = registers[step->result];
  const TypeContext& types = (*context.types);
  const ExecutionContext& session = (*context.execution);
  int64_t now = session.transaction_timestamp_us;
  int32_t precision = static_cast<int32_t>(step->b) - 1;
  auto text = [&](std::string_view value) {
    return Datum::of_bytes((*context.arena).copy_string(value));
  };
  switch (static_cast<SqlValueKind>(step->c)) {
    case SqlValueKind::current_date:
      result = Datum::of_int(timestamptz_to_date(now, types.time_zone));
      break;
    case SqlValueKind::current_timestamp:
      result = Datum::of_int(timestamp_apply_typmod(now, precision));
      break;
    case SqlValueKind::localtimestamp:
      result = Datum::of_int(
          timestamp_apply_typmod(timestamptz_to_timestamp(now, types.time_zone), precision));
      break;
    case SqlValueKind::localtime:
      result = Datum::of_int(
          time_apply_typmod(timestamptz_to_time(now, types.time_zone).i64, precision));
      break;
    case SqlValueKind::current_time: {
      TimeWithZone time = timestamptz_to_time_with_zone(now, types.time_zone);
      time.time = time_apply_typmod(time.time, precision);
      result = time_with_zone_datum(time, *context.arena);
      break;
    }
    case SqlValueKind::current_user:
      result = text(session.user_name);
      break;
    case SqlValueKind::session_user:
      result = text(session.session_user_name);
      break;
    case SqlValueKind::current_catalog:
      result = text(session.database_name);
      break;
    case SqlValueKind::current_schema: {
      const SchemaDescriptor* schema = session.told_catalog().creation_schema();
      result = schema == nullptr ? Datum() : text(schema->name);
      break;
    }
  }
  return step + 1;
}

}  // namespace pgsilo::steps
