#include "wal/recovery/recovery_meter.h"

#include <gtest/gtest.h>

#include <vector>

namespace pgsilo {
namespace {

class Listener final : public RecoveryListener {
 public:
  void on_progress(const RecoveryProgress& progress) override { reports.push_back(progress); }
  std::vector<RecoveryProgress> reports;
};

TEST(RecoveryMeter, ReportsTwiceASecondAndAtTheEnd) {
  ManualClock clock;
  Listener listener;
  RecoveryMeter meter(clock, &listener);
  meter.expect(2000);
  meter.add(250);
  meter.report();
  EXPECT_TRUE(listener.reports.empty());
  clock.advance_us(500'000);
  meter.report();
  meter.report();
  ASSERT_EQ(listener.reports.size(), 1u);
  EXPECT_EQ(listener.reports[0].bytes_done, 250u);
  EXPECT_DOUBLE_EQ(listener.reports[0].percent(), 12.5);
  EXPECT_DOUBLE_EQ(listener.reports[0].bytes_per_second, 500);
  EXPECT_DOUBLE_EQ(listener.reports[0].seconds_left, 3.5);
  meter.add(750);
  meter.expect_only(1000);
  meter.add(1000);
  meter.report(/*now=*/true);
  ASSERT_EQ(listener.reports.size(), 2u);
  EXPECT_DOUBLE_EQ(listener.reports[1].percent(), 100);
  EXPECT_DOUBLE_EQ(listener.reports[1].seconds_left, 0);
}

TEST(RecoveryMeter, NeedsNoListener) {
  ManualClock clock;
  RecoveryMeter meter(clock, nullptr);
  meter.report(/*now=*/true);
  EXPECT_EQ(meter.done(), 0u);
}

}  // namespace
}  // namespace pgsilo
