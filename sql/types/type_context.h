// What reading and printing values depends on besides the value: the session's settings, the clock
// of the statement, where results are allocated, and how the names of catalog objects are found.
// Thread safety: none; one per session or statement.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "sql/types/datum.h"
#include "sql/types/time_zone.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

class ByteBuffer;
class EnumLabels;

enum class DateStyle : uint8_t { iso, postgres, sql, german };
enum class DateOrder : uint8_t { mdy, dmy, ymd };
enum class IntervalStyle : uint8_t { postgres, postgres_verbose, sql_standard, iso_8601 };
enum class ByteaOutput : uint8_t { hex, escape };

// Names of catalog objects for the reg* types, and what the catalog says of types that users made;
// the executor gives the one that reads its CatalogSnapshot.
class ObjectNames {
 public:
  virtual ~ObjectNames() = default;
  // The object that `text` names for a reg* type (type_oid::regclass, ...); throws PostgreSQL's
  // error for that type (42P01, 42883, 42704, ...) when there is none.
  virtual Oid find(Oid reg_type, std::string_view text) = 0;
  // Appends the name, qualified and quoted where needed; false when there is no such object (then
  // its number is printed).
  virtual bool print(Oid reg_type, Oid object, ByteBuffer& out) = 0;
  // Of an enum, until the end of the statement; null when there is no such type.
  virtual const EnumLabels* find_labels(Oid type) = 0;
  // 23514, 23502 of a value, or NULL, that is none of the domain's. It is of the domain's form.
  virtual void check_domain(Oid domain, Datum value) = 0;
};

struct TypeContext {
  // By-reference results live here.
  Arena* arena = nullptr;
  DateStyle date_style = DateStyle::iso;
  DateOrder date_order = DateOrder::mdy;
  IntervalStyle interval_style = IntervalStyle::postgres;
  ByteaOutput bytea_output = ByteaOutput::hex;
  int8_t extra_float_digits = 1;
  TimeZone time_zone = TimeZone::utc();
  // Microseconds since 2000-01-01 00:00 UTC: now() and the words 'now', 'today', 'tomorrow',
  // 'yesterday'.
  int64_t transaction_timestamp = 0;
  int64_t statement_timestamp = 0;
  // Null: reg* values are read and printed as numbers only.
  ObjectNames* object_names = nullptr;
};

}  // namespace pgsilo
