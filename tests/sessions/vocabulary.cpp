#include "tests/sessions/vocabulary.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tests/sql/slt_file.h"

namespace pgsilo::sessions {
namespace {

// What ends the server on purpose, or waits as long as it is told.
constexpr const char* left_out[] = {"pg_sleep", "pg_terminate_backend", "pg_cancel_backend"};

std::vector<TypeOid> oids_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<TypeOid> oids;
  for (TypeOid oid = 0; stream >> oid;) oids.push_back(oid);
  return oids;
}

TypeOid oid_of(const std::string& text) { return static_cast<TypeOid>(std::stoul(text)); }

void read_corpus(const std::string& directory, Vocabulary* vocabulary) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".slt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    for (slt::Record& record : slt::read_file(file))
      vocabulary->corpus.push_back(std::move(record.sql));
  }
}

}  // namespace

Vocabulary Vocabulary::of_server(const Ask& ask, const std::string& source_directory) {
  Vocabulary read;
  for (const auto& row : ask("select oid, typname from pg_type order by oid")) {
    read.types.push_back(oid_of(row[0]));
    read.type_names[oid_of(row[0])] = '"' + row[1] + '"';
  }
  for (const auto& row : ask("select proname, prorettype, proargtypes, prokind from pg_proc "
                             "where prokind in ('f', 'a') order by oid")) {
    if (std::find(std::begin(left_out), std::end(left_out), row[0]) != std::end(left_out)) continue;
    read.routines.push_back({row[0], oid_of(row[1]), oids_of(row[2]), row[3] == "a"});
  }
  for (const auto& row : ask("show all")) read.settings.push_back(row[0]);
  for (const auto& row :
       ask("select n.nspname || '.' || c.relname from pg_class c join pg_namespace n on "
           "n.oid = c.relnamespace where c.relkind in ('r', 'v') and n.nspname in ('pg_catalog', "
           "'information_schema') order by c.oid"))
    read.system_relations.push_back(row[0]);
  read_corpus(source_directory + "/tests/sql", &read);
  read.index_routines();
  return read;
}

void Vocabulary::index_routines() {
  for (const Routine& each : routines) {
    if (!each.is_aggregate) by_result_[each.result].push_back(&each);
  }
}

std::string Vocabulary::type_name(TypeOid type) const {
  auto found = type_names.find(type);
  return found == type_names.end() ? "nosuchtype" : found->second;
}

const std::vector<const Routine*>& Vocabulary::routines_of(TypeOid result) const {
  static const std::vector<const Routine*> none;
  auto found = by_result_.find(result);
  return found == by_result_.end() ? none : found->second;
}

TypeOid column_type(Random& random) {
  static constexpr TypeOid types[] = {type::int4,
                                      type::int4,
                                      type::int4,
                                      type::int8,
                                      type::int2,
                                      type::text,
                                      type::text,
                                      type::varchar,
                                      type::bpchar,
                                      type::boolean,
                                      type::numeric,
                                      type::numeric,
                                      type::float8,
                                      type::float4,
                                      type::date,
                                      type::timestamp,
                                      type::timestamptz,
                                      type::interval,
                                      type::time,
                                      type::bytea,
                                      1266,
                                      19,
                                      18,
                                      26,
                                      type::int4_array,
                                      type::text_array,
                                      1016,
                                      1231,
                                      2205};
  return any_of(random, types);
}

