// interval: its entry in the table of types, binary form and modifiers.
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/interval.h"
#include "sql/types/interval_internal.h"
#include "sql/types/type_functions.h"

namespace pgsilo::types {

namespace {

struct FieldsName {
  int fields;
  std::string_view name;
};
constexpr FieldsName fields_names[] = {
    {interval_field_year, " year"},
    {interval_field_month, " month"},
    {interval_field_day, " day"},
    {interval_field_hour, " hour"},
    {interval_field_minute, " minute"},
    {interval_field_second, " second"},
    {interval_field_year | interval_field_month, " year to month"},
    {interval_field_day | interval_field_hour, " day to hour"},
    {interval_field_day | interval_field_hour | interval_field_minute, " day to minute"},
    {interval_field_day | interval_field_hour | interval_field_minute | interval_field_second,
     " day to second"},
    {interval_field_hour | interval_field_minute, " hour to minute"},
    {interval_field_hour | interval_field_minute | interval_field_second, " hour to second"},
    {interval_field_minute | interval_field_second, " minute to second"},
    {interval_all_fields, ""},
};

const FieldsName* find_fields(int fields) {
  for (const FieldsName& entry : fields_names) {
    if (entry.fields == fields) return &entry;
  }
  return nullptr;
}

}  // namespace

Datum parse_interval(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx) {
  return interval_datum(pgsilo::parse_interval(text, typmod, ctx.interval_style), *ctx.arena);
}

void print_interval(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx) {
  pgsilo::print_interval(interval_of(value), ctx.interval_style, out);
}

Datum receive_interval(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx) {
  const char* from = exact_bytes(bytes, 16);
  Interval interval;
  interval.time = static_cast<int64_t>(load_be64(from));
  interval.day = static_cast<int32_t>(load_be32(from + 8));
  interval.month = static_cast<int32_t>(load_be32(from + 12));
  return interval_datum(interval_apply_typmod(interval, typmod), *ctx.arena);
}

void send_interval(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  Interval interval = interval_of(value);
  out.append_be64(static_cast<uint64_t>(interval.time));
  out.append_be32(static_cast<uint32_t>(interval.day));
  out.append_be32(static_cast<uint32_t>(interval.month));
}

int compare_interval(const TypeInfo&, Datum left, Datum right) {
  return interval_compare(interval_of(left), interval_of(right));
}

bool equal_interval(const TypeInfo&, Datum left, Datum right) {
  return interval_span(interval_of(left)) == interval_span(interval_of(right));
}

uint64_t hash_interval(const TypeInfo&, Datum value) {
  __int128 span = interval_span(interval_of(value));
  return hash_combine(static_cast<uint64_t>(span), static_cast<uint64_t>(span >> 64));
}

Datum apply_interval_typmod(const TypeInfo&, Datum value, int32_t typmod, bool, TypeContext& ctx) {
  return interval_datum(interval_apply_typmod(interval_of(value), typmod), *ctx.arena);
}

// One modifier is a set of fields, two are fields and a precision: what the grammar makes of
// INTERVAL ... SECOND(3).
int32_t make_interval_typmod(std::span<const int32_t> modifiers) {
  if (modifiers.empty() || modifiers.size() > 2 || find_fields(modifiers[0]) == nullptr) {
    throw SqlError(sqlstate::invalid_parameter_value, "invalid INTERVAL type modifier");
  }
  int32_t fields = modifiers[0];
  if (modifiers.size() == 1) {
    return fields == interval_all_fields ? no_typmod : (fields << 16) | interval_no_precision;
  }
  int32_t precision = modifiers[1];
  if (precision < 0) {
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("INTERVAL(", precision, ") precision must not be negative"));
  }
  return (fields << 16) | std::min<int32_t>(precision, limits::max_time_precision);
}

void print_interval_typmod(int32_t typmod, ByteBuffer& out) {
  const FieldsName* entry = find_fields(interval_fields(typmod));
  if (entry != nullptr) out.append(entry->name);
  int precision = interval_precision(typmod);
  if (precision == interval_no_precision) return;
  out.append('(');
  out.append_decimal(precision);
  out.append(')');
}

}  // namespace pgsilo::types
