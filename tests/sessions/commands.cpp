#include "tests/sessions/sql_author.h"

namespace pgsilo::sessions {

std::string SqlAuthor::transaction_command() {
  return pick({"begin",
               "begin",
               "begin",
               "commit",
               "commit",
               "commit",
               "rollback",
               "rollback",
               "end",
               "abort",
               "start transaction isolation level read committed",
               "begin isolation level repeatable read read only",
               "begin read only deferrable",
               "begin isolation level serializable, read only, deferrable",
               "savepoint a",
               "savepoint a",
               "savepoint \"B\"",
               "rollback to a",
               "rollback to savepoint \"B\"",
               "release a",
               "release b",
               "commit and chain",
               "rollback and chain",
               "set transaction read only",
               "set transaction isolation level read committed",
               "set constraints all deferred",
               "set constraints all immediate",
               "set transaction snapshot '1'",
               "prepare transaction 'x'",
               "commit prepared 'x'",
               "set session characteristics as transaction read write"});
}

namespace {

// Whose random values would end the round rather than test it.
bool is_left_alone(const std::string& setting) {
  for (const char* each : {"statement_timeout", "idle_session_timeout", "transaction_timeout",
                           "idle_in_transaction_session_timeout", "default_transaction_read_only",
                           "client_encoding", "background_share"}) {
    if (setting == each) return true;
  }
  return false;
}

}  // namespace

std::string SqlAuthor::set_setting() {
  std::string name = any_of(random_, vocabulary_.settings);
  if (chance(8))
    return "show " + (chance(50) ? name : pick({"all", "nosuch", "transaction_isolation"}));
  if (chance(8)) return "reset " + name;
  if (is_left_alone(name) && chance(95)) return "show " + name;
  std::string setting = chance(60)
                            ? pick({"on", "off", "0", "1", "-1", "10", "default", "'64kB'", "'1ms'",
                                    "1.5", "'public, n1'", "serializable", "'read committed'"})
                            : quoted(garbage_text(random_));
  if (chance(8)) {
    return "select set_config(" + quoted(name) + ", " + setting + ", " +
           pick({"true", "false", "null"}) + ")";
  }
  return pick({"set ", "set local ", "set session "}) + name + pick({" = ", " to "}) + setting;
}

std::string SqlAuthor::prepare_command() {
  std::string name = pick({"p1", "p2", "p3", "\"P\""});
  switch (random_.below(5)) {
    case 0:
    case 1: {
      parameters_ = 2;
      std::string text = "prepare " + name + (chance(40) ? " (int, text)" : "") + " as " +
                         one({&SqlAuthor::select, &SqlAuthor::insert, &SqlAuthor::update,
                              &SqlAuthor::delete_rows});
      parameters_ = 0;
      return text;
    }
    case 2:
      return pick({"deallocate ", "deallocate prepare "}) + (chance(20) ? "all" : name);
    default:
      return "execute " + name +
             (chance(80) ? "(" + any_expression(1) + ", " + literal(type::text) + ")" : "");
  }
}

std::string SqlAuthor::cursor_command() {
  std::string name = pick({"c1", "c2"});
  switch (random_.below(5)) {
    case 0:
      return "declare " + name + pick({" ", " scroll ", " no scroll ", " binary "}) + "cursor " +
             pick({"", "with hold "}) + "for " + query(2);
    case 1:
    case 2:
      return pick({"fetch ", "move "}) +
             pick({"1", "all", "backward 2", "absolute 3", "first", "last", "relative 0", "-1"}) +
             " from " + name;
    case 3:
      return "close " + (chance(20) ? "all" : name);
    default:
      return pick({"delete from t1", "update t1 set a = 1"}) + " where current of " + name;
  }
}

std::string SqlAuthor::lock_command() {
  if (chance(50)) {
    return "lock " + table().name + (chance(20) ? ", " + table().name : "") + " in " +
           pick({"access share", "row share", "row exclusive", "share update exclusive", "share",
                 "share row exclusive", "exclusive", "access exclusive", "nope"}) +
           " mode" + (chance(50) ? " nowait" : "");
  }
  std::string key = std::to_string(random_.below(4));
  return "select " +
         pick({"pg_advisory_lock(", "pg_try_advisory_lock(", "pg_advisory_xact_lock(",
               "pg_advisory_unlock(", "pg_advisory_lock_shared(",
               "pg_try_advisory_xact_lock_shared(1, "}) +
         key + ")";
}

std::string SqlAuthor::explain() {
  return "explain " +
         pick({"", "", "verbose ", "(costs off) ", "(format json) ", "analyze ",
               "(analyze, buffers) ", "(nope) "}) +
         one({&SqlAuthor::select, &SqlAuthor::select, &SqlAuthor::insert, &SqlAuthor::update,
              &SqlAuthor::delete_rows, &SqlAuthor::create_table_as, &SqlAuthor::prepare_command,
              &SqlAuthor::merge});
}

std::string SqlAuthor::maintenance() {
  return pick({"vacuum ", "analyze ", "vacuum full ", "vacuum (analyze) ", "reindex table ",
               "cluster ", "analyze verbose "}) +
         (chance(70) ? table().name : "") + (chance(10) ? " (a)" : "");
}

std::string SqlAuthor::sequence_use() {
  std::string name = quoted(name_of("s", world_.sequences));
  return "select " + pick({"nextval(", "nextval(", "currval(", "lastval(", "setval("}) + name +
         pick({")", ", 5)", ")", ", 9223372036854775807)", ", 3, false)"}) +
         (chance(30) ? " from generate_series(1, 40)" : "");
}

std::string SqlAuthor::unknown_command() {
  return pick(
      {"listen a",
       "notify a, 'x'",
       "unlisten *",
       "discard all",
       "discard plans",
       "discard temp",
       "do $$ begin end $$",
       "call f()",
       "load 'x'",
       "checkpoint",
       "import foreign schema a from server b into c",
       "refresh materialized view m",
       "set role postgres",
       "set role none",
       "reset role",
       "set session authorization default",
       "reset session authorization",
       "table t1",
       "table only t1",
       "",
       ";",
       ";;",
       "/* */",
       "--",
       "select",
       "select;",
       "(((select 1)))",
       "values (1), (2, 3)",
       "select from t1",
       "reset all",
       "show search_path",
       "set time zone local",
       "set time zone interval '1' hour",
       "set names 'utf8'",
       "set local time zone 'Nowhere'",
       "select 1; select 2; begin; select 1/0; select 3",
       "begin; select 1; commit; select 2",
       "select 1; checkpoint",
       "select pg_cancel_backend(pg_backend_pid())",
       "select pg_notify('a', 'b')",
       "select pg_sleep(0.05)",
       "select pg_sleep(-1)",
       "select repeat('x', 100000)",
       "select repeat('ab', 10000000)",
       "select g, repeat('y', 1000) from generate_series(1, 2000) g",
       "select count(*) from generate_series(1, 300000) a",
       "select count(*) from generate_series(1,1e7::int) a, generate_series(1, 1000) b",
       "select * from generate_series('2000-01-01'::timestamp, 'infinity', '1 day') limit 10",
       "select sum(a) from generate_series(-9223372036854775808, -9223372036854775800) a",
       "select generate_series(1,3), generate_series(1,2), unnest(array[1])"});
}

std::string SqlAuthor::command() {
  switch (random_.below(12)) {
    case 0:
    case 1:
      return transaction_command();
    case 2:
    case 3:
      return set_setting();
    case 4:
    case 5:
      return prepare_command();
    case 6:
      return cursor_command();
    case 7:
      return lock_command();
    case 8:
      return explain();
    case 9:
      return chance(30) ? maintenance() : explain();
    case 10:
      return sequence_use();
    default:
      return unknown_command();
  }
}

std::string SqlAuthor::statement(int parameters) {
  parameters_ = parameters;
  aliases_ = 0;
  is_calm_ = chance(65);
  scope_.clear();
  uint64_t kind = random_.below(100);
  std::string text = kind < 24   ? query(chance(70) ? 2 : 4)
                     : kind < 34 ? insert()
                     : kind < 44 ? update()
                     : kind < 48 ? delete_rows()
                     : kind < 58 ? routine_probe()
                     : kind < 62 ? cast_probe()
                     : kind < 66 ? operator_probe()
                     : kind < 68 ? system_query()
                     : kind < 69 ? merge()
                     : kind < 70 ? truncate()
                     : kind < 72 ? copy_out()
                     : kind < 82 ? definition()
                     : kind < 92 ? command()
                                 : mutated();
  parameters_ = 0;
  if (text.size() > 60000) text.resize(60000);
  return text;
}

}  // namespace pgsilo::sessions
