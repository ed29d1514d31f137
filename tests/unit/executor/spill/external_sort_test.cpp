// Runs of any number and length come out in order, from the first row again, and no more than are
// wanted.
#include "executor/spill/external_sort.h"

#include <algorithm>
#include <random>

#include "tests/unit/executor/spill/spill_fixture.h"

namespace pgsilo {
namespace {

using testing::SpillFixture;

struct ByNumber final : RowOrder {
  int compare_rows(const Datum* left, const Datum* right) override {
    return left[0].i64 < right[0].i64 ? -1 : left[0].i64 > right[0].i64;
  }
};

struct ExternalSortTest : SpillFixture {
  // Random numbers in runs of that many rows, sorted outside of memory.
  void add_runs(ExternalSort& sort, int runs, int rows) {
    for (int run = 0; run < runs; ++run) {
      Arena arena;
      std::vector<Datum*> sorted;
      for (int i = 0; i < rows; ++i) {
        auto number = static_cast<int64_t>(random() % 100000);
        numbers.push_back(number);
        Datum* row = arena.make_span<Datum>(2).data();
        row[0] = Datum::of_int(number);
        row[1] = Datum::of_bytes(arena.copy_string(std::to_string(number)));
        sorted.push_back(row);
      }
      std::sort(sorted.begin(), sorted.end(),
                [](const Datum* a, const Datum* b) { return a[0].i64 < b[0].i64; });
      sort.add_run(sorted);
    }
    std::sort(numbers.begin(), numbers.end());
  }
  void expect_sorted(ExternalSort& sort, size_t wanted = SIZE_MAX) {
    sort.begin_merge();
    for (size_t i = 0; i < std::min(wanted, numbers.size()); ++i) {
      const Datum* row = sort.next();
      ASSERT_NE(row, nullptr);
      ASSERT_EQ(row[0].i64, numbers[i]);
      ASSERT_EQ(row[1].bytes(), std::to_string(numbers[i]));
    }
    ASSERT_EQ(sort.next(), nullptr);
    ASSERT_EQ(sort.next(), nullptr);
  }

  std::mt19937_64 random{7};
  std::vector<int64_t> numbers;
  ByNumber order;
};

TEST_F(ExternalSortTest, OneRun) {
  ExternalSort sort(files, 64 << 10, layout, order, UINT64_MAX);
  add_runs(sort, 1, 1000);
  expect_sorted(sort);
}

TEST_F(ExternalSortTest, RunsOfSeveralPasses) {
  for (int runs : {2, 4, 5, 7, 16, 17, 100}) {
    numbers.clear();
    ExternalSort sort(files, 64 << 10, layout, order, UINT64_MAX);
    add_runs(sort, runs, 700);
    expect_sorted(sort);
    expect_sorted(sort);
  }
}

TEST_F(ExternalSortTest, NoMoreThanAreWanted) {
  ExternalSort sort(files, 64 << 10, layout, order, 50);
  add_runs(sort, 40, 700);
  expect_sorted(sort, 50);
  EXPECT_LT(files.bytes(), 1u << 20);
}

TEST_F(ExternalSortTest, MergesThatAreLeftEarly) {
  ExternalSort sort(files, 64 << 10, layout, order, UINT64_MAX);
  add_runs(sort, 4, 5000);
  for (int turn = 0; turn < 100; ++turn) {
    sort.begin_merge();
    ASSERT_EQ(sort.next()[0].i64, numbers[0]);
  }
  expect_sorted(sort);
}

TEST_F(ExternalSortTest, CancelledInTheMidst) {
  ExternalSort sort(files, 64 << 10, layout, order, UINT64_MAX);
  add_runs(sort, 9, 5000);
  cancelled = true;
  EXPECT_EQ(state_of([&] {
              sort.begin_merge();
              while (sort.next() != nullptr) {
              }
            }),
            "57014");
}

}  // namespace
}  // namespace pgsilo
