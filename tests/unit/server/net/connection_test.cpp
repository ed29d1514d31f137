#include "server/net/connection.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "server/limits.h"

namespace pgsilo {
namespace {

class ManualLog final : public DurabilityService {
 public:
  uint64_t durable_epoch() const override { return durable.load(std::memory_order_acquire); }
  void request(uint64_t) override {}
  bool try_step() override { return false; }
  void wake_log() override {}
  void pass_on() override {}
  std::atomic<uint64_t> durable{0};
};

// A fiber's, which counts how often others could run.
class CountingParker final : public Parker {
 public:
  explicit CountingParker(Parker& fiber) : fiber_(fiber) {}
  void park(int64_t deadline_us) override { fiber_.park(deadline_us); }
  void unpark() override { fiber_.unpark(); }
  void give_way() override { ++ways_given; }
  uint64_t ways_given = 0;

 private:
  Parker& fiber_;
};

// A worker on a thread of its own with one fiber that owns the server's end of a socket pair.
class ConnectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_), 0);
    worker_.commit_queue().set_service(&log_);
  }
  void TearDown() override {
    if (ends_[1] >= 0) close(ends_[1]);
  }

  void serve(std::function<void(Connection&)> body) {
    body_ = std::move(body);
    fiber_ = &worker_.spawn(
        [](void* self) {
          auto& test = *static_cast<ConnectionTest*>(self);
          fcntl(test.ends_[0], F_SETFL, O_NONBLOCK);
          {
            Connection connection(test.worker_, test.ends_[0]);
            connection.attach(*test.fiber_, test.stop_, &test.report_);
            test.body_(connection);
          }
          close(test.ends_[0]);
        },
        this);
    worker_.request_stop();
    thread_ = std::thread([this] { worker_.run(); });
  }
  void client_sends(std::string_view bytes) {
    ASSERT_EQ(write(ends_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  std::string client_reads(size_t bytes) {
    std::string text(bytes, '\0');
    size_t got = 0;
    while (got < bytes) {
      ssize_t count = read(ends_[1], text.data() + got, bytes - got);
      if (count <= 0) break;
      got += static_cast<size_t>(count);
    }
    text.resize(got);
    return text;
  }
  bool client_sees_nothing() {
    pollfd state{.fd = ends_[1], .events = POLLIN, .revents = 0};
    return poll(&state, 1, 20) == 0;
  }
  void client_leaves() {
    close(ends_[1]);
    ends_[1] = -1;
  }

  int ends_[2] = {-1, -1};
  ManualLog log_;
  Worker worker_{WorkerOptions{}};
  WorkerFiber* fiber_ = nullptr;
  std::atomic<bool> stop_{false};
  WaitReport report_;
  std::function<void(Connection&)> body_;
  std::thread thread_;
};

TEST_F(ConnectionTest, GathersInputThatComesInPieces) {
  std::string seen;
  serve([&](Connection& connection) {
    ASSERT_TRUE(connection.fill(10));
    seen = connection.unread().substr(0, 10);
    connection.consume(10);
    EXPECT_FALSE(connection.fill(1));
    EXPECT_TRUE(connection.end_of_input());
  });
  for (char c : std::string("0123456789")) {
    client_sends({&c, 1});
    std::this_thread::yield();
  }
  client_leaves();
  thread_.join();
  EXPECT_EQ(seen, "0123456789");
}

TEST_F(ConnectionTest, SeesTheEndThatCameTogetherWithTheLastBytes) {
  client_sends("last");
  client_leaves();
  serve([&](Connection& connection) {
    ASSERT_TRUE(connection.fill(4));
    connection.consume(4);
    EXPECT_FALSE(connection.fill(1));
  });
  thread_.join();
}

TEST_F(ConnectionTest, GoesBackToTheReplayPoint) {
  std::string first(limits::input_buffer_bytes, 'a');
  std::string second(3 * limits::input_buffer_bytes, 'b');
  std::string again;
  serve([&](Connection& connection) {
    ASSERT_TRUE(connection.fill(1));
    connection.consume(1);
    connection.set_replay_point();
    ASSERT_TRUE(connection.fill(first.size()));
    connection.consume(first.size());
    ASSERT_TRUE(connection.fill(second.size()));
    connection.consume(second.size());
    EXPECT_EQ(connection.replay_bytes(), first.size() + second.size());
    connection.rewind();
    ASSERT_TRUE(connection.fill(first.size() + second.size()));
    again = connection.unread();
  });
  client_sends("x" + first + second);
  thread_.join();
  EXPECT_EQ(again, first + second);
}

// All that is moved to make room is no more than a few times what comes, however long it is: a
// message that is waited for as a whole, small ones that a replay point keeps, small ones that go.
TEST_F(ConnectionTest, MovesInputAFewTimesAtMost) {
  constexpr size_t whole = size_t{48} << 20;
  constexpr size_t small = 40;
  std::array<uint64_t, 3> moved{};
  auto take_small_ones = [](Connection& connection, size_t bytes) {
    for (size_t taken = 0; taken + small <= bytes; taken += small) {
      ASSERT_TRUE(connection.fill(small));
      connection.consume(small);
    }
  };
  serve([&](Connection& connection) {
    ASSERT_TRUE(connection.fill(whole));
    moved[0] = connection.moved_input_bytes();
    connection.consume(whole);
    connection.set_replay_point();
    take_small_ones(connection, whole);
    connection.drop_replay_point();
    moved[1] = connection.moved_input_bytes();
    take_small_ones(connection, whole);
    moved[2] = connection.moved_input_bytes();
  });
  std::string piece(size_t{1} << 20, 'x');
  for (size_t sent = 0; sent < moved.size() * whole; sent += piece.size()) client_sends(piece);
  client_leaves();
  thread_.join();
  EXPECT_LE(moved[0], 3 * whole);
  EXPECT_LE(moved[1] - moved[0], 3 * whole);
  EXPECT_LE(moved[2] - moved[1], 3 * whole);  // what the replay point kept is moved once
}

// Of a long message no more than a quarter lies in two buffers at once.
TEST_F(ConnectionTest, GrowsOnceForMostOfALongMessage) {
  constexpr std::array<size_t, 4> lengths = {16 << 20, 21 << 20, 26 << 20, 31 << 20};
  std::atomic<size_t> taken{0};
  serve([&](Connection& connection) {
    uint64_t moved = 0;
    for (size_t length : lengths) {
      ASSERT_TRUE(connection.fill(1));  // gives back the room of the one before
      ASSERT_TRUE(connection.fill(length));
      EXPECT_LE(connection.input_capacity(), length + 2 * limits::max_read_bytes);
      EXPECT_LE(connection.moved_input_bytes() - moved, length * 3 / 4 + (2 << 20));
      moved = connection.moved_input_bytes();
      connection.consume(length);
      ++taken;
    }
  });
  for (size_t i = 0; i < lengths.size(); ++i) {
    while (taken != i) std::this_thread::yield();
    client_sends(std::string(lengths[i], 'x'));
  }
  thread_.join();
}

TEST_F(ConnectionTest, GivesWayWhereverItReadsOrMovesInput) {
  constexpr size_t whole = size_t{48} << 20;
  constexpr uint64_t growths = 20;  // at most
  uint64_t ways_given = 0, moved = 0;
  serve([&](Connection& connection) {
    CountingParker parker(*fiber_);
    connection.attach(parker, stop_, &report_);
    ASSERT_TRUE(connection.fill(whole));
    ways_given = parker.ways_given;
    moved = connection.moved_input_bytes();
    connection.attach(*fiber_, stop_, &report_);
  });
  std::string piece(size_t{1} << 20, 'x');
  for (size_t sent = 0; sent < whole; sent += piece.size()) client_sends(piece);
  thread_.join();
  EXPECT_GE(ways_given + growths, (whole + moved) / limits::max_read_bytes);
}

TEST_F(ConnectionTest, MakesNoRoomForWhatIsOnlyClaimed) {
  client_sends("claim");
  client_leaves();
  serve([&](Connection& connection) {
    EXPECT_FALSE(connection.fill(size_t{1} << 30));
    EXPECT_LE(connection.input_capacity(), 2 * limits::input_buffer_bytes);
  });
  thread_.join();
}

TEST_F(ConnectionTest, GivesBackTheRoomOfALongMessageBeforeItWaits) {
  constexpr size_t whole = size_t{16} << 20;
  serve([&](Connection& connection) {
    ASSERT_TRUE(connection.fill(whole));
    EXPECT_GE(connection.input_capacity(), whole);
    connection.consume(whole);
    std::thread client([&] {
      while (report_.event.load() != WaitEvent::client_read) std::this_thread::yield();
      EXPECT_LE(connection.input_capacity(), 2 * limits::max_read_bytes);
      client_sends("x");
    });
    EXPECT_TRUE(connection.fill(1));
    client.join();
  });
  client_sends(std::string(whole, 'x'));
  thread_.join();
}

TEST_F(ConnectionTest, HoldsOutputUntilItsEpochIsDurable) {
  serve([&](Connection& connection) {
    connection.output().append("one");
    connection.release(1);
    connection.output().append("two");
    connection.release(2);
    connection.output().append("lost");
    connection.discard_unreleased();
    connection.output().append("three");
    connection.release(1);  // rests on less, but leaves in its turn
    EXPECT_TRUE(connection.drain(monotonic_us() + 10000000));
  });
  EXPECT_TRUE(client_sees_nothing());
  log_.durable = 1;
  worker_.wake();
  EXPECT_EQ(client_reads(3), "one");
  EXPECT_TRUE(client_sees_nothing());
  log_.durable = 2;
  worker_.wake();
  EXPECT_EQ(client_reads(8), "twothree");
  thread_.join();
}

TEST_F(ConnectionTest, AClientThatDoesNotReadHoldsUpOnlyItsOwnFiber) {
  log_.durable = 1;
  std::string piece(100000, 'p');
  constexpr size_t pieces = 60;
  std::atomic<int> other_turns{0};
  serve([&](Connection& connection) {
    for (size_t i = 0; i < pieces; ++i) {
      connection.output().append(piece);
      connection.release(1);
      ASSERT_TRUE(connection.wait_for_backlog(limits::output_backlog_bytes));
      ASSERT_LE(connection.backlog_bytes(), limits::output_backlog_bytes);
    }
    EXPECT_TRUE(connection.drain(monotonic_us() + 10000000));
  });
  class Turn final : public WorkerTask {
   public:
    explicit Turn(std::atomic<int>& turns) : turns_(turns) {}
    void run(Worker&) override { turns_.fetch_add(1); }
    std::atomic<int>& turns_;
  };
  EXPECT_FALSE(client_sees_nothing());
  worker_.post(std::make_unique<Turn>(other_turns));
  while (other_turns.load() == 0) std::this_thread::yield();
  EXPECT_EQ(client_reads(pieces * piece.size()).size(), pieces * piece.size());
  thread_.join();
}

TEST_F(ConnectionTest, StoppingEndsTheWaitForInput) {
  serve([&](Connection& connection) { EXPECT_FALSE(connection.fill(1)); });
  EXPECT_TRUE(client_sees_nothing());
  stop_ = true;
  fiber_->unpark();
  thread_.join();
}

TEST_F(ConnectionTest, WaitsForInputNoLongerThanItsDeadline) {
  serve([&](Connection& connection) {
    EXPECT_FALSE(connection.fill(1, monotonic_us() + 2000));
    EXPECT_FALSE(connection.end_of_input());
    EXPECT_FALSE(connection.broken());
  });
  thread_.join();
}

TEST_F(ConnectionTest, AFlagEndsWaitsThatAskForIt) {
  std::atomic<bool> cancelled{false};
  std::string piece(limits::output_backlog_bytes + 5000000, 'p');
  serve([&](Connection& connection) {
    EXPECT_FALSE(connection.fill(1, Parker::no_deadline, &cancelled));
    EXPECT_TRUE(connection.fill(3));
    connection.output().append(piece);
    connection.release(0);
    EXPECT_FALSE(connection.wait_for_backlog(0, Parker::no_deadline, &cancelled));
    EXPECT_FALSE(connection.wait_for_backlog(0, monotonic_us() + 2000));
    connection.give_up();
  });
  EXPECT_TRUE(client_sees_nothing());
  cancelled = true;
  fiber_->unpark();
  client_sends("abc");
  thread_.join();
}

// Messages of a kind: of an odd length, each of its own content.
std::string messages(char type, int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += type + std::string("\0\0\0\x7f", 4) + std::string(123, static_cast<char>(i));
  return all;
}

TEST_F(ConnectionTest, TakesBackRowsAtTheEnd) {
  const std::string kept = messages('D', 10000) + messages('C', 1);
  const std::string last_words = messages('E', 1);
  std::atomic<bool> is_cut{false};
  serve([&](Connection& connection) {
    connection.output().append(kept);
    connection.output().append(messages('D', 50000));
    connection.release(0);
    connection.output().append(messages('d', 10));
    connection.discard_rows();
    EXPECT_LT(connection.backlog_bytes(), kept.size());
    EXPECT_EQ(connection.unreleased_bytes(), 0u);
    connection.output().append(last_words);
    connection.release(0);
    is_cut = true;
    EXPECT_TRUE(connection.drain(monotonic_us() + 10'000'000));
  });
  while (!is_cut) std::this_thread::yield();
  EXPECT_EQ(client_reads(kept.size() + 1000), kept + last_words);
  thread_.join();
}

// The row of which a part has left stays whole. Then the client need not read all that is in the
// socket before the rest is there.
TEST_F(ConnectionTest, TellsTheLastWordsAsSoonAsThereIsRoom) {
  const std::string rows = messages('D', 50000);
  const std::string last_words = messages('E', 1);
  std::atomic<bool> is_cut{false};
  serve([&](Connection& connection) {
    connection.output().append(rows);
    connection.release(0);
    EXPECT_TRUE(connection.wait_for_backlog(rows.size() / 4));
    connection.discard_rows();
    EXPECT_LT(connection.backlog_bytes(), 128u);
    connection.output().append(last_words);
    connection.release(0);
    is_cut = true;
    EXPECT_TRUE(connection.drain(monotonic_us() + 10'000'000));
  });
  std::string told;
  while (!is_cut) told += client_reads(1000);
  told += client_reads(80000);
  thread_.join();
  told += client_reads(rows.size());
  ASSERT_LT(told.size(), rows.size());
  size_t rows_told = told.size() - last_words.size();
  EXPECT_EQ(rows_told % 128, 0u);
  EXPECT_EQ(told, rows.substr(0, rows_told) + last_words);
}

TEST_F(ConnectionTest, TellsWhatItWaitsFor) {
  auto await = [this](WaitEvent event) {
    while (report_.event != event) std::this_thread::yield();
  };
  serve([&](Connection& connection) {
    ASSERT_TRUE(connection.fill(1));
    EXPECT_EQ(report_.event, WaitEvent::none);
    connection.output().append("answer");
    connection.release(1);
    EXPECT_TRUE(connection.drain(monotonic_us() + 10000000));
    EXPECT_FALSE(report_.unsynced);
  });
  await(WaitEvent::client_read);
  EXPECT_FALSE(report_.unsynced);
  client_sends("x");
  await(WaitEvent::client_write);
  EXPECT_TRUE(report_.unsynced);
  log_.durable = 1;
  worker_.wake();
  EXPECT_EQ(client_reads(6), "answer");
  thread_.join();
}

}  // namespace
}  // namespace pgsilo
