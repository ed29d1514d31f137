// Buffers: what was promised before a phase can be taken in it, and no phase takes more than
// docs/spilling.md says. Whoever goes through tapes gives way.
#include "base/memory_budget.h"
#include "executor/spill/external_sort.h"
#include "executor/spill/partitions.h"
#include "tests/unit/base/counted_pauses.h"
#include "tests/unit/executor/spill/spill_fixture.h"

namespace pgsilo {
namespace {

using testing::SpillFixture;

// Full for whoever measures a second time.
MemoryUsage used_up_by_others() {
  static thread_local int measurements = 0;
  return {measurements++ == 0 ? 0 : size_t{1} << 30, 0};
}

struct Limited {
  explicit Limited(size_t bytes) : ceiling(bytes, 1, used_up_by_others), budget(ceiling, 0) {}
  MemoryCeiling ceiling;
  MemoryBudget budget;
  MemoryBudget::Use use{budget};
};

struct ByNumber final : RowOrder {
  int compare_rows(const Datum* left, const Datum* right) override {
    return left[0].i64 < right[0].i64 ? -1 : left[0].i64 > right[0].i64;
  }
};

struct SpillMemoryTest : SpillFixture {
  static constexpr size_t budget = size_t{4} << 20;
  void append(TapeWriter& writer, int64_t number) {
    Datum row[] = {Datum::of_int(number), Datum::of_bytes(text)};
    writer.append(row);
  }
  // In its own thread: whoever measures there is the first to do so.
  template <typename Run>
  std::string run_limited(size_t bytes, Run&& run) {
    std::string state;
    std::thread([&] {
      Limited limited(bytes);
      try {
        state = state_of(run);
      } catch (const MemoryLimitReached&) {
        state = "53200";
      }
    }).join();
    return state;
  }
  void add_runs(ExternalSort& sort, int64_t runs, int64_t rows) {
    for (int64_t run = 0; run < runs; ++run) {
      for (int64_t i = 0; i < rows; ++i) {
        Datum row[] = {Datum::of_int(i), Datum::of_bytes(text)};
        sort.append(row);
      }
      sort.end_run();
    }
  }
  std::string text = std::string(1000, 'x');
  ByNumber order;
};

TEST_F(SpillMemoryTest, AMergeHasWhatItWasPromised) {
  ExternalSort sort(files, budget, layout, order, UINT64_MAX);
  add_runs(sort, 32, 300);
  int64_t rows = 0;
  EXPECT_EQ(run_limited(6 << 20,
                        [&] {
                          sort.begin_merge();
                          while (sort.next() != nullptr) ++rows;
                        }),
            "none");
  EXPECT_EQ(rows, 32 * 300);
}

TEST_F(SpillMemoryTest, ADivisionHasWhatItWasPromised) {
  SpillFile file(files, budget);
  EXPECT_EQ(run_limited(9 << 19,
                        [&] {
                          SpillPartitions parts(file, layout, 0, SpillPartitions::count_for(file));
                          for (uint64_t i = 0; i < 5000; ++i) {
                            Datum row[] = {Datum::of_int(1), Datum::of_bytes(text)};
                            parts.append(i << 59, row);
                          }
                          parts.finish();
                        }),
            "none");
}

// Where nothing is admitted there is enough to merge and to divide in fours.
TEST_F(SpillMemoryTest, WhoIsRefusedHasTheLeast) {
  ExternalSort sort(files, budget, layout, order, UINT64_MAX);
  int64_t rows = 0;
  EXPECT_EQ(run_limited(0,
                        [&] {
                          add_runs(sort, 9, 300);
                          sort.begin_merge();
                          while (sort.next() != nullptr) ++rows;
                        }),
            "none");
  EXPECT_EQ(rows, 9 * 300);
}

TEST_F(SpillMemoryTest, LongWorkOnTapesGivesWay) {
  SpillFile file(files, budget);
  CountedPauses pauses;
  pauses.last = 1 << 20;
  Tape tape;
  run_with(pauses, [&] {
    TapeWriter writer(file, layout);
    for (int64_t i = 0; i < 2000; ++i) append(writer, i);
    tape = writer.finish();
  });
  EXPECT_GE(pauses.count, 20);
  pauses.count = 0;
  run_with(pauses, [&] {
    TapeReader reader(file, layout);
    reader.start(tape, true);
    while (reader.next() != nullptr) {
    }
  });
  EXPECT_GE(pauses.count, 20);
}

// Also where rows are few and short.
TEST_F(SpillMemoryTest, AMergeGivesWay) {
  text = "";
  ExternalSort sort(files, budget, layout, order, UINT64_MAX);
  add_runs(sort, 40, 1000);
  CountedPauses pauses;
  pauses.last = 1 << 20;
  run_with(pauses, [&] { sort.begin_merge(); });
  EXPECT_GE(pauses.count, 3);
  pauses.count = 0;
  run_with(pauses, [&] {
    while (sort.next() != nullptr) {
    }
  });
  EXPECT_GE(pauses.count, 10);
}

}  // namespace
}  // namespace pgsilo
