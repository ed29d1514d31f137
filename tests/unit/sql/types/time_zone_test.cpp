// Zones by name: any letter case, POSIX and numeric spellings; and what is no zone.
#include "sql/types/time_zone.h"

#include <gtest/gtest.h>

namespace pgsilo {
namespace {

constexpr int64_t july_2020 = 1593561600;     // 2020-07-01 00:00 UTC
constexpr int64_t january_2020 = 1577836800;  // 2020-01-01 00:00 UTC

TEST(TimeZone, IsFoundByNameInAnyCase) {
  struct Case {
    const char* name;
    const char* shown;
    int32_t january;
    int32_t july;
  };
  for (const Case& c :
       {Case{"America/New_York", "America/New_York", -18000, -14400},
        Case{"america/new_york", "America/New_York", -18000, -14400},
        Case{"AMERICA/PORT-AU-PRINCE", "America/Port-au-Prince", -18000, -14400},
        Case{"us/eastern", "US/Eastern", -18000, -14400},
        Case{"est5edt", "EST5EDT", -18000, -14400}, Case{"utc", "UTC", 0, 0},
        Case{"etc/gmt+5", "Etc/GMT+5", -18000, -18000},
        Case{"America/Argentina/buenos_aires", "America/Argentina/Buenos_Aires", -10800, -10800},
        Case{"FOO+5:30", "FOO+5:30", -19800, -19800}, Case{"<+03>-3", "<+03>-3", 10800, 10800},
        Case{"5.5", "<+05:30>-05:30", 19800, 19800}, Case{"-8", "<-08>+08", -28800, -28800},
        Case{"+2", "<+02>-02", 7200, 7200}}) {
    std::optional<TimeZone> zone = TimeZone::load(c.name);
    ASSERT_TRUE(zone.has_value()) << c.name;
    EXPECT_EQ(zone->name(), c.shown);
    EXPECT_EQ(zone->offset_at(january_2020).seconds_east, c.january) << c.name;
    EXPECT_EQ(zone->offset_at(july_2020).seconds_east, c.july) << c.name;
  }
}

TEST(TimeZone, IsNotFoundWhereThereIsNone) {
  for (const char* name :
       {"", "nosuch", "America", "America/Nowhere", "/etc/localtime", "../etc/passwd",
        "America/../UTC", "tzdata.zi", "1000", "nan", "FOO", "<", "<>", "FOO+500"}) {
    EXPECT_FALSE(TimeZone::load(name).has_value()) << name;
  }
}

TEST(TimeZone, KnowsWhetherItsOffsetChanges) {
  EXPECT_TRUE(TimeZone::load("Etc/GMT+5")->has_one_offset());
  EXPECT_TRUE(TimeZone::fixed(3600).has_one_offset());
  EXPECT_FALSE(TimeZone::load("America/New_York")->has_one_offset());
}

TEST(TimeZone, FindsWhatAnAbbreviationMeant) {
  TimeZone moscow = *TimeZone::load("Europe/Moscow");
  int32_t east = 0;
  // Moscow was at UTC+4 all year from 2011 to 2014, and that was called MSK too.
  ASSERT_TRUE(moscow.find_abbreviation("msk", 1340000000, &east));
  EXPECT_EQ(east, 4 * 3600);
  ASSERT_TRUE(moscow.find_abbreviation("MSK", july_2020, &east));
  EXPECT_EQ(east, 3 * 3600);
  EXPECT_FALSE(moscow.find_abbreviation("XYZ", july_2020, &east));
}

}  // namespace
}  // namespace pgsilo
