// Every specialised step against the function it replaces, over the boundary values of its
// argument types: value, null-ness and errors must be the same.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/arena.h"
#include "catalog/builtin/builtin.h"
#include "executor/expression/steps.h"
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/type_context.h"

namespace pgsilo {
namespace {

template <typename Int>
std::vector<int64_t> boundaries() {
  constexpr int64_t least = std::numeric_limits<Int>::min();
  constexpr int64_t greatest = std::numeric_limits<Int>::max();
  // The roots are where products begin to overflow.
  constexpr int64_t root = int64_t{1} << (sizeof(Int) * 4);
  return {least, least + 1, -root,    -root / 2, -2,           -1,      0,
          1,     2,         root / 2, root,      greatest - 1, greatest};
}

void append(std::vector<Datum>& values, const std::vector<int64_t>& integers) {
  for (int64_t integer : integers) values.push_back(Datum::of_int(integer));
}

std::vector<Datum> integer_values(Oid type) {
  std::vector<Datum> values;
  switch (type) {
    case type_oid::boolean:
      append(values, {0, 1});
      break;
    case type_oid::int2:
      append(values, boundaries<int16_t>());
      break;
    case type_oid::int4:
      append(values, boundaries<int32_t>());
      break;
    case type_oid::int8:
      append(values, boundaries<int64_t>());
      break;
    case type_oid::oid:
      append(values, {0, 1, INT32_MAX, int64_t{INT32_MAX} + 1, UINT32_MAX});
      break;
    case type_oid::date:
      append(values, {date_minus_infinity, date_minus_infinity + 1, -1, 0, 1, date_infinity - 1,
                      date_infinity});
      break;
    case type_oid::time:
      append(values, {0, 1, 86'399'999'999, 86'400'000'000});
      break;
    case type_oid::timestamp:
    case type_oid::timestamptz:
      append(values, {timestamp_minus_infinity, timestamp_minus_infinity + 1, -1, 0, 1,
                      timestamp_infinity - 1, timestamp_infinity});
      break;
    default:
      break;
  }
  return values;
}

// Texts that differ in length only, in the last byte only, beyond the first kilobytes only; bytes
// above 127; blanks at the end, which count.
const std::vector<std::string>& texts() {
  static const std::vector<std::string> list = {"",
                                                "a",
                                                "b",
                                                "ab",
                                                "a ",
                                                "\x7f",
                                                "\xc3\xa9",
                                                "e\xcc\x81",
                                                std::string(70'000, 'x'),
                                                std::string(69'999, 'x') + "y",
                                                std::string(69'999, 'x')};
  return list;
}

// Empty for a type that has none yet.
std::vector<Datum> boundary_values(Oid type) {
  std::vector<Datum> values = integer_values(type);
  if (type == type_oid::text) {
    for (const std::string& text : texts()) values.push_back(Datum::of_bytes(text));
  }
  if (type == type_oid::float4 || type == type_oid::float8) {
    using Limits = std::numeric_limits<float>;
    for (double number : {-Limits::infinity(), Limits::lowest(), -1.0f, -0.0f, 0.0f, Limits::min(),
                          1.0f, Limits::max(), Limits::infinity(), Limits::quiet_NaN()}) {
      values.push_back(Datum::of_float(number));
    }
  }
  if (!values.empty()) values.push_back(Datum());
  return values;
}

struct Machine {
  Arena arena;
  TypeContext types;
  RowContext context;

  Machine() {
    context.types = &types;
    context.use_arena(arena);
  }

  // The result as text: two steps agree if their texts do.
  std::string run(const Step& step, Datum left, Datum right, bool in_place) {
    Datum registers[3] = {left, right, Datum::of_int(0x5eed)};
    Step own = step;
    own.a = 0;
    own.b = 1;
    own.result = in_place ? 0 : 2;
    try {
      const Step* next = own.run(&own, registers, context);
      if (next != &own + 1) return "goes astray";
    } catch (const SqlError& error) {
      const SqlDiagnostic& diagnostic = error.diagnostic();
      return std::string(diagnostic.state.text()) + ": " + diagnostic.message;
    }
    const Datum& result = registers[own.result];
    return result.null ? "NULL" : std::to_string(result.i64);
  }
};

std::string show(const BuiltinProcedure& procedure, size_t argument, Datum value) {
  if (value.null) return "NULL";
  if (procedure.arguments[argument] != type_oid::text) return std::to_string(value.i64);
  return concat("'", value.bytes().substr(0, 8), "' of ", value.length, " bytes");
}

void compare(const BuiltinProcedure& procedure, Step::Run specialised) {
  SCOPED_TRACE(concat(procedure.name, " ", procedure.oid));
  ASSERT_TRUE(procedure.strict);
  ASSERT_EQ(procedure.argument_count, 2);
  Oid types[] = {procedure.arguments[0], procedure.arguments[1]};
  steps::CallData data{find_function(procedure.oid), {types, procedure.result}};
  ASSERT_NE(data.function, nullptr);
  Step special{specialised};
  Step general{steps::call2_strict, 0, 0, 0, 2, &data};
  std::vector<Datum> left_values = boundary_values(types[0]);
  std::vector<Datum> right_values = boundary_values(types[1]);
  ASSERT_FALSE(left_values.empty()) << "no boundary values for type " << types[0];
  ASSERT_FALSE(right_values.empty()) << "no boundary values for type " << types[1];
  Machine machine;
  for (Datum left : left_values) {
    for (Datum right : right_values) {
      for (bool in_place : {false, true}) {
        ASSERT_EQ(machine.run(special, left, right, in_place),
                  machine.run(general, left, right, in_place))
            << show(procedure, 0, left) << ", " << show(procedure, 1, right);
      }
    }
  }
}

TEST(SpecialisedSteps, DoWhatTheirFunctionsDo) {
  for (const BuiltinProcedure& procedure : all_procedures()) {
    Step::Run specialised = steps::specialised_call2(procedure.oid);
    if (specialised != nullptr) compare(procedure, specialised);
  }
}

// A number in their lists that is no procedure's would never be run, nor compared above.
TEST(SpecialisedSteps, AreOfKnownProcedures) {
  constexpr Oid first_user_oid = 16384;
  for (Oid oid = 0; oid < first_user_oid; ++oid) {
    if (steps::specialised_call2(oid) != nullptr) {
      EXPECT_NE(find_procedure(oid), nullptr) << oid;
    }
  }
}

// Operators whose speed counts. Without this the comparison above would pass over an empty list.
TEST(SpecialisedSteps, ServeTheCommonOperators) {
  struct Signature {
    Oid left;
    Oid right;
    std::vector<std::string_view> operators;
  };
  std::vector<std::string_view> order = {"=", "<>", "<", "<=", ">", ">="};
  std::vector<std::string_view> arithmetic = {"=", "<>", "<", "<=", ">", ">=", "+", "-", "*"};
  std::vector<Signature> signatures = {{type_oid::text, type_oid::text, {"=", "<>"}}};
  for (Oid type : {type_oid::boolean, type_oid::oid, type_oid::date, type_oid::time,
                   type_oid::timestamp, type_oid::timestamptz}) {
    signatures.push_back({type, type, order});
  }
  for (Oid left : {type_oid::int2, type_oid::int4, type_oid::int8}) {
    for (Oid right : {type_oid::int2, type_oid::int4, type_oid::int8}) {
      signatures.push_back({left, right, arithmetic});
    }
  }
  for (const Signature& signature : signatures) {
    for (std::string_view name : signature.operators) {
      const BuiltinOperator* op = find_operator(name, signature.left, signature.right);
      ASSERT_NE(op, nullptr) << signature.left << " " << name << " " << signature.right;
      EXPECT_NE(steps::specialised_call2(op->procedure), nullptr)
          << signature.left << " " << name << " " << signature.right;
    }
  }
}

}  // namespace
}  // namespace pgsilo
