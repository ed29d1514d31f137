// What a transaction costs inside the engine: without log device, SQL and network. Rows of 100
// bytes under 8-byte keys.
//   bench/commit_benchmark --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "base/byte_order.h"
#include "base/random.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

constexpr uint64_t row_count = 1000000;

struct Key {
  explicit Key(uint64_t number) { store_be64(bytes, number); }
  std::string_view view() const { return {bytes, sizeof bytes}; }
  char bytes[8];
};

// One engine with a loaded relation for all benchmarks.
struct Loaded {
  Loaded() {
    TestSession session(engine);
    std::string row(100, 'r');
    session.begin();
    relation = session.transaction.create_relation({});
    for (uint64_t i = 0; i < row_count; ++i) require(session.insert(*relation, Key(i).view(), row));
    require(session.commit());
  }
  static void require(TransactionStatus status) {
    if (status != ok) std::abort();
  }
  static Loaded& instance() {
    static std::unique_ptr<Loaded> loaded = std::make_unique<Loaded>();
    return *loaded;
  }
  TestEngine engine;
  Relation* relation = nullptr;
};

void require(benchmark::State& state, TransactionStatus status) {
  if (status != ok) state.SkipWithError(std::string(name_of(status)).c_str());
}

void read_modify_write(benchmark::State& state, TransactionMode mode) {
  Loaded& loaded = Loaded::instance();
  TestSession session(loaded.engine);
  Random random(1);
  std::string row(100, 'w');
  for (auto _ : state) {
    session.transaction.begin(mode);
    for (int64_t i = 0; i < state.range(0); ++i) {
      require(state, session.transaction.begin_statement());  // may draw a key twice
      require(state, session.put(*loaded.relation, Key(random.below(row_count)).view(), row));
    }
    require(state, session.commit());
  }
}

void BM_ReadModifyWrite(benchmark::State& state) {
  read_modify_write(state, TransactionMode::one_shot);
}
BENCHMARK(BM_ReadModifyWrite)->Arg(1)->Arg(4);

void BM_InteractiveReadModifyWrite(benchmark::State& state) {
  read_modify_write(state, TransactionMode::interactive);
}
BENCHMARK(BM_InteractiveReadModifyWrite)->Arg(1)->Arg(4);

// The same row each time: no cache misses, the protocol's own cost.
void BM_ReadModifyWriteHot(benchmark::State& state) {
  Loaded& loaded = Loaded::instance();
  TestSession session(loaded.engine);
  std::string row(100, 'w');
  Key key(4711);
  for (auto _ : state) {
    session.transaction.begin(TransactionMode::one_shot);
    require(state, session.transaction.begin_statement());
    require(state, session.put(*loaded.relation, key.view(), row));
    require(state, session.commit());
  }
}
BENCHMARK(BM_ReadModifyWriteHot);

void BM_ReadOnly(benchmark::State& state) {
  Loaded& loaded = Loaded::instance();
  TestSession session(loaded.engine);
  Random random(2);
  for (auto _ : state) {
    session.transaction.begin(TransactionMode::one_shot);
    require(state, session.transaction.begin_statement());
    for (int64_t i = 0; i < state.range(0); ++i) {
      require(state, session.get(*loaded.relation, Key(random.below(row_count)).view()));
    }
    require(state, session.commit());
  }
}
BENCHMARK(BM_ReadOnly)->Arg(1)->Arg(4);

void BM_Scan100(benchmark::State& state) {
  Loaded& loaded = Loaded::instance();
  TestSession session(loaded.engine);
  Random random(3);
  for (auto _ : state) {
    uint64_t start = random.below(row_count - 100);
    Key lower(start), upper(start + 100);
    session.transaction.begin(TransactionMode::one_shot);
    require(state, session.transaction.begin_statement());
    TransactionScan scan(session.transaction, *loaded.relation,
                         {KeyBound::inclusive(lower.view()), KeyBound::exclusive(upper.view())},
                         ScanDirection::forward, session.buffer);
    RowRef row;
    int rows = 0;
    while (scan.next(&row) == ok) ++rows;
    if (rows != 100) state.SkipWithError("rows are missing");
    require(state, session.commit());
  }
}
BENCHMARK(BM_Scan100);

