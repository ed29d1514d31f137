#include <gtest/gtest.h>

#include <string>

#include "base/long_work.h"
#include "sql/types/text.h"

namespace pgsilo {
namespace {

// Parts that lie across what is searched in one piece, short ones and long ones.
TEST(FindPartTest, FindsWhereverItIs) {
  for (size_t length : {size_t{1}, size_t{2}, size_t{16}, size_t{17}, size_t{300},
                        WorkMeter::block - 1, WorkMeter::block + 5}) {
    std::string part(length - 1, 'a');
    part += 'b';
    for (size_t at : {size_t{0}, size_t{1}, WorkMeter::block - 1, WorkMeter::block,
                      2 * WorkMeter::block - length / 2, 3 * WorkMeter::block}) {
      for (size_t behind : {size_t{0}, size_t{1}, 2 * WorkMeter::block}) {
        std::string text = std::string(at, 'a') + part + std::string(behind, 'a');
        EXPECT_EQ(find_part(text, part), at) << length << ' ' << at;
        EXPECT_EQ(find_part(text, part, at), at);
        EXPECT_EQ(find_part(text, part, at + 1), std::string_view::npos);
        text[at + length - 1] = 'c';
        EXPECT_EQ(find_part(text, part), std::string_view::npos);
      }
    }
  }
}

TEST(FindPartTest, AtTheEnds) {
  EXPECT_EQ(find_part("", ""), 0u);
  EXPECT_EQ(find_part("abc", "", 3), 3u);
  EXPECT_EQ(find_part("abc", "", 4), std::string_view::npos);
  EXPECT_EQ(find_part("abc", "abcd"), std::string_view::npos);
  EXPECT_EQ(find_part("abc", "c", 3), std::string_view::npos);
  EXPECT_EQ(find_part("abc", "c", 9), std::string_view::npos);
}

}  // namespace
}  // namespace pgsilo
