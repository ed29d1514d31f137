// Types as data: what pg_type says about each, and the functions that read, print, send, receive,
// compare and hash its values. The built-in ones are constants, one entry each; those that users
// make are in user_type.h. Thread safety: immutable.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/long_work.h"
#include "sql/types/datum.h"
#include "sql/types/type_context.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

class ByteBuffer;

// No type modifier.
inline constexpr int32_t no_typmod = -1;
// What the typmod of char(n), varchar(n) and numeric(p, s) holds beside them.
inline constexpr int32_t typmod_header = 4;

// How the binary order of a type's keys is written (key_codec.h).
enum class KeyForm : uint8_t {
  none,     // has no order: cannot be a key
  boolean,  // 1 byte; also "char"
  int16,    // 2, 4, 8 bytes, sign bit flipped
  int32,
  int64,
  uint32,  // oid and kin
  float32,
  float64,
  text,    // text, varchar, name, unknown
  bpchar,  // text without its trailing blanks
  bytea,
  numeric,
  interval,
  timetz,
  array,
  oidvector,  // its length first
};

struct TypeInfo;

// What is done with a type's values. Each function receives the type, for those that serve many:
// arrays, enums, ranges. Null: the type has none.
struct ValueFunctions {
  Datum (*parse)(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext&) = nullptr;
  void (*print)(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) = nullptr;
  Datum (*receive)(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext&) = nullptr;
  void (*send)(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) = nullptr;
  int (*compare)(const TypeInfo&, Datum left, Datum right) = nullptr;
  bool (*equal)(const TypeInfo&, Datum left, Datum right) = nullptr;
  uint64_t (*hash)(const TypeInfo&, Datum value) = nullptr;
};

// What is done with type modifiers.
struct ModifierFunctions {
  Datum (*apply)(const TypeInfo&, Datum value, int32_t typmod, bool explicit_cast,
                 TypeContext&) = nullptr;
  int32_t (*make)(std::span<const int32_t> modifiers) = nullptr;
  void (*print)(int32_t typmod, ByteBuffer& out) = nullptr;
};

struct TypeInfo {
  Oid oid;
  std::string_view name;  // pg_type.typname; of a user's type empty
  // format_type's name without a modifier: "character varying"; of a user's type empty.
  std::string_view display_name;

  // Columns of pg_type.
  int16_t typlen;
  bool typbyval;
  char typtype;    // 'b' base, 'p' pseudo, 'e' enum, 'd' domain
  char category;   // typcategory
  bool preferred;  // typispreferred
  char delimiter;  // typdelim
  Oid element;     // typelem; 0 when it is no array
  Oid array;       // typarray; 0 when there is none
  char alignment;  // typalign
  char storage;    // typstorage
  Oid collation;   // typcollation: 100 default, 950 C, 0 not collatable

  // How a Datum of it lies in memory: pointer and length, or the value itself (which differs from
  // typbyval for tid).
  bool by_reference;
  KeyForm key_form;

  ValueFunctions functions;
  ModifierFunctions modifiers;
  // The type of an array's elements, where it is not built in, or the type is a domain over arrays.
  const TypeInfo* element_info = nullptr;
  // Of a domain: the type beneath it, which is none, and its modifier. The domain has its form.
  const TypeInfo* base = nullptr;
  int32_t base_typmod = no_typmod;