// A row by way of a secondary entry, over more entries than the caches hold.
void BM_IndexLookup(benchmark::State& state) {
  Loaded& loaded = Loaded::instance();
  TestSession session(loaded.engine);
  static Relation* index = nullptr;
  if (index == nullptr) {
    session.begin();
    index = session.transaction.create_relation({});
    for (uint64_t i = 0; i < row_count; ++i) {
      Loaded::require(session.insert(*index, Key(hash_integer(i)).view(), Key(i).view()));
    }
    Loaded::require(session.commit());
  }
  RowBuffer row_buffer(session.arena);
  RowRef row;
  Random random(4);
  for (auto _ : state) {
    session.transaction.begin(TransactionMode::one_shot);
    require(state, session.transaction.begin_statement());
    require(state, session.get(*index, Key(hash_integer(random.below(row_count / 10))).view()));
    require(state,
            session.transaction.get_via_entry(*loaded.relation, session.row, row_buffer, &row));
    require(state, session.commit());
  }
}
BENCHMARK(BM_IndexLookup);

// Ascending keys, one per transaction.
void BM_Insert(benchmark::State& state) {
  TestEngine engine;
  Relation& relation = engine.create_relation();
  TestSession session(engine);
  std::string row(100, 'i');
  uint64_t next = 0;
  for (auto _ : state) {
    session.transaction.begin(TransactionMode::one_shot);
    require(state, session.transaction.begin_statement());
    require(state, session.insert(relation, Key(next++).view(), row));
    require(state, session.commit());
  }
}
BENCHMARK(BM_Insert);

// Rows of a load into a private relation.
void BM_PrivateLoad(benchmark::State& state) {
  TestEngine engine;
  TestSession session(engine);
  std::string row(100, 'i');
  session.begin();
  Relation* relation = session.transaction.create_relation({});
  uint64_t next = 0;
  for (auto _ : state) require(state, session.insert(*relation, Key(next++).view(), row));
  session.transaction.abort();
}
BENCHMARK(BM_PrivateLoad);

// The pause of a giant commit: the time from before the first lock to after the last install, for
// so many updated rows.
void BM_LargeCommit(benchmark::State& state) {
  Loaded& loaded = Loaded::instance();
  TestSession session(loaded.engine);
  std::string row(100, 'l');
  for (auto _ : state) {
    session.transaction.begin(TransactionMode::one_shot);
    require(state, session.transaction.begin_statement());
    for (int64_t i = 0; i < state.range(0); ++i) {
      require(state, session.put(*loaded.relation, Key(static_cast<uint64_t>(i)).view(), row));
    }
    int64_t start = monotonic_ns();
    require(state, session.commit());
    state.SetIterationTime(static_cast<double>(monotonic_ns() - start) * 1e-9);
  }
}
BENCHMARK(BM_LargeCommit)
    ->Arg(1000)
    ->Arg(100000)
    ->Arg(1000000)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

void BM_Conflicts(benchmark::State& state) {
  static TestEngine engine;
  static Relation& relation = engine.create_relation();
  if (state.thread_index() == 0) {
    TestSession session(engine);
    for (uint64_t i = 0; i < 10; ++i) session.store(relation, Key(i).view(), "row");
  }
  TestSession session(engine);
  Random random(static_cast<uint64_t>(state.thread_index()));
  uint64_t conflicts = 0;
  for (auto _ : state) {
    for (;;) {
      session.transaction.begin(TransactionMode::one_shot);
      require(state, session.transaction.begin_statement());
      TransactionStatus status = session.put(relation, Key(random.below(10)).view(), "wor");
      if (status == ok && session.commit() == ok) break;
      session.transaction.abort();
      ++conflicts;
    }
  }
  state.counters["conflicts"] =
      benchmark::Counter(static_cast<double>(conflicts), benchmark::Counter::kAvgIterations);
}
BENCHMARK(BM_Conflicts)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace pgsilo

BENCHMARK_MAIN();
