#include "base/long_work.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "base/asking_allocator.h"
#include "base/byte_buffer.h"
#include "tests/unit/base/counted_pauses.h"

namespace pgsilo {
namespace {

TEST(LongWorkTest, PausesAfterEachBlock) {
  CountedPauses pauses;
  run_with(pauses, [] {
    WorkMeter meter;
    for (size_t i = 0; i < 10 * WorkMeter::block; i += 1024) meter.did(1024);
  });
  EXPECT_EQ(pauses.count, 10);
}

TEST(LongWorkTest, EndsWithWhatAPauseThrows) {
  CountedPauses pauses;
  pauses.last = 3;
  std::string to(10 * WorkMeter::block, 'x');
  run_with(pauses, [&] { fill_value(to.data(), 'y', to.size()); });
  EXPECT_EQ(pauses.count, 3);
  EXPECT_EQ(to.find('x'), 3 * WorkMeter::block);
}

// What is there is copied a block at a time, whatever it grows by, and stays where it ends.
TEST(LongWorkTest, ContainersMoveInParts) {
  CountedPauses pauses;
  AskingVector<uint64_t> values;
  run_with(pauses, [&] {
    for (uint64_t i = 0; i < 1'000'000; ++i) append(values, i);
  });
  EXPECT_GE(pauses.count, 100);
  ASSERT_EQ(values.size(), 1'000'000);
  for (uint64_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i);

  CountedPauses buffer_pauses;
  ByteBuffer buffer;
  run_with(buffer_pauses, [&] {
    while (buffer.size() < 8'000'000) buffer.append("0123456789");
  });
  EXPECT_GE(buffer_pauses.count, 50);
  buffer_pauses.last = buffer_pauses.count + 1;
  run_with(buffer_pauses, [&] { buffer.reserve(buffer.capacity()); });
  EXPECT_EQ(buffer.size(), 8'000'000);
  EXPECT_EQ(buffer.view().substr(7'999'990), "0123456789");
}

// What must come to its end only gives way.
TEST(LongWorkTest, NeededWorkIsNotEnded) {
  CountedPauses pauses;
  pauses.last = 1;
  size_t done = 0;
  run_with(pauses, [&] {
    for (; done < 10 * WorkMeter::block; done += 1024) did_needed_work(1024);
  });
  EXPECT_EQ(done, 10 * WorkMeter::block);
  EXPECT_GE(pauses.ways_given, 9);
  EXPECT_EQ(pauses.count, 0);
}

TEST(LongWorkTest, DoesNotPauseWhereItMustNot) {
  CountedPauses pauses;
  run_with(pauses, [] {
    pause_work();
    {
      UnpausedWork unpaused;
      pause_work();
    }
    try {
      throw 1;
    } catch (int) {
      pause_work();
    }
    pause_work();
  });
  EXPECT_EQ(pauses.count, 2);
  pause_work();  // no fiber
}

TEST(LongWorkTest, RepeatsAPattern) {
  for (size_t unit : {size_t{1}, size_t{3}, size_t{1000}, WorkMeter::block - 1, WorkMeter::block,
                      WorkMeter::block + 1}) {
    std::string pattern;
    for (size_t i = 0; i < unit; ++i) pattern += static_cast<char>('a' + i % 23);
    for (size_t bytes : {size_t{0}, unit / 2, unit, 3 * WorkMeter::block + 7}) {
      std::string to(bytes + 1, '.');
      EXPECT_EQ(repeat_value(to.data(), pattern, bytes), to.data() + bytes);
      for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(to[i], pattern[i % unit]) << i;
      EXPECT_EQ(to[bytes], '.');
    }
  }
}

}  // namespace
}  // namespace pgsilo
