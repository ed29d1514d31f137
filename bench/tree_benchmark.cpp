// The index tree alone: point lookups, inserts, appends and scans, one thread. Keys: numbers of 5,
// 8 and 9 bytes as the key codec makes them, and 24-byte strings with long common prefixes.
//   build/release/bench/tree_benchmark
// Instructions per operation, repeatable on any machine: callgrind counts only measured() (the loop
// itself), e.g.
//   valgrind --tool=callgrind --toggle-collect='*measured*' build/release/bench/tree_benchmark
//     --benchmark_filter='Get/.*8:keys:100000' --benchmark_min_time=1
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "storage/index/index_tree.h"

namespace pgsilo {
namespace {

std::string key_of(uint64_t number, int64_t bytes) {
  std::string key;
  if (bytes == 24)
    key = "warehouse/" +
          std::to_string(100000 + number / 1000);  // 16 bytes shared by a thousand keys
  int64_t digits = bytes == 24 ? 8 : std::min<int64_t>(bytes, 8);
  if (bytes == 9) key = "\x01";
  for (int64_t byte = digits - 1; byte >= 0; --byte)
    key.push_back(static_cast<char>(number >> (8 * byte)));
  return key;
}

class LoadedTree {
 public:
  LoadedTree(int64_t key_bytes, int64_t count) {
    TreeAppender appender(tree);
    NodeChanges changes;
    for (int64_t i = 0; i < count; ++i) {
      Record* record =
          tree.records().create_filled(key_of(i, key_bytes), std::string(97, 'r'), Tid(), handle);
      appender.append(record, handle, changes);
    }
  }
  Reclaimer reclaimer;
  ReclaimerHandle handle{reclaimer};
  Pin pin{handle};
  IndexTree tree{RelationId(1)};
};

std::vector<std::string> shuffled_keys(int64_t key_bytes, int64_t count, int64_t of) {
  std::mt19937_64 random(7);
  std::vector<std::string> keys;
  keys.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    keys.push_back(key_of(random() % static_cast<uint64_t>(of), key_bytes));
  return keys;
}

__attribute__((noinline)) uint64_t measured_gets(const IndexTree& tree,
                                                 const std::vector<std::string>& keys) {
  uint64_t bytes = 0;
  for (const std::string& key : keys) bytes += tree.get(key).record->tid_word().load().bits();
  return bytes;
}

void Get(benchmark::State& state) {
  LoadedTree loaded(state.range(0), state.range(1));
  std::vector<std::string> keys = shuffled_keys(state.range(0), 10000, state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(measured_gets(loaded.tree, keys));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(keys.size()));
}

__attribute__((noinline)) size_t measured_reads(const IndexTree& tree,
                                                const std::vector<std::string>& keys,
                                                RowBuffer& buffer) {
  size_t bytes = 0;
  for (const std::string& key : keys) {
    tree.get(key).record->stable_read(buffer);
    bytes += buffer.bytes().size();
  }
  return bytes;
}

void GetAndReadRow(benchmark::State& state) {
  LoadedTree loaded(state.range(0), state.range(1));
  std::vector<std::string> keys = shuffled_keys(state.range(0), 10000, state.range(1));
  Arena arena;
  RowBuffer buffer(arena);
  for (auto _ : state) benchmark::DoNotOptimize(measured_reads(loaded.tree, keys, buffer));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(keys.size()));
}

__attribute__((noinline)) void measured_inserts(IndexTree& tree,
                                                const std::vector<Record*>& records,
                                                ReclaimerHandle& handle) {
  NodeChanges changes;
  for (Record* record : records) benchmark::DoNotOptimize(tree.insert(record, handle, changes));
}

void insert_in_order(benchmark::State& state, bool ascending) {
  for (auto _ : state) {
    state.PauseTiming();
    auto loaded = std::make_unique<LoadedTree>(state.range(0), 0);
    std::vector<Record*> records;
    records.reserve(static_cast<size_t>(state.range(1)));
    for (int64_t i = 0; i < state.range(1); ++i) {
      records.push_back(
          loaded->tree.records().create(key_of(i, state.range(0)), 97, loaded->handle));
    }
    std::mt19937_64 random(8);
    if (!ascending) std::shuffle(records.begin(), records.end(), random);
    state.ResumeTiming();
    measured_inserts(loaded->tree, records, loaded->handle);
    state.PauseTiming();
    loaded.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
}

void InsertRandom(benchmark::State& state) { insert_in_order(state, false); }
void InsertAscending(benchmark::State& state) { insert_in_order(state, true); }

__attribute__((noinline)) void measured_appends(IndexTree& tree,
                                                const std::vector<Record*>& records,
                                                ReclaimerHandle& handle) {
  TreeAppender appender(tree);
  NodeChanges changes;
  for (Record* record : records) benchmark::DoNotOptimize(appender.append(record, handle, changes));
}

void Append(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto loaded = std::make_unique<LoadedTree>(state.range(0), 0);
    std::vector<Record*> records;
    records.reserve(static_cast<size_t>(state.range(1)));
    for (int64_t i = 0; i < state.range(1); ++i) {
      records.push_back(
          loaded->tree.records().create(key_of(i, state.range(0)), 97, loaded->handle));
    }
    state.ResumeTiming();
    measured_appends(loaded->tree, records, loaded->handle);
    state.PauseTiming();
    loaded.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
}

__attribute__((noinline)) uint64_t measured_scan(const IndexTree& tree, ScanDirection direction) {
  uint64_t sum = 0;
  ScanCursor cursor(tree, {}, direction, nullptr);
  while (Record* record = cursor.next()) sum += record->tid_word().load().bits();
  return sum;
}

void ScanAll(benchmark::State& state) {
  LoadedTree loaded(state.range(0), state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(measured_scan(loaded.tree, ScanDirection::forward));
  state.SetItemsProcessed(state.iterations() * state.range(1));
}

void ScanAllBackward(benchmark::State& state) {
  LoadedTree loaded(state.range(0), state.range(1));
  for (auto _ : state)
    benchmark::DoNotOptimize(measured_scan(loaded.tree, ScanDirection::backward));
  state.SetItemsProcessed(state.iterations() * state.range(1));
}

__attribute__((noinline)) uint64_t measured_short_scans(const IndexTree& tree,
                                                        const std::vector<std::string>& starts) {
  uint64_t sum = 0;
  for (const std::string& start : starts) {
    ScanCursor cursor(tree, {KeyBound::inclusive(start), KeyBound::none()}, ScanDirection::forward,
                      nullptr);
    for (int i = 0; i < 10; ++i) {
      if (Record* record = cursor.next()) sum += record->tid_word().load().bits();
    }
  }
  return sum;
}

void ScanOfTen(benchmark::State& state) {
  LoadedTree loaded(state.range(0), state.range(1));
  std::vector<std::string> starts = shuffled_keys(state.range(0), 1000, state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(measured_short_scans(loaded.tree, starts));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(starts.size()));
}

__attribute__((noinline)) void measured_removes(IndexTree& tree,
                                                const std::vector<Record*>& records,
                                                ReclaimerHandle& handle) {
  for (Record* record : records) benchmark::DoNotOptimize(tree.remove(record, handle));
}

void Remove(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto loaded = std::make_unique<LoadedTree>(state.range(0), state.range(1));
    std::vector<Record*> records;
    loaded->tree.for_each([&](Record* record) { records.push_back(record); });
    std::mt19937_64 random(9);
    std::shuffle(records.begin(), records.end(), random);
    state.ResumeTiming();
    measured_removes(loaded->tree, records, loaded->handle);
    state.PauseTiming();
    for (Record* record : records) loaded->tree.records().destroy(record, loaded->handle);
    loaded.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"bytes", "keys"});
  for (int64_t keys : {100'000, 1'000'000}) {
    for (int64_t bytes : {8, 24}) benchmark->Args({bytes, keys});
  }
}

void sizes_of_point_reads(benchmark::internal::Benchmark* benchmark) {
  sizes(benchmark);
  for (int64_t bytes : {5, 9}) benchmark->Args({bytes, 5'000'000});
}

BENCHMARK(Get)->Apply(sizes_of_point_reads);
BENCHMARK(GetAndReadRow)->Apply(sizes_of_point_reads);
BENCHMARK(InsertRandom)->Apply(sizes)->Unit(benchmark::kMillisecond);
BENCHMARK(InsertAscending)->Apply(sizes)->Unit(benchmark::kMillisecond);
BENCHMARK(Append)->Apply(sizes)->Unit(benchmark::kMillisecond);
BENCHMARK(ScanAll)->Apply(sizes)->Unit(benchmark::kMillisecond);
BENCHMARK(ScanAllBackward)->Apply(sizes)->Unit(benchmark::kMillisecond);
BENCHMARK(ScanOfTen)->Apply(sizes);
BENCHMARK(Remove)->Apply(sizes)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pgsilo

BENCHMARK_MAIN();
