// PostgreSQL's OIDs of the built-in types. The names are SQL's, with `_array` for the array over a
// type; three that C++ reserves are spelled `boolean`, `single_char` ("char") and `void_type`.
#pragma once

#include <cstdint>

namespace pgsilo {

// A PostgreSQL object identifier; 0 (invalid_oid) names nothing.
using Oid = uint32_t;
inline constexpr Oid invalid_oid = 0;

namespace type_oid {

inline constexpr Oid boolean = 16;
inline constexpr Oid bytea = 17;
inline constexpr Oid single_char = 18;
inline constexpr Oid name = 19;
inline constexpr Oid int8 = 20;
inline constexpr Oid int2 = 21;
inline constexpr Oid int2vector = 22;
inline constexpr Oid int4 = 23;
inline constexpr Oid regproc = 24;
inline constexpr Oid text = 25;
inline constexpr Oid oid = 26;
inline constexpr Oid tid = 27;
inline constexpr Oid xid = 28;
inline constexpr Oid cid = 29;
inline constexpr Oid oidvector = 30;
inline constexpr Oid json = 114;
inline constexpr Oid xml = 142;
inline constexpr Oid pg_node_tree = 194;
inline constexpr Oid float4 = 700;
inline constexpr Oid float8 = 701;
inline constexpr Oid unknown = 705;
inline constexpr Oid money = 790;
inline constexpr Oid inet = 869;
inline constexpr Oid aclitem = 1033;
inline constexpr Oid bpchar = 1042;
inline constexpr Oid varchar = 1043;
inline constexpr Oid date = 1082;
inline constexpr Oid time = 1083;
inline constexpr Oid timestamp = 1114;
inline constexpr Oid timestamptz = 1184;
inline constexpr Oid interval = 1186;
inline constexpr Oid timetz = 1266;
inline constexpr Oid bit = 1560;
inline constexpr Oid varbit = 1562;
inline constexpr Oid numeric = 1700;
inline constexpr Oid refcursor = 1790;
inline constexpr Oid regprocedure = 2202;
inline constexpr Oid regoper = 2203;
inline constexpr Oid regoperator = 2204;
inline constexpr Oid regclass = 2205;
inline constexpr Oid regtype = 2206;
inline constexpr Oid uuid = 2950;
inline constexpr Oid pg_lsn = 3220;
inline constexpr Oid regconfig = 3734;
inline constexpr Oid regdictionary = 3769;
inline constexpr Oid jsonb = 3802;
inline constexpr Oid regnamespace = 4089;
inline constexpr Oid regrole = 4096;
inline constexpr Oid regcollation = 4191;
inline constexpr Oid xid8 = 5069;

// Arrays.
inline constexpr Oid boolean_array = 1000;
inline constexpr Oid bytea_array = 1001;
inline constexpr Oid single_char_array = 1002;
inline constexpr Oid name_array = 1003;
inline constexpr Oid int2_array = 1005;
inline constexpr Oid int2vector_array = 1006;
inline constexpr Oid int4_array = 1007;
inline constexpr Oid regproc_array = 1008;
inline constexpr Oid text_array = 1009;
inline constexpr Oid tid_array = 1010;
inline constexpr Oid xid_array = 1011;
inline constexpr Oid cid_array = 1012;
inline constexpr Oid oidvector_array = 1013;
inline constexpr Oid bpchar_array = 1014;
inline constexpr Oid varchar_array = 1015;
inline constexpr Oid int8_array = 1016;
inline constexpr Oid float4_array = 1021;
inline constexpr Oid float8_array = 1022;
inline constexpr Oid oid_array = 1028;
inline constexpr Oid aclitem_array = 1034;
inline constexpr Oid timestamp_array = 1115;
inline constexpr Oid date_array = 1182;
inline constexpr Oid time_array = 1183;
inline constexpr Oid timestamptz_array = 1185;
inline constexpr Oid interval_array = 1187;
inline constexpr Oid numeric_array = 1231;
inline constexpr Oid cstring_array = 1263;
inline constexpr Oid timetz_array = 1270;
inline constexpr Oid regprocedure_array = 2207;
inline constexpr Oid regoper_array = 2208;
inline constexpr Oid regoperator_array = 2209;
inline constexpr Oid regclass_array = 2210;
inline constexpr Oid regtype_array = 2211;
inline constexpr Oid record_array = 2287;
inline constexpr Oid pg_lsn_array = 3221;
inline constexpr Oid regconfig_array = 3735;
inline constexpr Oid regdictionary_array = 3770;
inline constexpr Oid regnamespace_array = 4090;
inline constexpr Oid regrole_array = 4097;
inline constexpr Oid regcollation_array = 4192;

// Pseudo-types: of parameters and results, never of columns.
inline constexpr Oid record = 2249;
inline constexpr Oid cstring = 2275;
inline constexpr Oid any = 2276;
inline constexpr Oid anyarray = 2277;
inline constexpr Oid void_type = 2278;
inline constexpr Oid trigger = 2279;
inline constexpr Oid language_handler = 2280;
inline constexpr Oid internal = 2281;
inline constexpr Oid anyelement = 2283;
inline constexpr Oid anynonarray = 2776;
inline constexpr Oid anyenum = 3500;
inline constexpr Oid anyrange = 3831;
inline constexpr Oid event_trigger = 3838;
inline constexpr Oid anymultirange = 4537;
inline constexpr Oid anycompatible = 5077;
inline constexpr Oid anycompatiblearray = 5078;
inline constexpr Oid anycompatiblenonarray = 5079;
inline constexpr Oid anycompatiblerange = 5080;

}  // namespace type_oid
}  // namespace pgsilo
