// A client that reads its answer slowly is at work, however little the kernel tells of that.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/memory/memory_limit_support.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::memory_test {
namespace {

using namespace std::chrono_literals;

class SlowReaderTest : public MemoryLimitTest {
 protected:
  // Some 80 kB a second, of rows: the socket holds more than that.
  void read_slowly(std::chrono::seconds time) {
    auto end = std::chrono::steady_clock::now() + time;
    while (is_there_ && std::chrono::steady_clock::now() < end) {
      last_ = other.read();
      is_there_ = last_.type == 'D' || last_.type == 'T';
      std::this_thread::sleep_for(1ms);
    }
  }
  long long ended() { return client.number("select sessions_ended from pgsilo_memory"); }

  protocol_test::RawClient other;
  protocol_test::Message last_;
  bool is_there_ = true;
};

TEST_F(SlowReaderTest, IsEndedWhenItReadsNoMore) {
  ASSERT_EQ(fill(client), "53200");
  other.start();
  ASSERT_EQ(other.ask(protocol_test::query("begin isolation level repeatable read; "
                                           "select count(*) from filled")),
            "CTDCZT");
  other.send(protocol_test::query("select payload from filled"));
  ASSERT_TRUE(comes_true([&] { return waits(other.process, "wait_event = 'ClientWrite'"); }));
  remove_half(client);
  const long long ended_before = ended();
  std::jthread reader([this] { read_slowly(8s); });
  auto end = std::chrono::steady_clock::now() + 7s;
  while (std::chrono::steady_clock::now() < end) {
    fill(client);
    ASSERT_EQ(ended(), ended_before);
  }
  reader.join();
  ASSERT_TRUE(is_there_) << protocol_test::summary({last_}) << last_.body;
  EXPECT_TRUE(comes_true([&] {
    fill(client);
    return ended() > ended_before;
  }));
  // It is told so, if it goes on.
  read_slowly(8s);
  EXPECT_EQ(protocol_test::field(last_, 'C'), "53200");
}

}  // namespace
}  // namespace pgsilo::memory_test
