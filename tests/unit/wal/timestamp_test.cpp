#include "wal/backup/timestamp.h"

#include <gtest/gtest.h>

namespace pgsilo {
namespace {

TEST(TimestampTest, IsReadAsItIsWritten) {
  for (uint64_t us : {uint64_t{0}, uint64_t{1'700'000'000'000'000}, uint64_t{951'782'400'250'000},
                      uint64_t{4'107'542'399'999'999}}) {
    uint64_t found = 1;
    EXPECT_TRUE(parse_timestamp(timestamp_text(us), &found)) << timestamp_text(us);
    EXPECT_EQ(found, us);
  }
  EXPECT_EQ(timestamp_text(1'700'000'000'250'000), "2023-11-14 22:13:20.25+00");
  constexpr uint64_t moment = 1'700'000'000'000'000;
  for (const char* text : {"2023-11-14T22:13:20Z", "2023-11-14 22:13:20 UTC",
                           "2023-11-14 23:13:20.000000+01", "2023-11-15 03:43:20+0530",
                           "2023-11-14 12:43:20-09:30", "2023-11-14 22:13:20.0000009+00"}) {
    uint64_t found = 0;
    EXPECT_TRUE(parse_timestamp(text, &found)) << text;
    EXPECT_EQ(found, moment) << text;
  }
  for (const char* text :
       {"", "yesterday", "2023-11-14", "2023-11-14 22:13:20", "2023-02-30 22:13Z",
        "2023-13-01 22:13Z", "2023-11-14 24:00Z", "2023-11-14 22:13:20.Z", "2023-11-14 22:13:20+1",
        "2023-11-14 22:13:20Zulu", "23-11-14 22:13Z", "1969-12-31 23:59:59Z",
        "2023-11-14 22:13:20+01:"}) {
    uint64_t found = 0;
    EXPECT_FALSE(parse_timestamp(text, &found)) << text;
  }
}

}  // namespace
}  // namespace pgsilo
