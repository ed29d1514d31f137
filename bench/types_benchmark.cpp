// What one value costs: reading, printing, comparing, hashing, and as a key. Run under `valgrind
// --tool=callgrind` these count instructions that do not depend on the machine.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/arena.h"
#include "base/byte_buffer.h"
#include "sql/types/key_codec.h"
#include "sql/types/numeric.h"
#include "sql/types/type.h"

namespace pgsilo {
namespace {

struct Sample {
  Oid type;
  const char* text;
  const char* other;
};
constexpr Sample samples[] = {
    {type_oid::int4, "123456", "123457"},
    {type_oid::int8, "-1234567890123", "7"},
    {type_oid::float8, "12345.678", "1e100"},
    {type_oid::text, "a text of some length", "a text of some height"},
    {type_oid::numeric, "12345.67", "12345.6"},
    {type_oid::numeric, "1234567890123456789012345.678", "1"},
    {type_oid::date, "2024-02-29", "2023-01-01"},
    {type_oid::timestamp, "2024-02-29 12:34:56.789", "2023-01-01 00:00:00"},
    {type_oid::timestamptz, "2024-02-29 12:34:56.789+00", "2023-01-01 00:00:00+00"},
    {type_oid::interval, "1 day 02:03:04", "1 mon"},
};

struct Fixture {
  explicit Fixture(const benchmark::State& state)
      : sample(samples[state.range(0)]), type(type_info(sample.type)) {
    context.arena = &arena;
    value = copy_datum(type.parse(sample.text, no_typmod, context), type, values);
    other = copy_datum(type.parse(sample.other, no_typmod, context), type, values);
  }
  void label(benchmark::State& state) const { state.SetLabel(std::string(type.name)); }

  const Sample& sample;
  const TypeInfo& type;
  Arena arena;
  Arena values;
  TypeContext context;
  Datum value;
  Datum other;
};

void parse(benchmark::State& state) {
  Fixture f(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(f.type.parse(f.sample.text, no_typmod, f.context));
    f.arena.reset();
  }
  f.label(state);
}

void print(benchmark::State& state) {
  Fixture f(state);
  ByteBuffer out;
  for (auto _ : state) {
    out.clear();
    f.type.print(f.value, out, f.context);
    benchmark::DoNotOptimize(out.data());
  }
  f.label(state);
}

void compare(benchmark::State& state) {
  Fixture f(state);
  for (auto _ : state) benchmark::DoNotOptimize(f.type.compare(f.value, f.other));
  f.label(state);
}

void hash(benchmark::State& state) {
  Fixture f(state);
  for (auto _ : state) benchmark::DoNotOptimize(f.type.hash(f.value));
  f.label(state);
}

void key(benchmark::State& state) {
  Fixture f(state);
  KeyColumn column{&f.type, false, false, false};
  ByteBuffer out;
  for (auto _ : state) {
    out.clear();
    encode_key(column, f.value, out);
    benchmark::DoNotOptimize(out.data());
  }
  f.label(state);
}

void every_sample(benchmark::internal::Benchmark* benchmark) {
  for (size_t i = 0; i < std::size(samples); ++i) benchmark->Arg(static_cast<int64_t>(i));
}

BENCHMARK(parse)->Apply(every_sample);
BENCHMARK(print)->Apply(every_sample);
BENCHMARK(compare)->Apply(every_sample);
BENCHMARK(hash)->Apply(every_sample);
BENCHMARK(key)->Apply(every_sample);

void numeric_arithmetic(benchmark::State& state) {
  Arena arena;
  Arena values;
  Datum left = parse_numeric("12345.67", no_typmod, values);
  Datum right = parse_numeric("3.14159", no_typmod, values);
  auto operation = state.range(0) == 0   ? numeric_add
                   : state.range(0) == 1 ? numeric_mul
                                         : numeric_div;
  for (auto _ : state) {
    benchmark::DoNotOptimize(operation(left, right, arena));
    arena.reset();
  }
}
BENCHMARK(numeric_arithmetic)->Arg(0)->Arg(1)->Arg(2);

}  // namespace
}  // namespace pgsilo

BENCHMARK_MAIN();
