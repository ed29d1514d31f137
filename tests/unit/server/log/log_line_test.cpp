#include "server/log/log_line.h"

#include <gtest/gtest.h>

#include <string>

#include "server/limits.h"

namespace pgsilo {
namespace {

constexpr int64_t at_us = 1'700'000'000'123'456;  // 2023-11-14 22:13:20.123

LogSpeaker session() {
  LogSpeaker speaker;
  speaker.is_session = true;
  speaker.process = 42;
  speaker.user = "ann";
  speaker.database = "shop";
  speaker.application = "psql";
  speaker.host = "127.0.0.1";
  speaker.port = 5000;
  speaker.start_us = 1'699'999'999'000'000;
  speaker.line = 7;
  speaker.command = "SELECT";
  speaker.query_id = 99;
  return speaker;
}

std::string prefix(std::string_view format, const LogSpeaker& speaker = session()) {
  return format_log_prefix(format, speaker, "22012", at_us);
}

TEST(LogLineTest, Escapes) {
  EXPECT_EQ(prefix("%m [%p] "), "2023-11-14 22:13:20.123 UTC [42] ");
  EXPECT_EQ(prefix("%t|%n|%s"), "2023-11-14 22:13:20 UTC|1700000000.123|2023-11-14 22:13:19 UTC");
  EXPECT_EQ(prefix("%u@%d %a %h %r"), "ann@shop psql 127.0.0.1 127.0.0.1(5000)");
  EXPECT_EQ(prefix("%c %l %e %i %x %Q %b"), "6553f0ff.2a 7 22012 SELECT 0 99 client backend");
  EXPECT_EQ(prefix("100%% %z|"), "100% |");
  EXPECT_EQ(prefix("%5p|%-5p|%1p"), "   42|42   |42");
  EXPECT_EQ(prefix("%"), "");
  EXPECT_EQ(prefix("a%-"), "a");
}

TEST(LogLineTest, WhoIsNoSessionStopsAtQ) {
  LogSpeaker server;
  server.process = 1;
  EXPECT_EQ(prefix("%p %q%u@%d ", server), "1 ");
  EXPECT_EQ(prefix("%p %u@%d ", server), "1 @ ");
  LogSpeaker unknown;
  unknown.is_session = true;
  EXPECT_EQ(prefix("%q%u@%d ", unknown), "[unknown]@[unknown] ");
}

TEST(LogLineTest, FieldsHaveThePrefixAndLaterLinesATab) {
  LogEntry entry;
  entry.level = LogLevel::error;
  entry.state = "42601";
  entry.message = "wrong\nvery";
  entry.detail = "so it is";
  entry.hint = "do\nright";
  entry.context = "there";
  entry.statement = "select\n1";
  entry.position = 3;
  entry.file = "parser.cpp";
  entry.routine = "parse";
  entry.source_line = 12;
  EXPECT_EQ(format_log_entry(entry, session(), "%p ", LogVerbosity::standard, at_us),
            "42 ERROR:  wrong\n\tvery at character 3\n"
            "42 DETAIL:  so it is\n"
            "42 HINT:  do\n\tright\n"
            "42 CONTEXT:  there\n"
            "42 STATEMENT:  select\n\t1\n");
  EXPECT_EQ(format_log_entry(entry, session(), "", LogVerbosity::terse, at_us),
            "ERROR:  wrong\n\tvery at character 3\nSTATEMENT:  select\n\t1\n");
  EXPECT_EQ(format_log_entry(entry, session(), "", LogVerbosity::verbose, at_us),
            "ERROR:  42601: wrong\n\tvery at character 3\nDETAIL:  so it is\nHINT:  do\n\tright\n"
            "CONTEXT:  there\nLOCATION:  parse, parser.cpp:12\nSTATEMENT:  select\n\t1\n");
}

// So that one of them does not take the place of all that is queued.
TEST(LogLineTest, LongTextsAreCutOff) {
  LogEntry entry;
  entry.level = LogLevel::error;
  entry.message = "wrong";
  std::string fits(limits::logged_text_bytes, 'x');
  std::string statement = fits;
  entry.statement = statement;
  EXPECT_TRUE(format_log_entry(entry, session(), "", LogVerbosity::standard, at_us) ==
              "ERROR:  wrong\nSTATEMENT:  " + fits + "\n");
  statement += fits;
  entry.statement = statement;
  EXPECT_TRUE(format_log_entry(entry, session(), "", LogVerbosity::standard, at_us) ==
              "ERROR:  wrong\nSTATEMENT:  " + fits + "...\n");
}

}  // namespace
}  // namespace pgsilo
