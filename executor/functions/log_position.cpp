// Places in the log (pg_lsn), backups that lie between two of them, and slots that keep it.
#include "base/arena.h"
#include "executor/execution_context.h"
#include "executor/functions/function.h"
#include "executor/server_monitor.h"
#include "executor/session_backup.h"
#include "executor/session_slots.h"
#include "sql/sql_error.h"
#include "sql/types/lsn.h"
#include "sql/types/numeric.h"

namespace pgsilo::functions {
namespace {

Datum numeric_from_unsigned(uint64_t value, Arena& arena) {
  Datum half = numeric_from_integer(static_cast<int64_t>(value >> 1), arena);
  return numeric_add(numeric_add(half, half, arena),
                     numeric_from_integer(static_cast<int64_t>(value & 1), arena), arena);
}

Datum distance(EvalContext& context, const Datum* a) {
  return numeric_sub(numeric_from_unsigned(lsn_of(a[0]), *context.arena),
                     numeric_from_unsigned(lsn_of(a[1]), *context.arena), *context.arena);
}

Datum lsn_from_numeric(Datum value, Arena& arena) {
  if (numeric_is_infinite(value))
    throw SqlError(sqlstate::feature_not_supported, "cannot convert infinity to pg_lsn");
  Datum whole = numeric_round(value, 0, arena);
  Datum limit = numeric_from_unsigned(UINT64_MAX, arena);
  Datum zero = numeric_from_integer(0, arena);
  if (numeric_compare(whole, zero) < 0 || numeric_compare(whole, limit) > 0)
    throw SqlError(sqlstate::invalid_parameter_value, "pg_lsn out of range");
  // Around the middle of what is possible, as the Datum holds it.
  Datum middle = numeric_from_unsigned(lsn_turned_bit, arena);
  return Datum::of_int(numeric_to_integer(numeric_sub(whole, middle, arena), 8));
}

Datum lsn_plus(EvalContext& context, Datum lsn, Datum bytes) {
  if (numeric_is_nan(bytes))
    throw SqlError(sqlstate::feature_not_supported, "cannot add NaN to pg_lsn");
  Datum from = numeric_from_unsigned(lsn_of(lsn), *context.arena);
  return lsn_from_numeric(numeric_add(from, bytes, *context.arena), *context.arena);
}
Datum lsn_plus_numeric(EvalContext& context, const Datum* a) {
  return lsn_plus(context, a[0], a[1]);
}
Datum numeric_plus_lsn(EvalContext& context, const Datum* a) {
  return lsn_plus(context, a[1], a[0]);
}
Datum lsn_minus_numeric(EvalContext& context, const Datum* a) {
  if (numeric_is_nan(a[1]))
    throw SqlError(sqlstate::feature_not_supported, "cannot subtract NaN from pg_lsn");
  Datum from = numeric_from_unsigned(lsn_of(a[0]), *context.arena);
  return lsn_from_numeric(numeric_sub(from, a[1], *context.arena), *context.arena);
}

// What was committed in the epoch that is going on now is behind it.
Datum present_place(EvalContext& context, const Datum*) {
  return datum_of_lsn(context.execution->monitor->logs().at(0).current_epoch);
}
Datum durable_place(EvalContext& context, const Datum*) {
  return datum_of_lsn(context.execution->monitor->logs().at(0).durable_epoch);
}
// All that was committed is in it, and the disk says so: a copy of the log goes on behind it.
Datum recorded_place(EvalContext& context, const Datum*) {
  return datum_of_lsn(context.execution->monitor->logs().at(0).recorded_epoch);
}

// `fast` asks for a checkpoint at once; none is waited for, for there is one that counts.
Datum start_backup(EvalContext& context, const Datum* a) {
  SessionBackup* backup = context.execution->backup;
  if (backup == nullptr)
    throw SqlError(sqlstate::feature_not_supported, "there is no server to back up");
  return datum_of_lsn(backup->start(a[0].bytes()));
}

Datum drop_slot(EvalContext& context, const Datum* a) {
  if (context.execution->slots == nullptr)
    throw SqlError(sqlstate::feature_not_supported, "there is no server to keep a log");
  context.execution->slots->drop(a[0].bytes());
  return Datum::of_int(0);
}

constexpr FunctionEntry entries[] = {
    {3237, distance},         {3165, distance},          {5022, lsn_plus_numeric},
    {5023, numeric_plus_lsn}, {5024, lsn_minus_numeric}, {2849, durable_place},
    {2852, present_place},    {3330, recorded_place},    {2172, start_backup},
    {3780, drop_slot},
};

}  // namespace

std::span<const FunctionEntry> log_position() { return entries; }

}  // namespace pgsilo::functions
