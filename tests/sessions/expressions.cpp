#include "tests/sessions/sql_author.h"

namespace pgsilo::sessions {

std::string SqlAuthor::pick(std::initializer_list<const char*> words) {
  return words.begin()[random_.below(words.size())];
}

std::string SqlAuthor::one(std::initializer_list<std::string (SqlAuthor::*)()> kinds) {
  return (this->*kinds.begin()[random_.below(kinds.size())])();
}

std::string SqlAuthor::list(uint64_t least, uint64_t most,
                            const std::function<std::string()>& element) {
  std::string text;
  for (uint64_t i = least + random_.below(most - least + 1); i > 0; --i)
    text += (text.empty() ? "" : ", ") + element();
  return text;
}

std::string SqlAuthor::type_name(TypeOid type) {
  switch (type) {
    case type::varchar:
      return pick({"varchar", "varchar(3)", "varchar(100)", "character varying"});
    case type::bpchar:
      return pick({"char", "char(5)", "bpchar"});
    case type::numeric:
      return pick({"numeric", "numeric(10,2)", "numeric(5)", "decimal(40,20)", "numeric(3,-2)"});
    case type::timestamp:
      return pick({"timestamp", "timestamp(0)", "timestamp without time zone"});
    case type::interval:
      return pick({"interval", "interval day to second", "interval(2)", "interval year"});
    default:
      return vocabulary_.type_name(type);
  }
}

std::string SqlAuthor::literal(TypeOid type) {
  if (chance(is_calm_ ? 1 : 8)) return "NULL";
  std::string text = is_calm_ ? plain_text(random_, type) : value_text(random_, type);
  bool is_number = type == type::int4 || (!is_calm_ && (type == type::int2 || type == type::int8));
  if (is_number && chance(70)) return text;
  if (type == type::boolean && chance(50)) return pick({"true", "false"});
  if (wild(15)) return quoted(text);
  if (wild(10)) return "E" + quoted(text);
  return quoted(text) + "::" + type_name(type);
}

std::string SqlAuthor::parameter() {
  std::string text = "$" + std::to_string(1 + random_.below(static_cast<uint64_t>(parameters_)));
  return chance(25) ? text + "::" + type_name(column_type(random_)) : text;
}

std::string SqlAuthor::value(TypeOid type, int depth) {
  if (wild(4)) type = column_type(random_);  // mistyped
  if (parameters_ > 0 && chance(20)) return parameter();
  if (depth <= 0 || chance(25)) {
    if (!scope_.empty() && chance(65)) {
      for (int tries = 0; tries < 6; ++tries) {
        const Visible& column = any_of(random_, scope_);
        if (column.type == type) return column.text;
      }
      if (wild(40)) {
        const Visible& column = any_of(random_, scope_);
        return chance(50) ? column.text : column.text + "::" + type_name(type);
      }
    }
    return literal(type);
  }
  switch (random_.below(is_calm_ ? 7 : 12)) {
    case 0:
    case 1:
    case 2:
      return call(type, depth - 1);
    case 3:
    case 4:
    case 5:
      return operation(type, depth - 1);
    case 6:
      return conditional(type, depth - 1);
    case 7:
      return "(" + any_expression(depth - 1) + ")::" + type_name(type);
    case 8:
      return subquery_value(type, depth - 1);
    case 9:
      return chance(40) ? aggregate(type, depth - 1) : value(type, depth - 1);
    case 10:
      return special_form(type, depth - 1);
    default:
      return type == type::boolean ? condition(depth - 1) : value(type, depth - 1);
  }
}

std::string SqlAuthor::call_of(const Routine& routine, int depth) {
  std::string name = chance(10) ? "pg_catalog." + routine.name : routine.name;
  size_t count = routine.arguments.size();
  std::string text = "\"" + routine.name + "\"(";
  if (name != routine.name) text = "pg_catalog." + text;
  if (wild(2)) text += pick({"distinct ", "all ", "variadic "});
  if (wild(2)) count += random_.below(3);
  for (size_t i = 0; i < count; ++i) {
    TypeOid type = i < routine.arguments.size() ? routine.arguments[i] : column_type(random_);
    bool is_pseudo = type == 2276 || type == 2283 || type == 2277 || type == 5077;
    if (is_pseudo) type = type == 2277 ? type::int4_array : column_type(random_);
    text += (i == 0 ? "" : ", ") + value(type, depth);
  }
  return text + ")";
}

std::string SqlAuthor::call(TypeOid type, int depth) {
  const auto& fitting = vocabulary_.routines_of(type);
  if (fitting.empty() || wild(5)) return call_of(any_of(random_, vocabulary_.routines), depth);
  const Routine& routine = *any_of(random_, fitting);
  bool is_special = routine.name.starts_with("pg_") ||
                    routine.name.find("reg") != std::string::npos ||
                    routine.name.find("val") != std::string::npos;
  if (is_calm_ && is_special) return literal(type);
  return call_of(routine, depth);
}

std::string SqlAuthor::operation(TypeOid type, int depth) {
  if (type == type::boolean) return condition(depth);
  bool is_calculated = type == type::int2 || type == type::int4 || type == type::int8 ||
                       type == type::numeric || type == type::float4 || type == type::float8 ||
                       type == type::text || type == type::date || type == type::timestamp ||
                       type == type::interval;
  if (is_calm_ && !is_calculated) return call(type, depth);
  if (wild(6)) {
    return pick({"-", "+", "~", "@ ", "|/", "||/", "!! ", "not "}) + "(" + value(type, depth) + ")";
  }
  std::string sign;
  if (type == type::text || type == type::varchar || type == type::text_array ||
      type == type::bytea || type == type::int4_array) {
    sign = "||";
  } else {
    sign = is_calm_
               ? pick({"+", "-", "+"})
               : pick({"+", "-", "*", "/", "%", "+", "-", "*", "^", "&", "|", "#", "<<", ">>"});
  }
  TypeOid right = type;
  if (type == type::date) right = pick({"d", "i"}) == "d" ? type::int4 : type::interval;
  if (type == type::timestamp || type == type::timestamptz || type == type::time)
    right = type::interval;
  return "(" + value(type, depth) + " " + sign + " " + value(right, depth) + ")";
}

std::string SqlAuthor::condition(int depth) {
  TypeOid type = column_type(random_);
  if (!scope_.empty() && chance(70)) type = any_of(random_, scope_).type;
  auto operand = [&] { return value(type, depth - 1); };
  if (depth <= 0)
    return "(" + operand() + " " + pick({"=", "<", ">=", "<>"}) + " " + operand() + ")";
  switch (random_.below(13)) {
    case 0:
      return "(" + condition(depth - 1) + pick({" and ", " or "}) + condition(depth - 1) + ")";
    case 1:
      return "not " + condition(depth - 1);
    case 2:
      return "(" + operand() + pick({" is null", " is not null", " is distinct from 1"}) + ")";
    case 3:
      return "(" + operand() + pick({" in (", " not in ("}) + list(1, 4, operand) + "))";
    case 4:
      return "(" + operand() + pick({" between ", " not between symmetric "}) + operand() +
             " and " + operand() + ")";
    case 5:
      return "(" + value(type::text, depth - 1) +
             pick({" like ", " not ilike ", " ~ ", " !~* ", " similar to "}) +
             value(type::text, depth - 1) + (chance(10) ? " escape " + literal(type::text) : "") +
             ")";
    case 6:
      return pick({"exists (", "not exists ("}) + query(depth - 1) + ")";
    case 7:
      return "(" + operand() + pick({" in (", " = any (", " < all (", " <> some ("}) +
             simple_query(depth - 1, 1) + "))";
    case 8:
      return "(" + operand() + pick({" = any (", " >= all ("}) + "array[" + list(0, 3, operand) +
             "]))";
    case 9:
      return "((" + operand() + ", " + operand() + ")" + pick({" = ", " < ", " >= ", " <> "}) +
             "(" + operand() + ", " + operand() + "))";
    case 10:
      return "(" + condition(depth - 1) + pick({" is true", " is not unknown", " is false"}) + ")";
    default:
      return "(" + operand() + " " +
             pick({"=", "<>", "<", "<=", ">", ">=", "=", is_calm_ ? "=" : "@>"}) + " " + operand() +
             ")";
  }
}

std::string SqlAuthor::conditional(TypeOid type, int depth) {
  switch (random_.below(5)) {
    case 0:
      return "coalesce(" + value(type, depth) + ", " + value(type, depth) + ")";
    case 1:
      return "nullif(" + value(type, depth) + ", " + value(type, depth) + ")";
    case 2:
      return pick({"greatest(", "least("}) + value(type, depth) + ", " + value(type, depth) + ")";
    case 3:
      return "case " + value(type, depth) + " when " + value(type, depth) + " then " +
             value(type, depth) + " else " + value(type, depth) + " end";
    default:
      return "case when " + condition(depth) + " then " + value(type, depth) +
             (chance(50) ? " else " + value(type, depth) : "") + " end";
  }
}

std::string SqlAuthor::special_form(TypeOid type, int depth) {
  std::string text = value(type::text, depth);
  switch (random_.below(14)) {
    case 0:
      return "extract(" + pick({"year", "epoch", "century", "dow", "'nope'", "microseconds"}) +
             " from " + value(type::timestamp, depth) + ")";
    case 1:
      return "substring(" + text + " from " + value(type::int4, depth) + " for " +
             value(type::int4, depth) + ")";
    case 2:
      return "position(" + text + " in " + value(type::text, depth) + ")";
    case 3:
      return "overlay(" + text + " placing " + value(type::text, depth) + " from " +
             value(type::int4, depth) + ")";
    case 4:
      return "trim(" + pick({"both ", "leading ", ""}) + text + " from " +
             value(type::text, depth) + ")";
    case 5:
      return "(" + value(type::timestamptz, depth) + " at time zone " + text + ")";
    case 6:
      return "array[" + list(0, 4, [&] { return value(type, depth); }) + "]";
    case 7:
      return "(" + value(type::int4_array, depth) + ")[" + value(type::int4, depth) +
             (chance(20) ? ":2" : "") + "]";
    case 8:
      return pick({"row(", "("}) + list(1, 3, [&] { return any_expression(depth); }) + ")";
    case 9:
      return pick({"current_date", "current_timestamp", "localtime(2)", "current_user",
                   "current_schema", "current_catalog", "default", "user"});
    case 10:
      return "((" + value(type::date, depth) + ", " + value(type::date, depth) + ") overlaps (" +
             value(type::date, depth) + ", " + value(type::interval, depth) + "))";
    case 11:
      return text + " collate " + pick({"\"C\"", "\"POSIX\"", "\"default\"", "\"nope\""});
    case 12:
      return "array(" + simple_query(depth, 1) + ")";
    default:
      return pick({"normalize(", "xmlelement(", "grouping("}) + text + ")";
  }
}

std::string SqlAuthor::subquery_value(TypeOid type, int depth) {
  size_t outer = scope_.size();
  std::string from = chance(70) ? " from " + from_item(depth - 1) : "";
  std::string text = "(select " + value(type, depth) + from;
  if (chance(40)) text += " where " + condition(depth - 1);
  if (chance(30)) text += " order by " + any_expression(depth - 1);
  if (chance(70)) text += " limit 1";
  scope_.resize(outer);
  return text + ")";
}

std::string SqlAuthor::aggregate(TypeOid type, int depth) {
  std::string name =
      pick({"count", "sum", "avg", "min", "max", "string_agg", "array_agg", "bool_and", "every",
            "stddev", "variance", "bit_or", "corr", "mode", "row_number"});
  std::string text = name + "(";
  if (chance(15)) text += "distinct ";
  text += chance(15) ? std::string("*") : value(type, depth);
  if (name == "string_agg" || name == "corr") text += ", " + value(type, depth);
  if (chance(15)) text += " order by " + any_expression(depth - 1);
  text += ")";
  if (chance(15)) text += " filter (where " + condition(depth - 1) + ")";
  if (chance(6)) text += pick({" over ()", " over (order by 1)", " within group (order by 1)"});
  return text;
}

}  // namespace pgsilo::sessions
