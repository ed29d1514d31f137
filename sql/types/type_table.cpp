// The table of types: pg_type's facts, checked against PostgreSQL 15 by
// tests/unit/sql/types/type_table_test.cpp.
#include <algorithm>
#include <array>

#include "sql/internal_error.h"
#include "sql/types/type_functions.h"
#include "sql/types/user_type.h"

namespace pgsilo {

namespace {

using namespace types;

// The columns of pg_type that vary between types, in the order in which the rows below list them.
struct Row {
  Oid oid;
  std::string_view name;
  std::string_view display_name;
  int16_t typlen;
  bool typbyval;
  char typtype;
  char category;
  bool preferred;
  Oid element;
  Oid array;
  char alignment;
  char storage;
  Oid collation;
  bool by_reference;
  KeyForm key_form;
};

constexpr TypeInfo base_type(const Row& row, const Functions& functions,
                             const Modifiers& modifiers = {}) {
  return TypeInfo{row.oid,      row.name,      row.display_name, row.typlen,    row.typbyval,
                  row.typtype,  row.category,  row.preferred,    ',',           row.element,
                  row.array,    row.alignment, row.storage,      row.collation, row.by_reference,
                  row.key_form, functions,     modifiers};
}

constexpr TypeInfo array_type(Oid element, Oid oid, std::string_view name,
                              std::string_view display_name, char alignment, Oid collation,
                              KeyForm key_form) {
  Functions functions = array_functions;
  if (key_form == KeyForm::none) functions.compare = nullptr;
  return base_type({oid, name, display_name, -1, false, 'b', 'A', false, element, 0, alignment, 'x',
                    collation, true, key_form},
                   functions, array_modifiers);
}

template <Oid oid>
constexpr TypeInfo pseudo_type(std::string_view name, int16_t typlen, bool typbyval, char alignment,
                               char storage) {
  Functions functions;
  functions.parse = [](const TypeInfo&, std::string_view, int32_t, TypeContext&) -> Datum {
    throw_cannot_accept(oid);
  };
  functions.print = [](const TypeInfo&, Datum, ByteBuffer&, const TypeContext&) {
    throw_cannot_display(oid);
  };
  if constexpr (oid == type_oid::void_type) {
    functions.print =
        functions.send = [](const TypeInfo&, Datum, ByteBuffer&, const TypeContext&) {};
  }
  // "any" is a word of SQL; records are the only pseudo-type with an array type.
  std::string_view display_name = oid == type_oid::any            ? "\"any\""
                                  : oid == type_oid::record_array ? "record[]"
                                                                  : name;
  Oid element = oid == type_oid::record_array ? type_oid::record : invalid_oid;
  Oid array = oid == type_oid::record ? type_oid::record_array : invalid_oid;
  return base_type({oid, name, display_name, typlen, typbyval, 'p', 'P', false, element, array,
                    alignment, storage, 0, !typbyval, KeyForm::none},
                   functions);
}

constexpr Functions int2vector_functions = [] {
  Functions functions = array_functions;
  functions.parse = parse_int2vector;
  functions.print = print_vector;
  return functions;
}();

constexpr Functions oidvector_functions = [] {
  Functions functions = array_functions;
  functions.parse = parse_oidvector;
  functions.print = print_vector;
  functions.compare = compare_oidvector;
  return functions;
}();

constexpr TypeInfo type_table[] = {
    base_type({type_oid::boolean, "bool", "boolean", 1, true, 'b', 'B', true, 0, 1000, 'c', 'p', 0,
               false, KeyForm::boolean},
              bool_functions),
    base_type({type_oid::bytea, "bytea", "bytea", -1, false, 'b', 'U', false, 0, 1001, 'i', 'x', 0,
               true, KeyForm::bytea},
              bytea_functions),
    base_type({type_oid::single_char, "char", "\"char\"", 1, true, 'b', 'Z', false, 0, 1002, 'c',
               'p', 0, false, KeyForm::boolean},
              single_char_functions),
    base_type({type_oid::name, "name", "name", 64, false, 'b', 'S', false, 18, 1003, 'c', 'p', 950,
               true, KeyForm::text},
              name_functions),
    base_type({type_oid::int8, "int8", "bigint", 8, true, 'b', 'N', false, 0, 1016, 'd', 'p', 0,
               false, KeyForm::int64},
              int_functions<8>),
    base_type({type_oid::int2, "int2", "smallint", 2, true, 'b', 'N', false, 0, 1005, 's', 'p', 0,
               false, KeyForm::int16},
              int_functions<2>),
    base_type({type_oid::int2vector, "int2vector", "int2vector", -1, false, 'b', 'A', false, 21,
               1006, 'i', 'p', 0, true, KeyForm::array},
              int2vector_functions),
    base_type({type_oid::int4, "int4", "integer", 4, true, 'b', 'N', false, 0, 1007, 'i', 'p', 0,
               false, KeyForm::int32},
              int_functions<4>),
    base_type({type_oid::regproc, "regproc", "regproc", 4, true, 'b', 'N', false, 0, 1008, 'i', 'p',
               0, false, KeyForm::uint32},
              object_name_functions),
    base_type({type_oid::text, "text", "text", -1, false, 'b', 'S', true, 0, 1009, 'i', 'x', 100,
               true, KeyForm::text},
              text_functions),
    base_type({type_oid::oid, "oid", "oid", 4, true, 'b', 'N', true, 0, 1028, 'i', 'p', 0, false,
               KeyForm::uint32},
              oid_functions),
    base_type({type_oid::tid, "tid", "tid", 6, false, 'b', 'U', false, 0, 1010, 's', 'p', 0, false,
               KeyForm::int64},
              tid_functions),
    base_type({type_oid::xid, "xid", "xid", 4, true, 'b', 'U', false, 0, 1011, 'i', 'p', 0, false,
               KeyForm::none},
              xid_functions),
    base_type({type_oid::cid, "cid", "cid", 4, true, 'b', 'U', false, 0, 1012, 'i', 'p', 0, false,
               KeyForm::none},
              xid_functions),
    base_type({type_oid::oidvector, "oidvector", "oidvector", -1, false, 'b', 'A', false, 26, 1013,
               'i', 'p', 0, true, KeyForm::oidvector},
              oidvector_functions),
    base_type({type_oid::pg_node_tree, "pg_node_tree", "pg_node_tree", -1, false, 'b', 'Z', false,
               0, 0, 'i', 'x', 100, true, KeyForm::none},
              node_tree_functions),
    base_type({type_oid::float4, "float4", "real", 4, true, 'b', 'N', false, 0, 1021, 'i', 'p', 0,
               false, KeyForm::float32},
              float4_functions),
    base_type({type_oid::float8, "float8", "double precision", 8, true, 'b', 'N', true, 0, 1022,
               'd', 'p', 0, false, KeyForm::float64},
              float8_functions),
    base_type({type_oid::unknown, "unknown", "unknown", -2, false, 'p', 'X', false, 0, 0, 'c', 'p',
               0, true, KeyForm::none},
              opaque_text_functions),
    array_type(type_oid::boolean, type_oid::boolean_array, "_bool", "boolean[]", 'i', 0,
               KeyForm::array),
    array_type(type_oid::bytea, type_oid::bytea_array, "_bytea", "bytea[]", 'i', 0, KeyForm::array),
    array_type(type_oid::single_char, type_oid::single_char_array, "_char", "\"char\"[]", 'i', 0,
               KeyForm::array),
    array_type(type_oid::name, type_oid::name_array, "_name", "name[]", 'i', 950, KeyForm::array),
    array_type(type_oid::int2, type_oid::int2_array, "_int2", "smallint[]", 'i', 0, KeyForm::array),
    array_type(type_oid::int2vector, type_oid::int2vector_array, "_int2vector", "int2vector[]", 'i',
               0, KeyForm::array),
    array_type(type_oid::int4, type_oid::int4_array, "_int4", "integer[]", 'i', 0, KeyForm::array),
    array_type(type_oid::regproc, type_oid::regproc_array, "_regproc", "regproc[]", 'i', 0,
               KeyForm::array),
    array_type(type_oid::text, type_oid::text_array, "_text", "text[]", 'i', 100, KeyForm::array),
    array_type(type_oid::tid, type_oid::tid_array, "_tid", "tid[]", 'i', 0, KeyForm::array),
    array_type(type_oid::xid, type_oid::xid_array, "_xid", "xid[]", 'i', 0, KeyForm::none),
    array_type(type_oid::cid, type_oid::cid_array, "_cid", "cid[]", 'i', 0, KeyForm::none),
    array_type(type_oid::oidvector, type_oid::oidvector_array, "_oidvector", "oidvector[]", 'i', 0,
               KeyForm::array),
    array_type(type_oid::bpchar, type_oid::bpchar_array, "_bpchar", "character[]", 'i', 100,
               KeyForm::array),
    array_type(type_oid::varchar, type_oid::varchar_array, "_varchar", "character varying[]", 'i',
               100, KeyForm::array),
    array_type(type_oid::int8, type_oid::int8_array, "_int8", "bigint[]", 'd', 0, KeyForm::array),
    array_type(type_oid::float4, type_oid::float4_array, "_float4", "real[]", 'i', 0,
               KeyForm::array),
    array_type(type_oid::float8, type_oid::float8_array, "_float8", "double precision[]", 'd', 0,
               KeyForm::array),
    array_type(type_oid::oid, type_oid::oid_array, "_oid", "oid[]", 'i', 0, KeyForm::array),
    base_type({type_oid::aclitem, "aclitem", "aclitem", 12, false, 'b', 'U', false, 0, 1034, 'i',
               'p', 0, true, KeyForm::none},
              opaque_text_functions),
    array_type(type_oid::aclitem, type_oid::aclitem_array, "_aclitem", "aclitem[]", 'i', 0,
               KeyForm::none),
    base_type({type_oid::bpchar, "bpchar", "character", -1, false, 'b', 'S', false, 0, 1014, 'i',
               'x', 100, true, KeyForm::bpchar},
              bpchar_functions, bpchar_modifiers),
    base_type({type_oid::varchar, "varchar", "character varying", -1, false, 'b', 'S', false, 0,
               1015, 'i', 'x', 100, true, KeyForm::text},
              varchar_functions, varchar_modifiers),
    base_type({type_oid::date, "date", "date", 4, true, 'b', 'D', false, 0, 1182, 'i', 'p', 0,
               false, KeyForm::int32},
              date_functions),
    base_type({type_oid::time, "time", "time without time zone", 8, true, 'b', 'D', false, 0, 1183,
               'd', 'p', 0, false, KeyForm::int64},
              time_functions, time_modifiers),
    base_type({type_oid::timestamp, "timestamp", "timestamp without time zone", 8, true, 'b', 'D',
               false, 0, 1115, 'd', 'p', 0, false, KeyForm::int64},
              timestamp_functions, timestamp_modifiers),
    array_type(type_oid::timestamp, type_oid::timestamp_array, "_timestamp",
               "timestamp without time zone[]", 'd', 0, KeyForm::array),
    array_type(type_oid::date, type_oid::date_array, "_date", "date[]", 'i', 0, KeyForm::array),
    array_type(type_oid::time, type_oid::time_array, "_time", "time without time zone[]", 'd', 0,
               KeyForm::array),
    base_type({type_oid::timestamptz, "timestamptz", "timestamp with time zone", 8, true, 'b', 'D',
               true, 0, 1185, 'd', 'p', 0, false, KeyForm::int64},
              timestamptz_functions, timestamp_modifiers),
    array_type(type_oid::timestamptz, type_oid::timestamptz_array, "_timestamptz",
               "timestamp with time zone[]", 'd', 0, KeyForm::array),
    base_type({type_oid::interval, "interval", "interval", 16, false, 'b', 'T', true, 0, 1187, 'd',
               'p', 0, true, KeyForm::interval},
              interval_functions, interval_modifiers),
    array_type(type_oid::interval, type_oid::interval_array, "_interval", "interval[]", 'd', 0,
               KeyForm::array),
    array_type(type_oid::numeric, type_oid::numeric_array, "_numeric", "numeric[]", 'i', 0,
               KeyForm::array),
    array_type(type_oid::cstring, type_oid::cstring_array, "_cstring", "cstring[]", 'i', 0,
               KeyForm::none),
    base_type({type_oid::timetz, "timetz", "time with time zone", 12, false, 'b', 'D', false, 0,
               1270, 'd', 'p', 0, true, KeyForm::timetz},
              timetz_functions, timetz_modifiers),
    array_type(type_oid::timetz, type_oid::timetz_array, "_timetz", "time with time zone[]", 'd', 0,
               KeyForm::array),
    base_type({type_oid::numeric, "numeric", "numeric", -1, false, 'b', 'N', false, 0, 1231, 'i',
               'm', 0, true, KeyForm::numeric},
              numeric_functions, numeric_modifiers),
    base_type({type_oid::regprocedure, "regprocedure", "regprocedure", 4, true, 'b', 'N', false, 0,
               2207, 'i', 'p', 0, false, KeyForm::uint32},
              object_name_functions),
    base_type({type_oid::regoper, "regoper", "regoper", 4, true, 'b', 'N', false, 0, 2208, 'i', 'p',
               0, false, KeyForm::uint32},
              object_name_functions),
    base_type({type_oid::regoperator, "regoperator", "regoperator", 4, true, 'b', 'N', false, 0,
               2209, 'i', 'p', 0, false, KeyForm::uint32},
              object_name_functions),
    base_type({type_oid::regclass, "regclass", "regclass", 4, true, 'b', 'N', false, 0, 2210, 'i',
               'p', 0, false, KeyForm::uint32},
              object_name_functions),
    base_type({type_oid::regtype, "regtype", "regtype", 4, true, 'b', 'N', false, 0, 2211, 'i', 'p',
               0, false, KeyForm::uint32},
              object_name_functions),
    array_type(type_oid::regprocedure, type_oid::regprocedure_array, "_regprocedure",
               "regprocedure[]", 'i', 0, KeyForm::array),
    array_type(type_oid::regoper, type_oid::regoper_array, "_regoper", "regoper[]", 'i', 0,
               KeyForm::array),
    array_type(type_oid::regoperator, type_oid::regoperator_array, "_regoperator", "regoperator[]",
               'i', 0, KeyForm::array),
    array_type(type_oid::regclass, type_oid::regclass_array, "_regclass", "regclass[]", 'i', 0,
               KeyForm::array),
    array_type(type_oid::regtype, type_oid::regtype_array, "_regtype", "regtype[]", 'i', 0,
               KeyForm::array),
    pseudo_type<type_oid::record>("record", -1, false, 'd', 'x'),
    base_type({type_oid::cstring, "cstring", "cstring", -2, false, 'p', 'P', false, 0, 1263, 'c',
               'p', 0, true, KeyForm::none},
              opaque_text_functions),
    pseudo_type<type_oid::any>("any", 4, true, 'i', 'p'),
    pseudo_type<type_oid::anyarray>("anyarray", -1, false, 'd', 'x'),
    pseudo_type<type_oid::void_type>("void", 4, true, 'i', 'p'),
    pseudo_type<type_oid::trigger>("trigger", 4, true, 'i', 'p'),
    pseudo_type<type_oid::language_handler>("language_handler", 4, true, 'i', 'p'),
    pseudo_type<type_oid::internal>("internal", 8, true, 'd', 'p'),
    pseudo_type<type_oid::anyelement>("anyelement", 4, true, 'i', 'p'),
    pseudo_type<type_oid::record_array>("_record", -1, false, 'd', 'x'),
    pseudo_type<type_oid::anynonarray>("anynonarray", 4, true, 'i', 'p'),
    base_type({type_oid::pg_lsn, "pg_lsn", "pg_lsn", 8, true, 'b', 'U', false, 0, 3221, 'd', 'p', 0,
               false, KeyForm::int64},
              lsn_functions),
    array_type(type_oid::pg_lsn, type_oid::pg_lsn_array, "_pg_lsn", "pg_lsn[]", 'd', 0,
               KeyForm::array),
    pseudo_type<type_oid::anyenum>("anyenum", 4, true, 'i', 'p'),
    base_type({type_oid::regconfig, "regconfig", "regconfig", 4, true, 'b', 'N', false, 0, 3735,
               'i', 'p', 0, false, KeyForm::uint32},
              object_name_functions),
    array_type(type_oid::regconfig, type_oid::regconfig_array, "_regconfig", "regconfig[]", 'i', 0,
               KeyForm::array),
    base_type({type_oid::regdictionary, "regdictionary", "regdictionary", 4, true, 'b', 'N', false,
               0, 3770, 'i', 'p', 0, false, KeyForm::uint32},
              object_name_functions),
    array_type(type_oid::regdictionary, type_oid::regdictionary_array, "_regdictionary",
               "regdictionary[]", 'i', 0, KeyForm::array),
    pseudo_type<type_oid::anyrange>("anyrange", -1, false, 'd', 'x'),
    pseudo_type<type_oid::event_trigger>("event_trigger", 4, true, 'i', 'p'),
    base_type({type_oid::regnamespace, "regnamespace", "regnamespace", 4, true, 'b', 'N', false, 0,
               4090, 'i', 'p', 0, false, KeyForm::uint32},
              object_name_functions),
    array_type(type_oid::regnamespace, type_oid::regnamespace_array, "_regnamespace",
               "regnamespace[]", 'i', 0, KeyForm::array),
    base_type({type_oid::regrole, "regrole", "regrole", 4, true, 'b', 'N', false, 0, 4097, 'i', 'p',
               0, false, KeyForm::uint32},
              object_name_functions),
    array_type(type_oid::regrole, type_oid::regrole_array, "_regrole", "regrole[]", 'i', 0,
               KeyForm::array),
    base_type({type_oid::regcollation, "regcollation", "regcollation", 4, true, 'b', 'N', false, 0,
               4192, 'i', 'p', 0, false, KeyForm::uint32},
              object_name_functions),
    array_type(type_oid::regcollation, type_oid::regcollation_array, "_regcollation",
               "regcollation[]", 'i', 0, KeyForm::array),
    pseudo_type<type_oid::anymultirange>("anymultirange", -1, false, 'd', 'x'),
    pseudo_type<type_oid::anycompatible>("anycompatible", 4, true, 'i', 'p'),
    pseudo_type<type_oid::anycompatiblearray>("anycompatiblearray", -1, false, 'd', 'x'),
    pseudo_type<type_oid::anycompatiblenonarray>("anycompatiblenonarray", 4, true, 'i', 'p'),
    pseudo_type<type_oid::anycompatiblerange>("anycompatiblerange", -1, false, 'd', 'x'),
};

static_assert(std::is_sorted(std::begin(type_table), std::end(type_table),
                             [](const TypeInfo& a, const TypeInfo& b) { return a.oid < b.oid; }));

// Position in the table by OID: OIDs of built-in types are small, so looking one up is one load.
constexpr size_t oid_limit = type_table[std::size(type_table) - 1].oid + 1;
constexpr uint8_t no_position = 255;
static_assert(std::size(type_table) < no_position);
constexpr auto position_by_oid = [] {
  std::array<uint8_t, oid_limit> positions{};
  for (uint8_t& position : positions) position = no_position;
  for (size_t i = 0; i < std::size(type_table); ++i) {
    positions[type_table[i].oid] = static_cast<uint8_t>(i);
  }
  return positions;
}();

}  // namespace

const TypeInfo* find_type(Oid oid) {
  if (oid >= oid_limit) return find_user_type(oid);
  if (position_by_oid[oid] == no_position) return nullptr;
  return &type_table[position_by_oid[oid]];
}

Oid base_type_of(Oid type, int32_t* typmod) {
  const TypeInfo* known = type >= oid_limit ? find_user_type(type) : nullptr;
  if (known == nullptr || !is_domain(*known)) return type;
  if (typmod != nullptr) *typmod = known->base_typmod;
  return known->base->oid;
}

const TypeInfo* find_type_by_name(std::string_view name) {
  for (const TypeInfo& type : type_table) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

const TypeInfo& type_info(Oid oid) {
  const TypeInfo* type = find_type(oid);
  PGSILO_REQUIRE(type != nullptr);
  return *type;
}

std::span<const TypeInfo> all_types() { return type_table; }

namespace {

// `given` is false where PostgreSQL's format_type has a null modifier: only then is bpchar called
// "character".
void format_type(Oid oid, bool given, int32_t typmod, ByteBuffer& out) {
  // Held while it is asked: the OID may be any that somebody knows.
  if (std::shared_ptr<const UserType> user_type = share_user_type(oid)) {
    out.append(user_type->display_name(oid));
    return;
  }
  const TypeInfo* type = find_type(oid);
  if (type == nullptr) {
    out.append(oid == invalid_oid ? "-" : "???");
    return;
  }
  bool array = is_array_type(*type);
  if (array) type = &element_type(*type);
  bool modified = given && typmod >= 0 && type->modifiers.print != nullptr;
  // The modifier follows the first words: "timestamp(3) without time zone".
  std::string_view name = type->display_name;
  if (type->oid == type_oid::bpchar && given && typmod < 0) name = type->name;
  size_t split = std::min(name.find(" with"), name.size());
  out.append(name.substr(0, split));
  if (modified) type->modifiers.print(typmod, out);
  out.append(name.substr(split));
  if (array) out.append("[]");
}

}  // namespace

void format_type(Oid oid, int32_t typmod, ByteBuffer& out) { format_type(oid, true, typmod, out); }

std::string format_type(Oid oid) {
  ByteBuffer out;
  format_type(oid, false, no_typmod, out);
  return std::string(out.view());
}

}  // namespace pgsilo
