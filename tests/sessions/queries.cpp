#include "tests/sessions/sql_author.h"

namespace pgsilo::sessions {

const Table& SqlAuthor::table() {
  static const Table none{"t0", {{"a", type::int4}, {"b", type::text}}, {}, {}};
  if (world_.tables.empty() || wild(2)) return none;
  return any_of(random_, world_.tables);
}

const Column& SqlAuthor::column_of(const Table& table) {
  static const Column none{"nosuch", type::int4};
  if (table.columns.empty() || wild(2)) return none;
  return any_of(random_, table.columns);
}

std::string SqlAuthor::table_item() {
  const Table& chosen = table();
  std::string alias = "r" + std::to_string(++aliases_);
  for (const Column& each : chosen.columns) scope_.push_back({alias + "." + each.name, each.type});
  if (wild(2)) scope_.push_back({alias, 2249});
  return (chance(4) ? "only " : "") + chosen.name + (chance(50) ? " as " : " ") + alias;
}

std::string SqlAuthor::derived_table(int depth) {
  std::string alias = "d" + std::to_string(++aliases_);
  size_t outer = scope_.size();
  bool lateral = chance(25);
  Scope hidden;
  if (!lateral) hidden.swap(scope_);
  int columns = 1 + static_cast<int>(random_.below(3));
  std::string text = simple_query(depth, columns);
  if (!lateral) scope_.swap(hidden);
  scope_.resize(outer);
  std::string names;
  for (int i = 0; i < columns; ++i) {
    std::string name = "c" + std::to_string(i);
    names += (i == 0 ? "" : ", ") + name;
    scope_.push_back({alias + "." + name, column_type(random_)});
  }
  return (lateral ? "lateral (" : "(") + text + ") " + alias + "(" + names + ")";
}

std::string SqlAuthor::joined(int depth) {
  size_t outer = scope_.size();
  std::string left = from_item(depth - 1);
  std::string kind = pick({" join ", " left join ", " right join ", " full join ", " cross join ",
                           " natural join ", " inner join "});
  std::string right = from_item(depth - 1);
  std::string text = "(" + left + kind + right;
  if (kind != " cross join " && kind != " natural join ") {
    text += !wild(15) ? " on " + condition(depth - 1) : std::string(" using (a)");
  }
  static_cast<void>(outer);
  return text + ")";
}

std::string SqlAuthor::from_item(int depth) {
  if (depth > 0 && chance(18)) return derived_table(depth - 1);
  if (depth > 0 && chance(22)) return joined(depth);
  if (chance(8)) {
    std::string alias = "g" + std::to_string(++aliases_);
    scope_.push_back({alias, type::int4});
    return pick({"generate_series(1, 3) ", "generate_series(3, 1, -1) ", "unnest(array[1,2]) ",
                 "generate_series(1, 5) with ordinality "}) +
           alias;
  }
  if (chance(4)) return any_of(random_, vocabulary_.system_relations);
  return table_item();
}

std::string SqlAuthor::select_list(int depth, int columns) {
  if (columns == 0 && chance(25)) return pick({"*", "count(*)", "1, *"});
  uint64_t count = columns == 0 ? 1 + random_.below(4) : static_cast<uint64_t>(columns);
  return list(count, count, [&] {
    std::string text = wild(15) ? aggregate(column_type(random_), depth) : any_expression(depth);
    return chance(15) ? text + " as a" : text;
  });
}

std::string SqlAuthor::grouping(int depth) {
  std::string text = " group by ";
  if (chance(6)) {
    text += pick({"rollup (1)", "cube (1, 2)", "grouping sets ((1), ())", "()"});
  } else {
    text += list(1, 3, [&] {
      return scope_.empty() || chance(30) ? pick({"1", "2", "99"}) : any_of(random_, scope_).text;
    });
  }
  if (chance(40)) text += " having " + condition(depth);
  return text;
}

std::string SqlAuthor::ordering_and_limits(int depth) {
  std::string text;
  if (chance(35)) {
    text += " order by " + list(1, 3, [&] {
              std::string key = wild(40) ? pick({"1", "2", "a", "7"}) : any_expression(depth - 1);
              return key + pick({"", " desc", " asc nulls first", " nulls last", ""});
            });
  }
  if (chance(20))
    text += " limit " +
            (chance(70) ? pick({"0", "1", "5", "null", "all"}) : value(type::int8, depth - 1));
  if (chance(10)) text += " offset " + value(type::int8, 0);
  if (chance(3)) text += " fetch first 2 rows " + pick({"only", "with ties"});
  return text;
}

std::string SqlAuthor::values_list(int depth) {
  uint64_t width = 1 + random_.below(3);
  return "values " + list(1, 4, [&] {
           return "(" + list(width, width, [&] { return any_expression(depth); }) + ")";
         });
}

std::string SqlAuthor::simple_query(int depth, int columns) {
  if (columns == 0 && chance(6)) return values_list(depth - 1);
  size_t outer = scope_.size();
  std::string from;
  if (chance(85)) {
    from = " from " + from_item(depth);
    if (chance(20)) from += ", " + from_item(depth - 1);
  }
  std::string text = "select ";
  if (chance(10)) text += pick({"distinct ", "all ", "distinct on (1) "});
  text += select_list(depth, columns) + from;
  if (chance(55)) text += " where " + condition(depth);
  if (wild(18)) text += grouping(depth - 1);
  text += ordering_and_limits(depth);
  if (chance(7)) {
    text += pick({" for update", " for share", " for no key update skip locked",
                  " for key share nowait", " for update of r1"});
  }
  scope_.resize(outer);
  return text;
}

std::string SqlAuthor::with_clause(int depth) {
  std::string name = "w" + std::to_string(++aliases_);
  std::string text = "with " + std::string(chance(8) ? "recursive " : "") + name;
  if (chance(30)) text += " (x, y)";
  text += " as " + pick({"", "materialized ", "not materialized "}) + "(";
  if (chance(12)) {
    text += one({&SqlAuthor::insert, &SqlAuthor::update, &SqlAuthor::delete_rows});
  } else {
    text += simple_query(depth, 2);
  }
  return text + ") ";
}

std::string SqlAuthor::query(int depth) {
  if (depth > 0 && chance(12)) {
    std::string with = with_clause(depth - 1);
    std::string name = with.substr(with.find('w', 4),
                                   with.find_first_of(" (", with.find('w', 4)) - with.find('w', 4));
    return with + "select * from " + name + (chance(50) ? ", " + name + " again" : "");
  }
  if (depth > 0 && chance(15)) {
    int columns = 1 + static_cast<int>(random_.below(2));
    return "(" + simple_query(depth - 1, columns) + ")" +
           pick({" union ", " union all ", " intersect ", " except ", " except all "}) + "(" +
           simple_query(depth - 1, columns) + ")" + ordering_and_limits(0);
  }
  return simple_query(depth, 0);
}

std::string SqlAuthor::routine_probe() {
  const Routine& routine = any_of(random_, vocabulary_.routines);
  std::string text = call_of(routine, chance(80) ? 0 : 1);
  switch (random_.below(6)) {
    case 0:
      return "select * from " + text + (chance(30) ? " with ordinality" : "") + " as f";
    case 1:
      return "select " + text + " from " + table().name + " limit 3";
    case 2:
      return "select " + text + ", count(*) from generate_series(1, 3) g";
    default:
      return "select " + text;
  }
}

std::string SqlAuthor::cast_probe() {
  TypeOid from = any_of(random_, vocabulary_.types), to = any_of(random_, vocabulary_.types);
  std::string text = quoted(chance(70) ? value_text(random_, from) : garbage_text(random_));
  return "select " + text + "::" + vocabulary_.type_name(from) + "::" + vocabulary_.type_name(to) +
         (chance(30) ? pick({"::text", "::int4", "[]", " is null"}) : "");
}

std::string SqlAuthor::operator_probe() {
  static constexpr const char* signs[] = {
      "+",  "-",   "*",  "/",   "%",    "^",  "=",   "<>", "<",   "<=",  ">",   ">=", "||",
      "~",  "!~",  "~~", "!~~", "~*",   "&",  "|",   "#",  "<<",  ">>",  "@>",  "<@", "&&",
      "->", "->>", "?",  "~<~", "~>=~", "^@", "~~*", "@@", "-|-", "!~*", "**=", "<->"};
  TypeOid left = any_of(random_, vocabulary_.types);
  TypeOid right = chance(60) ? left : any_of(random_, vocabulary_.types);
  auto operand = [&](TypeOid type) {
    return chance(10) ? std::string("null")
                      : quoted(value_text(random_, type)) + "::" + vocabulary_.type_name(type);
  };
  return "select " + operand(left) + " " + any_of(random_, signs) + " " + operand(right);
}

std::string SqlAuthor::system_query() {
  const std::string& relation = any_of(random_, vocabulary_.system_relations);
  switch (random_.below(4)) {
    case 0:
      return "select * from " + relation + " x where x is not null order by 1 limit 5";
    case 1:
      return "select count(*), max(x::text) from " + relation + " x";
    case 2:
      return pick({"insert into ", "delete from ", "truncate ", "lock ", "drop table ",
                   "alter table "}) +
             relation + pick({"", " default values", " add z int", " in share mode"});
    default:
      return "select * from " + relation + ", " + any_of(random_, vocabulary_.system_relations) +
             " limit 20";
  }
}

}  // namespace pgsilo::sessions
