#include "tests/sessions/reply_judge.h"

#include <gtest/gtest.h>

#include "tests/protocol/wire_messages.h"

namespace pgsilo::sessions {
namespace {

namespace wire = protocol_test;

// What a server says, message by message; a letter alone stands for a plain one of its kind.
std::string body_of(char type) {
  switch (type) {
    case 'T':
      return wire::int16(1) + wire::cstring("a") + wire::int32(0) + wire::int16(0) +
             wire::int32(23) + wire::int16(4) + wire::int32(-1) + wire::int16(0);
    case 'D':
      return wire::int16(1) + wire::int32(1) + "7";
    case 'C':
      return wire::cstring("SELECT 1");
    case 'E':
      return "S" + wire::cstring("ERROR") + "V" + wire::cstring("ERROR") + "C" +
             wire::cstring("22012") + "M" + wire::cstring("division by zero") + '\0';
    case 'G':
    case 'H':
      return std::string(1, '\0') + wire::int16(1) + wire::int16(0);
    case 't':
      return wire::int16(0);
    case 'Z':
      return "I";
    default:
      return "";
  }
}

class ReplyJudgeTest : public testing::Test {
 protected:
  void send(const std::string& types) {
    for (char type : types) judge_.sent(type, type == 'D' ? "P" : "");
  }
  // Empty, or what was wrong with the first of these that was.
  std::string say(const std::string& types) {
    for (char type : types) {
      std::string wrong = judge_.take(type, body_of(type));
      if (!wrong.empty()) return wrong;
    }
    return "";
  }
  ReplyJudge judge_;
};

TEST_F(ReplyJudgeTest, ASimpleQuery) {
  send("Q");
  EXPECT_FALSE(judge_.settled());
  EXPECT_EQ(say("TDDCTCCIZ"), "");
  EXPECT_TRUE(judge_.settled());
  send("Q");
  EXPECT_EQ(say("TDEZ"), "");
  EXPECT_TRUE(judge_.settled());
}

TEST_F(ReplyJudgeTest, ASimpleQueryMustSaySomething) {
  send("Q");
  EXPECT_NE(say("Z"), "");
}

TEST_F(ReplyJudgeTest, RowsNeedADescriptionOrAnExecute) {
  send("Q");
  EXPECT_NE(say("D"), "");
}

TEST_F(ReplyJudgeTest, NothingComesUnasked) {
  EXPECT_NE(say("C"), "");
  EXPECT_EQ(judge_.take('S', wire::cstring("a") + wire::cstring("b")), "");
}

TEST_F(ReplyJudgeTest, APipeline) {
  send("PBDESPBES");
  EXPECT_EQ(say("12TDDCZ12DsZ"), "");
  EXPECT_TRUE(judge_.settled());
}

TEST_F(ReplyJudgeTest, AfterAnErrorAllIsSkippedUpToSync) {
  send("PBDESPS");
  EXPECT_EQ(say("1EZ1Z"), "");
  send("PBES");
  EXPECT_EQ(say("1E"), "");
  EXPECT_NE(say("2"), "");
}

TEST_F(ReplyJudgeTest, EachSyncIsAnswered) {
  send("SS");
  EXPECT_EQ(say("ZZ"), "");
  EXPECT_NE(say("Z"), "");
}

TEST_F(ReplyJudgeTest, CopyIn) {
  send("Q");
  EXPECT_EQ(say("G"), "");
  EXPECT_TRUE(judge_.wants_copy_data());
  send("ddc");
  EXPECT_FALSE(judge_.wants_copy_data());
  EXPECT_EQ(say("CZ"), "");
  send("Qddf");
  EXPECT_EQ(say("GEZ"), "");
  EXPECT_TRUE(judge_.settled());
}

TEST_F(ReplyJudgeTest, ASyncWithinCopyIsNone) {
  send("PBESdcS");
  EXPECT_EQ(say("12GCZ"), "");
  EXPECT_TRUE(judge_.settled());
  EXPECT_NE(say("Z"), "");
}

TEST_F(ReplyJudgeTest, AnErrorWithinCopyMayComeBeforeOrBehindASync) {
  send("PBEdScS");
  EXPECT_EQ(say("12GEZ"), "");
  EXPECT_EQ(say("Z"), "");  // the first of them ended it, then there was another
}

TEST_F(ReplyJudgeTest, CopyOut) {
  send("QPBES");
  EXPECT_EQ(say("HddcCZ12HdcCZ"), "");
  EXPECT_TRUE(judge_.settled());
}

TEST_F(ReplyJudgeTest, LengthsAndCountsMustFit) {
  send("Q");
  EXPECT_EQ(say("T"), "");
  EXPECT_NE(judge_.take('D', wire::int16(2) + wire::int32(-1) + wire::int32(-1)), "");
  EXPECT_NE(judge_.take('D', wire::int16(1) + wire::int32(5) + "abc"), "");
  EXPECT_NE(judge_.take('D', wire::int16(1) + wire::int32(1) + "7" + "more"), "");
  EXPECT_NE(judge_.take('D', wire::int16(1) + wire::int32(1) + "\xff"), "");
  EXPECT_NE(judge_.take('E', "SERROR"), "");
  EXPECT_NE(judge_.take('E', "S" + wire::cstring("ERROR") + '\0'), "");
  EXPECT_NE(judge_.take('y', ""), "");
}

TEST_F(ReplyJudgeTest, TheStatusFollowsFromTheCommands) {
  send("Q");
  EXPECT_EQ(judge_.take('C', wire::cstring("BEGIN")), "");
  EXPECT_NE(judge_.take('Z', "I"), "");
  ReplyJudge other;
  other.sent('Q', "");
  EXPECT_EQ(other.take('C', body_of('C')), "");
  EXPECT_NE(other.take('Z', "T"), "");
  ReplyJudge failed;
  failed.sent('Q', "");
  EXPECT_EQ(failed.take('C', wire::cstring("BEGIN")), "");
  EXPECT_EQ(failed.take('E', body_of('E')), "");
  EXPECT_NE(failed.take('Z', "T"), "");
}

TEST_F(ReplyJudgeTest, TheEndIsTold) {
  EXPECT_FALSE(judge_.may_end());
  std::string fatal = "S" + wire::cstring("FATAL") + "V" + wire::cstring("FATAL") + "C" +
                      wire::cstring("57P01") + "M" + wire::cstring("it ends") + '\0';
  EXPECT_EQ(judge_.take('E', fatal), "");
  EXPECT_TRUE(judge_.may_end());
  EXPECT_NE(say("Z"), "");
}

TEST(Utf8Test, KnowsWhatIsNone) {
  EXPECT_TRUE(is_utf8("a\xc3\xa4\xf0\x9f\x90\x98"));
  for (const char* bytes : {"\xff", "\xc3", "\xc0\x80", "\xe4\xb8", "a\x80"})
    EXPECT_FALSE(is_utf8(bytes));
}

}  // namespace
}  // namespace pgsilo::sessions
