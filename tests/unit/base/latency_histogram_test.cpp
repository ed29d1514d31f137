#include "base/latency_histogram.h"

#include <gtest/gtest.h>

namespace pgsilo {
namespace {

template <typename Histogram>
class LatencyHistogramTest : public ::testing::Test {};
using Histograms = ::testing::Types<LatencyHistogram, SharedLatencyHistogram>;
TYPED_TEST_SUITE(LatencyHistogramTest, Histograms);

TYPED_TEST(LatencyHistogramTest, PercentilesAreOffByAThirtySecondAtMost) {
  TypeParam times;
  EXPECT_EQ(times.percentile_us(0.5), 0);
  for (int64_t us = 1; us <= 1000; ++us) times.add(us * 1000);
  EXPECT_NEAR(times.percentile_us(0.5), 500, 500.0 / 32);
  EXPECT_NEAR(times.percentile_us(0.99), 990, 990.0 / 32);
}

TYPED_TEST(LatencyHistogramTest, AddsOthers) {
  TypeParam first, second;
  first.add(1'000'000);
  second.add(3'000'000);
  second.add(-1);  // a clock that went back
  first.add(second);
  EXPECT_EQ(first.percentile_us(0.3), 0);
  EXPECT_NEAR(first.percentile_us(0.6), 1000, 1000.0 / 32);
  EXPECT_NEAR(first.percentile_us(1), 3000, 3000.0 / 32);
}

}  // namespace
}  // namespace pgsilo
