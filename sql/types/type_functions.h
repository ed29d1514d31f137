// The functions that the table of types points to, by family; each family's file
// (type_<family>.cpp) defines them. Internal to sql/types: others reach them through TypeInfo.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/byte_buffer.h"
#include "base/byte_order.h"
#include "base/hash.h"
#include "sql/types/datum.h"
#include "sql/types/type.h"

namespace pgsilo::types {

// The bytes of a fixed-width binary value; throws 08P01 or 22P03 when there are fewer or more than
// `width`.
const char* exact_bytes(std::string_view bytes, size_t width);

// What an array type, a vector or a plain type is made of; see TypeInfo.
struct Functions {
  Datum (*parse)(std::string_view, int32_t, TypeContext&) = nullptr;
  void (*print)(Datum, ByteBuffer&, const TypeContext&) = nullptr;
  Datum (*receive)(std::string_view, int32_t, TypeContext&) = nullptr;
  void (*send)(Datum, ByteBuffer&, const TypeContext&) = nullptr;
  int (*compare)(Datum, Datum) = nullptr;
  bool (*equal)(Datum, Datum) = nullptr;
  uint64_t (*hash)(Datum) = nullptr;
};
struct Modifiers {
  Datum (*apply)(Datum, int32_t, bool, TypeContext&) = nullptr;
  int32_t (*make)(std::span<const int32_t>) = nullptr;
  void (*print)(int32_t, ByteBuffer&) = nullptr;
};

// By-value types that compare as signed integers.
inline int compare_int(Datum left, Datum right) {
  return left.i64 < right.i64 ? -1 : left.i64 > right.i64;
}
inline bool equal_int(Datum left, Datum right) { return left.i64 == right.i64; }
inline uint64_t hash_int(Datum value) { return hash_integer(static_cast<uint64_t>(value.i64)); }

// By-reference types that compare as byte strings.
inline int compare_bytes(Datum left, Datum right) {
  int order = left.bytes().compare(right.bytes());
  return order < 0 ? -1 : order > 0;
}
inline bool equal_bytes(Datum left, Datum right) { return left.bytes() == right.bytes(); }
inline uint64_t hash_text(Datum value) { return hash_bytes(value.bytes()); }

Datum parse_bool(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_bool(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_bool(std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_bool(Datum value, ByteBuffer& out, const TypeContext& ctx);
inline constexpr Functions bool_functions{parse_bool,  print_bool, receive_bool, send_bool,
                                          compare_int, equal_int,  hash_int};

Datum parse_single_char(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_single_char(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_single_char(std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_single_char(Datum value, ByteBuffer& out, const TypeContext& ctx);
inline constexpr Functions single_char_functions{
    parse_single_char, print_single_char, receive_single_char, send_single_char, compare_int,
    equal_int,         hash_int};

template <size_t width>
Datum parse_int(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_int(Datum value, ByteBuffer& out, const TypeContext& ctx);
template <size_t width>
Datum receive_int(std::string_view bytes, int32_t typmod, TypeContext& ctx);
template <size_t width>
void send_int(Datum value, ByteBuffer& out, const TypeContext& ctx);
template <size_t width>
inline constexpr Functions int_functions{parse_int<width>, print_int,   receive_int<width>,
                                         send_int<width>,  compare_int, equal_int,
                                         hash_int};

Datum parse_oid(std::string_view text, int32_t typmod, TypeContext& ctx);
Datum parse_xid(std::string_view text, int32_t typmod, TypeContext& ctx);
Datum receive_oid(std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_oid(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum parse_tid(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_tid(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_tid(std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_tid(Datum value, ByteBuffer& out, const TypeContext& ctx);
inline constexpr Functions oid_functions{parse_oid,   print_int, receive_oid, send_oid,
                                         compare_int, equal_int, hash_int};
inline constexpr Functions xid_functions{parse_xid, print_int, receive_oid, send_oid,
                                         nullptr,   equal_int, hash_int};
inline constexpr Functions tid_functions{parse_tid,   print_tid, receive_tid, send_tid,
                                         compare_int, equal_int, hash_int};

Datum parse_lsn(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_lsn(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_lsn(std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_lsn(Datum value, ByteBuffer& out, const TypeContext& ctx);
inline constexpr Functions lsn_functions{parse_lsn,   print_lsn, receive_lsn, send_lsn,
                                         compare_int, equal_int, hash_int};

// The reg* types: an OID that is read and printed by name.
Datum parse_object_name(Oid reg_type, std::string_view text, TypeContext& ctx);
void print_object_name(Oid reg_type, Datum value, ByteBuffer& out, const TypeContext& ctx);
template <Oid reg_type>
inline constexpr Functions object_name_functions{
    [](std::string_view text, int32_t, TypeContext& ctx) {
      return parse_object_name(reg_type, text, ctx);
    },
    [](Datum value, ByteBuffer& out, const TypeContext& ctx) {
      print_object_name(reg_type, value, out, ctx);
    },
    receive_oid,
    send_oid,
    compare_int,
    equal_int,
    hash_int};

Datum parse_float4(std::string_view text, int32_t typmod, TypeContext& ctx);
Datum parse_float8(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_float4(Datum value, ByteBuffer& out, const TypeContext& ctx);
void print_float8(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_float4(std::string_view bytes, int32_t typmod, TypeContext& ctx);
Datum receive_float8(std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_float4(Datum value, ByteBuffer& out, const TypeContext& ctx);
void send_float8(Datum value, ByteBuffer& out, const TypeContext& ctx);
int compare_float(Datum left, Datum right);
bool equal_float(Datum left, Datum right);
uint64_t hash_float(Datum value);
inline constexpr Functions float4_functions{parse_float4, print_float4,  receive_float4,
                                            send_float4,  compare_float, equal_float,
                                            hash_float};
inline constexpr Functions float8_functions{parse_float8, print_float8,  receive_float8,
                                            send_float8,  compare_float, equal_float,
                                            hash_float};

Datum parse_text(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_text(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_text(std::string_view bytes, int32_t typmod, TypeContext& ctx);
Datum parse_varchar(std::string_view text, int32_t typmod, TypeContext& ctx);
Datum receive_varchar(std::string_view bytes, int32_t typmod, TypeContext& ctx);
Datum apply_varchar_typmod(Datum value, int32_t typmod, bool explicit_cast, TypeContext& ctx);
Datum parse_bpchar(std::string_view text, int32_t typmod, TypeContext& ctx);
Datum receive_bpchar(std::string_view bytes, int32_t typmod, TypeContext& ctx);
Datum apply_bpchar_typmod(Datum value, int32_t typmod, bool explicit_cast, TypeContext& ctx);
int compare_bpchar(Datum left, Datum right);
bool equal_bpchar(Datum left, Datum right);
uint64_t hash_bpchar(Datum value);
int32_t make_varchar_typmod(std::span<const int32_t> modifiers);
int32_t make_bpchar_typmod(std::span<const int32_t> modifiers);
void print_length_typmod(int32_t typmod, ByteBuffer& out);
Datum parse_name(std::string_view text, int32_t typmod, TypeContext& ctx);
Datum receive_name(std::string_view bytes, int32_t typmod, TypeContext& ctx);
inline constexpr Functions text_functions{parse_text,    print_text,  receive_text, print_text,
                                          compare_bytes, equal_bytes, hash_text};
inline constexpr Functions varchar_functions{
    parse_varchar, print_text, receive_varchar, print_text, compare_bytes, equal_bytes, hash_text};
inline constexpr Functions bpchar_functions{parse_bpchar, print_text,     receive_bpchar,
                                            print_text,   compare_bpchar, equal_bpchar,
                                            hash_bpchar};
inline constexpr Functions name_functions{parse_name,    print_text,  receive_name, print_text,
                                          compare_bytes, equal_bytes, hash_text};
// Text without an order of its own: unknown, cstring, aclitem.
inline constexpr Functions opaque_text_functions{parse_text, print_text,  receive_text, print_text,
                                                 nullptr,    equal_bytes, hash_text};
// What the catalog alone makes.
Datum parse_node_tree(std::string_view text, int32_t typmod, TypeContext& ctx);
Datum receive_node_tree(std::string_view bytes, int32_t typmod, TypeContext& ctx);
inline constexpr Functions node_tree_functions{
    parse_node_tree, print_text, receive_node_tree, print_text, nullptr, equal_bytes, hash_text};
inline constexpr Modifiers varchar_modifiers{apply_varchar_typmod, make_varchar_typmod,
                                             print_length_typmod};
inline constexpr Modifiers bpchar_modifiers{apply_bpchar_typmod, make_bpchar_typmod,
                                            print_length_typmod};

Datum parse_bytea(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_bytea(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_bytea(std::string_view bytes, int32_t typmod, TypeContext& ctx);
inline constexpr Functions bytea_functions{parse_bytea,   print_bytea, receive_bytea, print_text,
                                           compare_bytes, equal_bytes, hash_text};

Datum parse_numeric(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_numeric(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_numeric(std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_numeric(Datum value, ByteBuffer& out, const TypeContext& ctx);
int compare_numeric(Datum left, Datum right);
bool equal_numeric(Datum left, Datum right);
uint64_t hash_numeric(Datum value);
Datum apply_numeric_typmod(Datum value, int32_t typmod, bool explicit_cast, TypeContext& ctx);
int32_t make_numeric_typmod(std::span<const int32_t> modifiers);
void print_numeric_typmod(int32_t typmod, ByteBuffer& out);
inline constexpr Functions numeric_functions{parse_numeric, print_numeric,   receive_numeric,
                                             send_numeric,  compare_numeric, equal_numeric,
                                             hash_numeric};
inline constexpr Modifiers numeric_modifiers{apply_numeric_typmod, make_numeric_typmod,
                                             print_numeric_typmod};

Datum parse_date(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_date(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_date(std::string_view bytes, int32_t typmod, TypeContext& ctx);
Datum parse_time(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_time(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_time(std::string_view bytes, int32_t typmod, TypeContext& ctx);
Datum parse_timestamp(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_timestamp(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_timestamp(std::string_view bytes, int32_t typmod, TypeContext& ctx);
Datum parse_timestamptz(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_timestamptz(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum apply_timestamp_typmod(Datum value, int32_t typmod, bool explicit_cast, TypeContext& ctx);
Datum apply_time_typmod(Datum value, int32_t typmod, bool explicit_cast, TypeContext& ctx);
int32_t make_time_typmod(std::span<const int32_t> modifiers);
void print_time_typmod(int32_t typmod, ByteBuffer& out);
inline constexpr Functions date_functions{parse_date,  print_date, receive_date, send_int<4>,
                                          compare_int, equal_int,  hash_int};
inline constexpr Functions time_functions{parse_time,  print_time, receive_time, send_int<8>,
                                          compare_int, equal_int,  hash_int};
inline constexpr Functions timestamp_functions{parse_timestamp, print_timestamp, receive_timestamp,
                                               send_int<8>,     compare_int,     equal_int,
                                               hash_int};
inline constexpr Functions timestamptz_functions{
    parse_timestamptz, print_timestamptz, receive_timestamp, send_int<8>,
    compare_int,       equal_int,         hash_int};
inline constexpr Modifiers time_modifiers{apply_time_typmod, make_time_typmod, print_time_typmod};
inline constexpr Modifiers timestamp_modifiers{apply_timestamp_typmod, make_time_typmod,
                                               print_time_typmod};

Datum parse_timetz(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_timetz(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_timetz(std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_timetz(Datum value, ByteBuffer& out, const TypeContext& ctx);
int compare_timetz(Datum left, Datum right);
Datum apply_timetz_typmod(Datum value, int32_t typmod, bool explicit_cast, TypeContext& ctx);
// Equal values have equal bytes.
inline constexpr Functions timetz_functions{parse_timetz, print_timetz,   receive_timetz,
                                            send_timetz,  compare_timetz, equal_bytes,
                                            hash_text};
inline constexpr Modifiers timetz_modifiers{apply_timetz_typmod, make_time_typmod,
                                            print_time_typmod};

Datum parse_interval(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_interval(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_interval(std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_interval(Datum value, ByteBuffer& out, const TypeContext& ctx);
int compare_interval(Datum left, Datum right);
bool equal_interval(Datum left, Datum right);
uint64_t hash_interval(Datum value);
Datum apply_interval_typmod(Datum value, int32_t typmod, bool explicit_cast, TypeContext& ctx);
int32_t make_interval_typmod(std::span<const int32_t> modifiers);
void print_interval_typmod(int32_t typmod, ByteBuffer& out);
inline constexpr Functions interval_functions{parse_interval, print_interval,   receive_interval,
                                              send_interval,  compare_interval, equal_interval,
                                              hash_interval};
inline constexpr Modifiers interval_modifiers{apply_interval_typmod, make_interval_typmod,
                                              print_interval_typmod};

Datum parse_array(Oid element, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_array(Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_array(Oid element, std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_array(Datum value, ByteBuffer& out, const TypeContext& ctx);
int compare_array(Datum left, Datum right);
bool equal_array(Datum left, Datum right);
uint64_t hash_array(Datum value);
Datum apply_array_typmod(Datum value, int32_t typmod, bool explicit_cast, TypeContext& ctx);
template <Oid element>
inline constexpr Functions array_functions{
    [](std::string_view text, int32_t typmod, TypeContext& ctx) {
      return parse_array(element, text, typmod, ctx);
    },
    print_array,
    [](std::string_view bytes, int32_t typmod, TypeContext& ctx) {
      return receive_array(element, bytes, typmod, ctx);
    },
    send_array,
    compare_array,
    equal_array,
    hash_array};
// The modifier is the elements'; they make and print it.
inline constexpr Modifiers array_modifiers{apply_array_typmod, nullptr, nullptr};
Datum parse_int2vector(std::string_view text, int32_t typmod, TypeContext& ctx);
Datum parse_oidvector(std::string_view text, int32_t typmod, TypeContext& ctx);
void print_vector(Datum value, ByteBuffer& out, const TypeContext& ctx);
int compare_oidvector(Datum left, Datum right);

// Pseudo-types: 0A000 "cannot accept a value of type anyelement".
[[noreturn]] void throw_cannot_accept(Oid type);
[[noreturn]] void throw_cannot_display(Oid type);

}  // namespace pgsilo::types
