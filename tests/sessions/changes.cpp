#include "tests/sessions/sql_author.h"

namespace pgsilo::sessions {

std::string SqlAuthor::returning() {
  if (!chance(25)) return "";
  return " returning " +
         (chance(40) ? std::string("*") : list(1, 2, [&] { return any_expression(1); }));
}

std::string SqlAuthor::conflict_clause(const Table& table) {
  std::string text = " on conflict ";
  if (!table.unique.empty() && !wild(20)) {
    std::string columns;
    for (const std::string& each : any_of(random_, table.unique))
      columns += (columns.empty() ? "" : ", ") + each;
    text += "(" + columns + ") ";
  } else if (!table.constraints.empty() && chance(50)) {
    text += "on constraint " + any_of(random_, table.constraints) + " ";
  }
  if (chance(40)) return text + "do nothing";
  const Column& column = column_of(table);
  size_t outer = scope_.size();
  for (const Column& each : table.columns) scope_.push_back({"excluded." + each.name, each.type});
  text += "do update set " + column.name + " = " + value(column.type, 2);
  if (chance(30)) text += " where " + condition(1);
  scope_.resize(outer);
  return text;
}

std::string SqlAuthor::insert() {
  const Table& chosen = table();
  std::vector<const Column*> columns;
  for (const Column& each : chosen.columns) {
    if (!chance(is_calm_ ? 3 : 12)) columns.push_back(&each);
  }
  std::string names;
  for (const Column* each : columns) names += (names.empty() ? "" : ", ") + each->name;
  std::string text = "insert into " + chosen.name;
  if (!names.empty()) text += " (" + names + ")";
  if (wild(5)) text += pick({" overriding system value", " overriding user value"});
  if (columns.empty() || wild(3)) {
    text += " default values";
  } else if (wild(25)) {
    text += " " + simple_query(2, static_cast<int>(columns.size()));
  } else if (chance(15)) {
    text += " select ";
    for (size_t i = 0; i < columns.size(); ++i)
      text += (i == 0 ? "" : ", ") + value(columns[i]->type, 1);
    text += " from generate_series(1, " + pick({"3", "20", "300"}) + ") g";
  } else {
    text += " values " + list(1, 4, [&] {
              std::string row;
              for (const Column* each : columns)
                row += (row.empty() ? "" : ", ") +
                       (wild(5) ? "default" : value(each->type, is_calm_ || chance(80) ? 0 : 2));
              return "(" + row + ")";
            });
  }
  if (is_calm_ ? chance(20) && !chosen.unique.empty() : chance(25)) text += conflict_clause(chosen);
  return text + returning();
}

std::string SqlAuthor::update() {
  const Table& chosen = table();
  size_t outer = scope_.size();
  for (const Column& each : chosen.columns) scope_.push_back({"u." + each.name, each.type});
  std::string text = "update " + chosen.name + " as u set ";
  std::string from = chance(15) ? " from " + from_item(1) : "";
  if (chance(8)) {
    text += "(" + column_of(chosen).name + ", " + column_of(chosen).name + ") = (" +
            simple_query(1, 2) + ")";
  } else {
    text += list(1, 3, [&] {
      const Column& column = column_of(chosen);
      return column.name + " = " + (chance(5) ? "default" : value(column.type, 2));
    });
  }
  text += from;
  if (chance(85)) text += " where " + condition(chance(60) ? 0 : 2);
  text += returning();
  scope_.resize(outer);
  return text;
}

std::string SqlAuthor::delete_rows() {
  const Table& chosen = table();
  size_t outer = scope_.size();
  for (const Column& each : chosen.columns) scope_.push_back({"x." + each.name, each.type});
  std::string text = "delete from " + chosen.name + " x";
  if (chance(15)) text += " using " + from_item(1);
  if (chance(90)) text += " where " + condition(chance(60) ? 0 : 2);
  text += returning();
  scope_.resize(outer);
  return text;
}

std::string SqlAuthor::merge() {
  const Table& chosen = table();
  return "merge into " + chosen.name + " using " + table().name + " s on " + condition(1) +
         " when matched then " + pick({"delete", "do nothing", "update set a = 1"}) +
         " when not matched then insert default values";
}

std::string SqlAuthor::truncate() {
  return "truncate " + table().name + (chance(30) ? ", " + table().name : "") +
         pick({"", " cascade", " restart identity", " restrict"});
}

namespace {

constexpr const char* copy_options[] = {"",
                                        "",
                                        "",
                                        " with (format csv)",
                                        " csv header",
                                        " (format binary)",
                                        " (delimiter '|')",
                                        " (null 'x', freeze)",
                                        " (format csv, quote '\"', escape '\\', force_quote *)",
                                        " (header match)",
                                        " (format nope)",
                                        " delimiter 'ab'",
                                        " (on_error ignore)",
                                        " binary",
                                        " (encoding 'latin1')"};

}  // namespace

std::string SqlAuthor::copy_in() {
  const Table& chosen = table();
  std::string text = "copy " + chosen.name;
  if (chance(30)) text += " (" + columns_of(chosen, 3) + ")";
  return text + " from stdin" + any_of(random_, copy_options) +
         (chance(6) ? " where " + condition(1) : "");
}

std::string SqlAuthor::copy_lines() {
  const Table& chosen = table();
  std::string text;
  for (uint64_t i = random_.below(6); i > 0; --i) {
    if (chance(10)) {
      text += garbage_text(random_) + "\n";
      continue;
    }
    const char separator = chance(80) ? '\t' : ',';
    for (size_t c = 0; c < chosen.columns.size(); ++c) {
      if (c > 0) text += separator;
      text += chance(15) ? "\\N" : value_text(random_, chosen.columns[c].type);
    }
    text += chance(95) ? "\n" : "\r\n";
  }
  if (chance(5)) text += "\\.\n";
  if (chance(5)) text = std::string("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\3", 21) + text;
  if (chance(4)) text += std::string("\x00\xff\xfe\x80", 4);
  return text;
}

std::string SqlAuthor::copy_out() {
  std::string source;
  if (chance(60)) {
    source = table().name;
  } else {
    source = "(" +
             one({&SqlAuthor::select, &SqlAuthor::insert, &SqlAuthor::update, &SqlAuthor::select,
                  &SqlAuthor::delete_rows}) +
             ")";
  }
  return "copy " + source + " to " + (chance(95) ? "stdout" : "'/nowhere'") +
         any_of(random_, copy_options);
}

}  // namespace pgsilo::sessions
