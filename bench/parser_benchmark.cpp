// What a text costs to parse, from its bytes to our syntax tree. Counted, not timed:
//   valgrind --tool=callgrind --toggle-collect='pgsilo::parse(*' bench/parser_benchmark
//     --benchmark_filter=insert_of_rows
// tells the instructions of all iterations; each benchmark has as many as it says.
#include <benchmark/benchmark.h>

#include <string>

#include "base/arena.h"
#include "sql/parser/parser.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

constexpr int iterations = 100;

void parse_text(benchmark::State& state, const std::string& text) {
  Arena arena;
  for (auto _ : state) {
    benchmark::DoNotOptimize(parse(text, arena));
    arena.reset();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}

std::string insert_of_rows(int rows, const char* row) {
  std::string text = "INSERT INTO t VALUES ";
  for (int i = 0; i < rows; ++i) text += concat(i > 0 ? ", (" : "(", i, ", ", row, ")");
  return text;
}

std::string join_of_lines(int lines) {
  std::string text = "SELECT t0.id, sum(t0.amount * 2) AS total\nFROM t0\n";
  for (int i = 1; i < lines - 4; ++i) {
    text += concat("LEFT JOIN t", i, " ON t", i, ".id = t", i - 1, ".next_id AND t", i,
                   ".kind = 'k", i, "'\n");
  }
  return text +
         "WHERE t0.id > 10 OR t0.name LIKE 'a%'\nGROUP BY t0.id\nORDER BY total DESC LIMIT 10";
}

void add(const char* name, const std::string& text) {
  benchmark::RegisterBenchmark(name, [text](benchmark::State& state) {
    parse_text(state, text);
  })->Iterations(iterations);
}

void add_all() {
  add("select_1", "select 1");
  add("tpcb_update_account",
      "UPDATE pgbench_accounts SET abalance = abalance + -3456 WHERE aid = 71234;");
  add("tpcb_select", "SELECT abalance FROM pgbench_accounts WHERE aid = 71234;");
  add("tpcb_update_teller",
      "UPDATE pgbench_tellers SET tbalance = tbalance + -3456 WHERE tid = 7;");
  add("tpcb_update_branch",
      "UPDATE pgbench_branches SET bbalance = bbalance + -3456 WHERE bid = 1;");
  add("tpcb_insert",
      "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (7, 1, 71234, -3456, "
      "CURRENT_TIMESTAMP);");
  add("insert_of_constants", insert_of_rows(1000, "'a name', 12.5"));
  add("insert_of_expressions", insert_of_rows(1000, "lower('A Name'), 2 + 3"));
  add("join_of_100_lines", join_of_lines(100));
}

}  // namespace
}  // namespace pgsilo

int main(int argc, char** argv) {
  pgsilo::add_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
