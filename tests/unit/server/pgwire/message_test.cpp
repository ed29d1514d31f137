#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/long_work.h"
#include "executor/executable_plan.h"
#include "server/pgwire/message_reader.h"
#include "server/pgwire/message_writer.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

using namespace std::string_literals;

template <typename Read>
std::string message_of(Read read) {
  try {
    read();
  } catch (const SqlError& error) {
    EXPECT_EQ(error.state(), sqlstate::protocol_violation);
    return error.what();
  }
  return "";
}

TEST(MessageReaderTest, ReadsFieldsInOrder) {
  std::string body = "\x07\x01\x02\xff\xff\xff\xfe"s + "name\0rest"s;
  MessageReader reader(body);
  EXPECT_EQ(reader.byte(), 7);
  EXPECT_EQ(reader.uint16(), 0x0102);
  EXPECT_EQ(reader.int32(), -2);
  EXPECT_EQ(reader.cstring(), "name");
  EXPECT_EQ(reader.bytes(4), "rest");
  reader.end();
}

TEST(MessageReaderTest, ReadsLongStrings) {
  for (size_t size : {WorkMeter::block - 1, WorkMeter::block, WorkMeter::block + 1}) {
    std::string text(size, 'x');
    std::string body = text + "\0y\0"s;
    MessageReader reader(body);
    EXPECT_TRUE(reader.cstring() == text);
    EXPECT_EQ(reader.cstring(), "y");
    EXPECT_EQ(message_of([&] { MessageReader(text).cstring(); }), "invalid string in message");
  }
}

TEST(MessageReaderTest, RefusesShortAndLongBodies) {
  EXPECT_EQ(message_of([] { MessageReader("abc").uint32(); }), "insufficient data left in message");
  EXPECT_EQ(message_of([] { MessageReader("abc").cstring(); }), "invalid string in message");
  EXPECT_EQ(message_of([] { MessageReader("abc").end(); }), "invalid message format");
  EXPECT_EQ(message_of([] { MessageReader("abc").bytes(SIZE_MAX); }),
            "insufficient data left in message");
}

TEST(MessageWriterTest, FramesMessages) {
  ByteBuffer out;
  MessageWriter writer(out);
  writer.command_complete("SELECT 1");
  EXPECT_EQ(out.view(), "C\0\0\0\x0dSELECT 1\0"s);
  out.clear();
  writer.ready_for_query(ReadyState::failed);
  EXPECT_EQ(out.view(),
            "Z\0\0\0\x05"
            "E"s);
  out.clear();
  writer.bare(BackendMessage::parse_complete);
  EXPECT_EQ(out.view(), "1\0\0\0\x04"s);
}

TEST(MessageWriterTest, DescribesColumnsInTheirFormats) {
  std::array<ResultColumn, 2> columns;
  columns[0].name = "a";
  columns[0].type_oid = 23;
  columns[0].type_length = 4;
  columns[0].table_oid = 16385;
  columns[0].column_number = 2;
  columns[1].name = "b";
  columns[1].type_oid = 25;
  columns[1].type_modifier = 8;
  std::array<WireFormat, 2> formats = {WireFormat::binary, WireFormat::text};
  ByteBuffer out;
  MessageWriter(out).row_description(columns, formats);
  EXPECT_EQ(out.view(),
            "T\0\0\0\x2e\0\x02"
            "a\0\0\0\x40\x01\0\x02\0\0\0\x17\0\x04\xff\xff\xff\xff\0\x01"
            "b\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\0\0\0\x08\0\0"s);
}

TEST(MessageWriterTest, ErrorsCarryTheirFields) {
  const std::string line = std::to_string(__LINE__ + 2);
  SqlError error =
      SqlError(sqlstate::undefined_table, "relation \"t\" does not exist").at(15).hint("make it");
  ByteBuffer out;
  MessageWriter(out).diagnostic(error.diagnostic());
  EXPECT_EQ(out.view().substr(5),
            "SERROR\0VERROR\0C42P01\0Mrelation \"t\" does not exist\0Hmake it\0P15\0"
            "Fmessage_test.cpp\0L"s +
                line + "\0RTestBody\0\0"s);
  EXPECT_EQ(out.data()[0], 'E');
  out.clear();
  MessageWriter(out).diagnostic(SqlError(Severity::warning, sqlstate::warning, "w").diagnostic());
  EXPECT_EQ(out.data()[0], 'N');
}

// What an exception has left of a message is no part of what follows.
TEST(MessageWriterTest, AnUnfinishedMessageIsCut) {
  ByteBuffer out;
  MessageWriter messages(out);
  messages.command_complete("SELECT 1");
  std::string before(out.view());
  messages.cut();  // nothing is unfinished
  EXPECT_EQ(out.view(), before);
  messages.begin(BackendMessage::data_row);
  out.append("half of a row");
  messages.cut();
  EXPECT_EQ(out.view(), before);
  // The buffer was emptied meanwhile.
  messages.begin(BackendMessage::data_row);
  out.clear();
  messages.cut();
  EXPECT_TRUE(out.empty());
  messages.bare(BackendMessage::no_data);
  EXPECT_EQ(out.size(), 5U);
}

}  // namespace
}  // namespace pgsilo
