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

using Functions = ValueFunctions;
using Modifiers = ModifierFunctions;

// By-value types that compare as signed integers.
inline int compare_int(const TypeInfo&, Datum left, Datum right) {
  return left.i64 < right.i64 ? -1 : left.i64 > right.i64;
}
inline bool equal_int(const TypeInfo&, Datum left, Datum right) { return left.i64 == right.i64; }
inline uint64_t hash_int(const TypeInfo&, Datum value) {
  return hash_integer(static_cast<uint64_t>(value.i64));
}

// By-reference types that compare as byte strings.
inline int compare_bytes(const TypeInfo&, Datum left, Datum right) {
  int order = left.bytes().compare(right.bytes());
  return order < 0 ? -1 : order > 0;
}
inline bool equal_bytes(const TypeInfo&, Datum left, Datum right) {
  return left.bytes() == right.bytes();
}
inline uint64_t hash_text(const TypeInfo&, Datum value) { return hash_bytes(value.bytes()); }

Datum parse_bool(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_bool(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_bool(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_bool(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
inline constexpr Functions bool_functions{parse_bool,  print_bool, receive_bool, send_bool,
                                          compare_int, equal_int,  hash_int};

Datum parse_single_char(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_single_char(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_single_char(const TypeInfo&, std::string_view bytes, int32_t typmod,
                          TypeContext& ctx);
void send_single_char(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
inline constexpr Functions single_char_functions{
    parse_single_char, print_single_char, receive_single_char, send_single_char, compare_int,
    equal_int,         hash_int};

template <size_t width>
Datum parse_int(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_int(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
template <size_t width>
Datum receive_int(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
template <size_t width>
void send_int(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
template <size_t width>
inline constexpr Functions int_functions{parse_int<width>, print_int,   receive_int<width>,
                                         send_int<width>,  compare_int, equal_int,
                                         hash_int};

Datum parse_oid(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
Datum parse_xid(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
Datum receive_oid(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_oid(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum parse_tid(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_tid(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_tid(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_tid(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
inline constexpr Functions oid_functions{parse_oid,   print_int, receive_oid, send_oid,
                                         compare_int, equal_int, hash_int};
inline constexpr Functions xid_functions{parse_xid, print_int, receive_oid, send_oid,
                                         nullptr,   equal_int, hash_int};
inline constexpr Functions tid_functions{parse_tid,   print_tid, receive_tid, send_tid,
                                         compare_int, equal_int, hash_int};

Datum parse_lsn(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_lsn(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_lsn(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_lsn(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
inline constexpr Functions lsn_functions{parse_lsn,   print_lsn, receive_lsn, send_lsn,
                                         compare_int, equal_int, hash_int};

// The reg* types: an OID that is read and printed by name.
Datum parse_object_name(const TypeInfo& type, std::string_view text, int32_t typmod,
                        TypeContext& ctx);
void print_object_name(const TypeInfo& type, Datum value, ByteBuffer& out, const TypeContext& ctx);
inline constexpr Functions object_name_functions{
    parse_object_name, print_object_name, receive_oid, send_oid, compare_int, equal_int, hash_int};

Datum parse_float4(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
Datum parse_float8(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_float4(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
void print_float8(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_float4(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
Datum receive_float8(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_float4(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
void send_float8(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
int compare_float(const TypeInfo&, Datum left, Datum right);
bool equal_float(const TypeInfo&, Datum left, Datum right);
uint64_t hash_float(const TypeInfo&, Datum value);
inline constexpr Functions float4_functions{parse_float4, print_float4,  receive_float4,
                                            send_float4,  compare_float, equal_float,
                                            hash_float};
inline constexpr Functions float8_functions{parse_float8, print_float8,  receive_float8,
                                            send_float8,  compare_float, equal_float,
                                            hash_float};

Datum parse_text(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_text(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_text(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
Datum parse_varchar(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
Datum receive_varchar(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
Datum apply_varchar_typmod(const TypeInfo&, Datum value, int32_t typmod, bool explicit_cast,
                           TypeContext& ctx);
Datum parse_bpchar(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
Datum receive_bpchar(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
Datum apply_bpchar_typmod(const TypeInfo&, Datum value, int32_t typmod, bool explicit_cast,
                          TypeContext& ctx);
int compare_bpchar(const TypeInfo&, Datum left, Datum right);
bool equal_bpchar(const TypeInfo&, Datum left, Datum right);
uint64_t hash_bpchar(const TypeInfo&, Datum value);
int32_t make_varchar_typmod(std::span<const int32_t> modifiers);
int32_t make_bpchar_typmod(std::span<const int32_t> modifiers);
void print_length_typmod(int32_t typmod, ByteBuffer& out);
Datum parse_name(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
Datum receive_name(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
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
Datum parse_node_tree(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
Datum receive_node_tree(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
inline constexpr Functions node_tree_functions{
    parse_node_tree, print_text, receive_node_tree, print_text, nullptr, equal_bytes, hash_text};
inline constexpr Modifiers varchar_modifiers{apply_varchar_typmod, make_varchar_typmod,
                                             print_length_typmod};
inline constexpr Modifiers bpchar_modifiers{apply_bpchar_typmod, make_bpchar_typmod,
                                            print_length_typmod};

Datum parse_bytea(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_bytea(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_bytea(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
inline constexpr Functions bytea_functions{parse_bytea,   print_bytea, receive_bytea, print_text,
                                           compare_bytes, equal_bytes, hash_text};

Datum parse_numeric(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_numeric(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_numeric(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_numeric(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
int compare_numeric(const TypeInfo&, Datum left, Datum right);
bool equal_numeric(const TypeInfo&, Datum left, Datum right);
uint64_t hash_numeric(const TypeInfo&, Datum value);
Datum apply_numeric_typmod(const TypeInfo&, Datum value, int32_t typmod, bool explicit_cast,
                           TypeContext& ctx);
int32_t make_numeric_typmod(std::span<const int32_t> modifiers);
void print_numeric_typmod(int32_t typmod, ByteBuffer& out);
inline constexpr Functions numeric_functions{parse_numeric, print_numeric,   receive_numeric,
                                             send_numeric,  compare_numeric, equal_numeric,
                                             hash_numeric};
inline constexpr Modifiers numeric_modifiers{apply_numeric_typmod, make_numeric_typmod,
                                             print_numeric_typmod};

Datum parse_date(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_date(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_date(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
Datum parse_time(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_time(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_time(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
Datum parse_timestamp(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_timestamp(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_timestamp(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
Datum parse_timestamptz(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_timestamptz(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum apply_timestamp_typmod(const TypeInfo&, Datum value, int32_t typmod, bool explicit_cast,
                             TypeContext& ctx);
Datum apply_time_typmod(const TypeInfo&, Datum value, int32_t typmod, bool explicit_cast,
                        TypeContext& ctx);
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

Datum parse_timetz(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_timetz(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_timetz(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_timetz(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
int compare_timetz(const TypeInfo&, Datum left, Datum right);
Datum apply_timetz_typmod(const TypeInfo&, Datum value, int32_t typmod, bool explicit_cast,
                          TypeContext& ctx);
// Equal values have equal bytes.
inline constexpr Functions timetz_functions{parse_timetz, print_timetz,   receive_timetz,
                                            send_timetz,  compare_timetz, equal_bytes,
                                            hash_text};
inline constexpr Modifiers timetz_modifiers{apply_timetz_typmod, make_time_typmod,
                                            print_time_typmod};

Datum parse_interval(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_interval(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_interval(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_interval(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
int compare_interval(const TypeInfo&, Datum left, Datum right);
bool equal_interval(const TypeInfo&, Datum left, Datum right);
uint64_t hash_interval(const TypeInfo&, Datum value);
Datum apply_interval_typmod(const TypeInfo&, Datum value, int32_t typmod, bool explicit_cast,
                            TypeContext& ctx);
int32_t make_interval_typmod(std::span<const int32_t> modifiers);
void print_interval_typmod(int32_t typmod, ByteBuffer& out);
inline constexpr Functions interval_functions{parse_interval, print_interval,   receive_interval,
                                              send_interval,  compare_interval, equal_interval,
                                              hash_interval};
inline constexpr Modifiers interval_modifiers{apply_interval_typmod, make_interval_typmod,
                                              print_interval_typmod};

// Arrays of any type.
Datum parse_array(const TypeInfo& type, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_array(const TypeInfo& type, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_array(const TypeInfo& type, std::string_view bytes, int32_t typmod, TypeContext& ctx);
void send_array(const TypeInfo& type, Datum value, ByteBuffer& out, const TypeContext& ctx);
int compare_array(const TypeInfo& type, Datum left, Datum right);
bool equal_array(const TypeInfo& type, Datum left, Datum right);
uint64_t hash_array(const TypeInfo& type, Datum value);
Datum apply_array_typmod(const TypeInfo& type, Datum value, int32_t typmod, bool explicit_cast,
                         TypeContext& ctx);
inline constexpr Functions array_functions{parse_array,   print_array, receive_array, send_array,
                                           compare_array, equal_array, hash_array};
// The modifier is the elements'; they make and print it.
inline constexpr Modifiers array_modifiers{apply_array_typmod, nullptr, nullptr};
Datum parse_enum(const TypeInfo& type, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_enum(const TypeInfo& type, Datum value, ByteBuffer& out, const TypeContext& ctx);
Datum receive_enum(const TypeInfo& type, std::string_view bytes, int32_t typmod, TypeContext& ctx);
inline constexpr Functions enum_functions{parse_enum,  print_enum, receive_enum, print_enum,
                                          compare_int, equal_int,  hash_int};
// Of a domain over `base`: what the base type has.
Functions domain_functions(const TypeInfo& base);
Datum parse_int2vector(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
Datum parse_oidvector(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx);
void print_vector(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx);
int compare_oidvector(const TypeInfo&, Datum left, Datum right);

// Pseudo-types: 0A000 "cannot accept a value of type anyelement".
[[noreturn]] void throw_cannot_accept(Oid type);
[[noreturn]] void throw_cannot_display(Oid type);

}  // namespace pgsilo::types