namespace {

const std::vector<const char*>& texts_of(TypeOid type) {
  static const std::unordered_map<TypeOid, std::vector<const char*>> texts = {
      {type::boolean, {"t", "f", "yes", "off", "maybe", ""}},
      {type::int2, {"0", "1", "-1", "7", "32767", "-32768", "32768"}},
      {type::int4, {"0", "1", "2", "3", "10", "-1", "2147483647", "-2147483648", "99999999999"}},
      {type::int8,
       {"0", "1", "5", "-1", "9223372036854775807", "-9223372036854775808", "4294967296"}},
      {26, {"0", "1", "25", "4294967295", "1259"}},
      {type::float4, {"0", "1.5", "-0", "NaN", "Infinity", "-Infinity", "3.4e38", "1e-45", "1e40"}},
      {type::float8,
       {"0", "1.5", "-0", "NaN", "Infinity", "-Infinity", "1.7e308", "5e-324", "0.1", "1e999"}},
      {type::numeric,
       {"0", "1", "-1.50", "NaN", "Infinity", "-Infinity", "1e131071", "1e-16383", "0.00001",
        "123456789012345678901234567890.123456789", "9999.99", "1e400"}},
      {type::date,
       {"2000-01-01", "2024-02-29", "infinity", "-infinity", "4714-11-24 BC", "5874897-12-31",
        "epoch", "today", "J0", "2023-02-29", "0001-01-01"}},
      {type::time, {"00:00", "24:00:00", "23:59:59.999999", "12:00 PM", "allballs", "25:00"}},
      {1266, {"00:00+00", "24:00:00-15:59", "12:00 PST", "23:59:60+15", "04:05 nowhere"}},
      {type::timestamp,
       {"2000-01-01 00:00", "infinity", "-infinity", "4714-11-24 00:00:00 BC", "294276-12-31 23:59",
        "294277-01-01", "epoch", "now", "2024-02-30 1:00"}},
      {type::timestamptz,
       {"2000-01-01 00:00+00", "infinity", "-infinity", "4714-11-24 00:00:00+00 BC",
        "294276-12-31 23:59-15:59", "1900-01-01 00:00 Europe/Berlin", "epoch", "now", "tomorrow"}},
      {type::interval,
       {"0", "1 day", "-1 mon", "1 year 2 mons 3 days 04:05:06.789", "178000000 years",
        "-178000000 years", "2147483647 days", "P1Y2M3DT4H5M6S", "2562047788:00:54.775807",
        "1 fortnight"}},
      {type::bytea, {"", "\\x", "\\xdeadbeef", "\\x00", "\\000\\377", "\\xabc", "plain"}},
      {18, {"", "a", "\\377", "ab", "\xc3\xa4"}},
      {type::int4_array,
       {"{}", "{1,2,3}", "{NULL}", "[2:3]={1,2}", "{{1,2},{3,4}}", "{1,", "{-1}"}},
      {1016, {"{}", "{1,9223372036854775807}", "{NULL,NULL}", "{x}"}},
      {1231, {"{}", "{1.5,NaN}", "{NULL,1e1000}"}},
      {type::text_array,
       {"{}", "{a,b}", "{NULL,\"NULL\",\"\"}", "{\"a\\\"b\",{c}}", "{\"", "{a,a,a}"}},
      {2205, {"pg_class", "0", "pg_catalog.pg_type", "nowhere", "\"", "4294967295", "-"}},
      {2206,
       {"int4", "varchar(5)", "numeric(3,1)[]", "0", "-", "nothing", "interval day to second"}},
      {2202, {"abs(int4)", "now()", "f(", "0", "substring(text,int4,int4)"}},
      {2203, {"pg_catalog.||", "0", "nope"}},
      {2204, {"+(int4,int4)", "-(none,int4)", "+("}},
      {30, {"", "1 2 3", "4294967295", "x"}},
      {22, {"", "1 2 3", "32768"}},
      {27, {"(0,1)", "(4294967295,65535)", "(", "0"}},
  };
  static const std::vector<const char*> none;
  auto found = texts.find(type);
  return found == texts.end() ? none : found->second;
}

constexpr const char* words[] = {
    "",
    "a",
    "b",
    "abc",
    "ABC",
    "foo bar",
    "%",
    "_a%",
    "\\",
    "a\\%b",
    "\xc3\xa4\xc3\xb6",
    "\xf0\x9f\x90\x98",
    "'",
    "\"",
    "{}",
    "(a|b)*c",
    "a{2,3}",
    "[[:alpha:]]",
    "(?:x",
    "\\1",
    "YYYY-MM-DD HH24:MI:SS.US",
    "FM9G999D99S",
    "RN",
    "9.99EEEE",
    "day",
    "century",
    "epoch",
    "UTC",
    "Europe/Berlin",
    "hex",
    "base64",
    "escape",
    "pg_class",
    "int4",
    " padded ",
    "NULL",
    "0",
    "-1",
    "1e5",
    "\x01\x7f",
    "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"};

}  // namespace

std::string garbage_text(Random& random) {
  switch (random.below(6)) {
    case 0:
      return std::string(random.below(40), static_cast<char>('!' + random.below(90)));
    case 1:
      return std::to_string(random.next());
    case 2:
      return std::string(1 + random.below(3000), 'x');
    case 3: {
      std::string text;
      for (uint64_t i = random.below(20); i > 0; --i)
        text += static_cast<char>(' ' + random.below(95));
      return text;
    }
    default:
      return any_of(random, words);
  }
}

std::string plain_text(Random& random, TypeOid type) {
  switch (type) {
    case type::boolean:
      return random.one_in(2) ? "t" : "f";
    case type::int2:
    case type::int4:
    case type::int8:
    case type::numeric:
    case type::float4:
    case type::float8:
    case 26:
      return std::to_string(random.below(20));
    case type::date:
    case type::timestamp:
    case type::timestamptz:
      return "2024-0" + std::to_string(1 + random.below(9)) + "-1" +
             std::to_string(random.below(9));
    case type::time:
    case 1266:
      return "0" + std::to_string(random.below(9)) + ":30";
    case type::interval:
      return std::to_string(random.below(9)) + " days";
    case type::int4_array:
    case 1016:
    case 1231:
      return "{1," + std::to_string(random.below(9)) + "}";
    case type::text_array:
      return "{a,b}";
    case 2205:
      return "pg_class";
    default:
      return std::string(1, static_cast<char>('a' + random.below(6)));
  }
}

std::string value_text(Random& random, TypeOid type) {
  if (random.one_in(30)) return garbage_text(random);
  const std::vector<const char*>& texts = texts_of(type);
  if (texts.empty()) return any_of(random, words);
  bool is_integer = type == type::int4 || type == type::int8 || type == type::int2;
  if (is_integer && !random.one_in(4)) return std::to_string(random.below(20));
  return any_of(random, texts);
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (char each : text) result += each == '\'' ? "''" : std::string(1, each);
  return result + "'";
}

}  // namespace pgsilo::sessions