  // From the text form, valid UTF-8 without NUL; throws SqlError (22P02, 22003, ...). The result
  // may point into `text` instead of ctx.arena. A typmod is applied as an assignment would (COPY,
  // parameters). Literals with an explicit cast are read with no_typmod and then given to
  // apply_typmod; only interval literals need the modifier while they are read.
  Datum parse(std::string_view text, int32_t typmod, TypeContext& ctx) const {
    return functions.parse(*this, text, typmod, ctx);
  }
  // Appends the text form; the value is not null.
  void print(Datum value, ByteBuffer& out, const TypeContext& ctx) const {
    functions.print(*this, value, out, ctx);
  }
  // From the wire's binary form; throws SqlError (08P01 too short, 22P03 malformed or too long).
  // The result may point into `bytes`.
  bool can_receive() const { return functions.receive != nullptr; }
  Datum receive(std::string_view bytes, int32_t typmod, TypeContext& ctx) const {
    return functions.receive(*this, bytes, typmod, ctx);
  }
  // Appends the binary form without a length word.
  bool can_send() const { return functions.send != nullptr; }
  void send(Datum value, ByteBuffer& out, const TypeContext& ctx) const {
    functions.send(*this, value, out, ctx);
  }
  // The order of the default btree operator class: <0, 0, >0; neither value is null.
  bool is_ordered() const { return functions.compare != nullptr; }
  int compare(Datum left, Datum right) const { return functions.compare(*this, left, right); }
  bool has_equality() const { return functions.equal != nullptr; }
  bool equal(Datum left, Datum right) const { return functions.equal(*this, left, right); }
  // Equal values hash alike, also across int2/int4/int8, across float4/float8 and across
  // text/varchar/name.
  bool is_hashable() const { return functions.hash != nullptr; }
  uint64_t hash(Datum value) const { return functions.hash(*this, value); }
  // Casts to the same type with a modifier: varchar(n), numeric(p,s), timestamp(p). An explicit
  // cast to char(n) or varchar(n) truncates, an assignment throws 22001.
  bool has_typmods() const { return modifiers.apply != nullptr; }
  Datum apply_typmod(Datum value, int32_t typmod, bool explicit_cast, TypeContext& ctx) const {
    return modifiers.apply(*this, value, typmod, explicit_cast, ctx);
  }
};

// Null when the OID is neither a built-in type's nor that of one that somebody holds (user_type.h).
const TypeInfo* find_type(Oid oid);
// Built in, by pg_type.typname ("int4", "_text"), exactly as spelled; null when there is none.
const TypeInfo* find_type_by_name(std::string_view name);
// The type must exist: stops the process otherwise.
const TypeInfo& type_info(Oid oid);
// All built-in types, by ascending OID.
std::span<const TypeInfo> all_types();

// PostgreSQL's format_type: "character varying(10)", "timestamp(3) without time zone", "integer[]",
// "\"char\"".
void format_type(Oid oid, int32_t typmod, ByteBuffer& out);
// The same without a modifier, as messages name types: "character" where the above says "bpchar".
std::string format_type(Oid oid);

// smallint, integer, bigint.
inline bool is_integer_type(Oid type) {
  return type == type_oid::int2 || type == type_oid::int4 || type == type_oid::int8;
}

// Of an array or vector: what it is an array of.
inline const TypeInfo& element_type(const TypeInfo& array) {
  return array.element_info != nullptr ? *array.element_info : type_info(array.element);
}

inline bool is_domain(const TypeInfo& type) { return type.base != nullptr; }

// Of a domain the type beneath it; else the type.
inline const TypeInfo& base_type_of(const TypeInfo& type) {
  return is_domain(type) ? *type.base : type;
}
// `typmod`, if not null, receives the domain's where the type is one.
Oid base_type_of(Oid type, int32_t* typmod = nullptr);

// 23514, 23502 of a value, which may be null, that a domain does not allow; nothing of other types.
inline void check_domain(const TypeInfo& type, Datum value, TypeContext& ctx) {
  if (is_domain(type) && ctx.object_names != nullptr)
    ctx.object_names->check_domain(type.oid, value);
}

// Not for int2vector and oidvector, which PostgreSQL does not print as arrays.
inline bool is_array_type(const TypeInfo& type) { return type.category == 'A' && type.array == 0; }

// The characters that values of char(n) are filled up to with blanks; 0 for every other type.
inline int32_t padded_length(Oid type, int32_t typmod) {
  return type == type_oid::bpchar && typmod > typmod_header ? typmod - typmod_header : 0;
}

// By-reference bytes copied into `arena`; other values as they are.
inline Datum copy_datum(Datum value, const TypeInfo& type, Arena& arena) {
  if (value.null || !type.by_reference) return value;
  return Datum::of_bytes(copy_value(value.bytes(), arena));
}

}  // namespace pgsilo
