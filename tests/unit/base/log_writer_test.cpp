#include "base/log_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <string>

namespace pgsilo {
namespace {

std::string loss(uint64_t entries) { return "lost " + std::to_string(entries) + "\n"; }

class LogWriterTest : public ::testing::Test {
 protected:
  LogWriterTest() { EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0); }
  ~LogWriterTest() override {
    for (int end : ends) close(end);
  }
  std::string read_some() {
    std::array<char, 65536> bytes;
    ssize_t count = read(ends[0], bytes.data(), bytes.size());
    return std::string(bytes.data(), count > 0 ? static_cast<size_t>(count) : 0);
  }
  std::string read_until(const std::string& end) {
    std::string text;
    while (text.find(end) == std::string::npos) text += read_some();
    return text;
  }
  std::array<int, 2> ends{};
};

TEST_F(LogWriterTest, WritesInOrder) {
  LogWriter writer(ends[1], 1 << 20, loss);
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    writer.write(std::to_string(i) + "\n");
    expected += std::to_string(i) + "\n";
  }
  EXPECT_EQ(read_until("\n999\n"), expected);
  EXPECT_TRUE(writer.drain(10'000'000));
  EXPECT_EQ(writer.dropped(), 0U);
}

// Nobody reads: whoever writes goes on all the same, and later it is told how much was lost.
TEST_F(LogWriterTest, AStalledPipeStallsNobody) {
  LogWriter writer(ends[1], 64 << 10, loss);
  const std::string line = std::string(999, 'x') + "\n";
  do {
    writer.write(line);
  } while (writer.drain(20'000));  // until the pipe is full
  while (writer.dropped() < 1000) writer.write(line);
  std::string told = read_until("lost ");
  EXPECT_TRUE(told.starts_with("xxx"));
  writer.write("at last\n");
  told += read_until("at last\n");
  EXPECT_NE(told.find("\nlost "), std::string::npos);
  EXPECT_TRUE(writer.drain(10'000'000));
}

TEST_F(LogWriterTest, ItsEndWaitsForWhatIsQueuedButNotForEver) {
  auto writer = std::make_unique<LogWriter>(ends[1], 1 << 20, loss);
  writer->write("last words\n");
  writer.reset();
  EXPECT_EQ(read_some(), "last words\n");
  writer = std::make_unique<LogWriter>(ends[1], 1 << 20, loss);
  writer->write(std::string(500'000, 'x'));
  writer.reset();  // though nobody reads
}

TEST_F(LogWriterTest, APipeWithoutAReaderLosesEntriesOnly) {
  auto before = signal(SIGPIPE, SIG_IGN);
  close(ends[0]);
  {
    LogWriter writer(ends[1], 1 << 20, loss);
    writer.write("nobody hears\n");
    EXPECT_TRUE(writer.drain(10'000'000));
    EXPECT_EQ(writer.dropped(), 1U);
  }
  ends[0] = dup(ends[1]);
  signal(SIGPIPE, before);
}

}  // namespace
}  // namespace pgsilo
