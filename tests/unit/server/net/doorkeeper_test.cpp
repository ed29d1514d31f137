#include "server/net/doorkeeper.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/not_serving.h"
#include "server/pgwire/protocol.h"
#include "tests/unit/server/server_support.h"

namespace pgsilo {
namespace {

using namespace server_test;

// With so many seats; nobody is served on them.
class Seated final : public ClientHost {
 public:
  explicit Seated(size_t seats) : seats_(seats) {}
  ~Seated() {
    for (int descriptor : taken_) close(descriptor);
  }
  bool take_in(int descriptor) override {
    std::lock_guard lock(mutex_);
    if (taken_.size() == seats_) return false;
    taken_.push_back(descriptor);
    changed_.notify_all();
    return true;
  }
  int64_t look_after_waiting() override { return INT64_MAX; }
  void cancel(int32_t process, int32_t secret) override {
    canceled_process = process;
    canceled_secret = secret;
  }
  void wait_for_taken(size_t clients) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return taken_.size() >= clients; });
  }
  int canceled_process = 0;
  int canceled_secret = 0;

 private:
  const size_t seats_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> taken_;
};

class DoorkeeperTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    ASSERT_TRUE(listener_.open_unix(directory_.path(), 5432, "", &why)) << why;
  }
  void open(const Doorkeeper::Patience& patience) {
    keeper_ = std::make_unique<Doorkeeper>(listener_, patience);
    keeper_->say(starting_up());
    std::string why;
    ASSERT_TRUE(keeper_->start(&why)) << why;
  }
  static bool tells_to_wait(const std::string& answer) {
    return answer.starts_with('E') && answer.find("C57P03") != std::string::npos &&
           answer.find("the database system is starting up") != std::string::npos;
  }
  static bool tells_too_many(const std::string& answer) {
    return answer.starts_with('E') && answer.find("C53300") != std::string::npos &&
           answer.find("sorry, too many clients already") != std::string::npos;
  }

  // Opens the door to so many seats, which stay until it is shut.
  Seated& let_in(size_t seats) {
    host_ = std::make_unique<Seated>(seats);
    keeper_->let_in(*host_);
    return *host_;
  }

  TestDirectory directory_;
  Listener listener_;
  std::unique_ptr<Seated> host_;
  std::unique_ptr<Doorkeeper> keeper_;
};

TEST_F(DoorkeeperTest, AnswersWhoeverSaysWhoHeIs) {
  open({});
  RawClient whole(directory_);
  whole.send(startup_packet());
  EXPECT_TRUE(tells_to_wait(whole.read_all()));
  RawClient pieces(directory_);
  for (char byte : startup_packet()) pieces.send({&byte, 1});
  EXPECT_TRUE(tells_to_wait(pieces.read_all()));
}

TEST_F(DoorkeeperTest, DeclinesEncryptionFirst) {
  open({});
  RawClient client(directory_);
  client.send(be32(8) + be32(gssenc_request_code));
  EXPECT_EQ(client.read_byte(), 'N');
  client.send(be32(8) + be32(ssl_request_code));
  EXPECT_EQ(client.read_byte(), 'N');
  client.send(startup_packet());
  EXPECT_TRUE(tells_to_wait(client.read_all()));
}

TEST_F(DoorkeeperTest, SaysWhatElseIsWrong) {
  open({});
  RawClient cancel(directory_);
  cancel.send(be32(16) + be32(cancel_request_code) + be32(1) + be32(1));
  EXPECT_EQ(cancel.read_all(), "");
  RawClient old(directory_);
  old.send(be32(8) + be32(2u << 16));
  EXPECT_NE(old.read_all().find("unsupported frontend protocol 2.0"), std::string::npos);
  RawClient nonsense(directory_);
  nonsense.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_NE(nonsense.read_all().find("invalid length of startup packet"), std::string::npos);
  RawClient gone(directory_);
}

TEST_F(DoorkeeperTest, TheSilentAreBoundedInNumber) {
  open({.clients = 2});
  RawClient first(directory_);
  RawClient second(directory_);
  RawClient third(directory_);
  EXPECT_TRUE(tells_to_wait(first.read_all()));
  third.send(startup_packet());
  EXPECT_TRUE(tells_to_wait(third.read_all()));
  Seated& host = let_in(2);
  RawClient last(directory_);
  host.wait_for_taken(2);
}

TEST_F(DoorkeeperTest, TellsWhoHasNoSeatInTime) {
  open({.clients = 2});
  Seated& host = let_in(1);
  RawClient seated(directory_);
  // One who says who he is, and silent ones, of whom two are waited for.
  RawClient whole(directory_);
  whole.send(startup_packet());
  EXPECT_TRUE(tells_too_many(whole.read_all()));
  RawClient silent(directory_);
  RawClient second(directory_);
  RawClient third(directory_);
  EXPECT_TRUE(tells_too_many(silent.read_all()));
  RawClient cancel(directory_);
  cancel.send(be32(16) + be32(cancel_request_code) + be32(7) + be32(8));
  EXPECT_EQ(cancel.read_all(), "");
  EXPECT_EQ(host.canceled_process, 7);
  EXPECT_EQ(host.canceled_secret, 8);
}

TEST_F(DoorkeeperTest, TheSilentAreBoundedInTime) {
  open({.clients = 2, .silence_us = 20'000});
  RawClient client(directory_);
  client.send(startup_packet().substr(0, 7));
  EXPECT_TRUE(tells_to_wait(client.read_all()));
}

TEST_F(DoorkeeperTest, AnswersTheSilentWhenItCloses) {
  open({});
  RawClient silent(directory_);
  RawClient spoken(directory_);
  spoken.send(startup_packet());
  spoken.read_all();  // so the one before has been taken in, too
  keeper_->close();
  EXPECT_TRUE(tells_to_wait(silent.read_all()));
}

TEST(StartingServerTest, TellsClientsSoAndThenServesWhoWaits) {
  TestDirectory directory;
  std::string why;
  {
    Database before(settings_in(directory), directory.path() + "/data");
    ASSERT_TRUE(before.open(&why)) << why;
    before.start();
    ConnectionPointer client = connect_to(directory);
    one_value(client.get(), "create table t as select 42 as a");
    before.stop();
  }
  Gate gate(Gate::At::open, ".segment");
  gate.close();
  Database database(settings_in(directory), directory.path() + "/data", gated_file_system(gate));
  std::thread opener([&] { ASSERT_TRUE(database.open(&why)) << why; });
  gate.wait_until_reached();

  EXPECT_EQ(PQping(directory.address().c_str()), PQPING_REJECT);
  ConnectionPointer early = connect_to(directory);
  EXPECT_NE(
      std::string(PQerrorMessage(early.get())).find("FATAL:  the database system is starting up"),
      std::string::npos)
      << PQerrorMessage(early.get());
  std::string problem;
  Database second(settings_in(directory), directory.path() + "/other");
  EXPECT_FALSE(second.open(&problem));
  EXPECT_NE(problem.find(".s.PGSQL.5432.lock\" already exists\nHINT:  Is another postmaster (PID "),
            std::string::npos)
      << problem;

  // Half of its packet comes before the end of recovery, the rest after.
  RawClient patient(directory);
  patient.send(be32(8) + be32(ssl_request_code));
  EXPECT_EQ(patient.read_byte(), 'N');
  std::string packet = startup_packet();
  patient.send(packet.substr(0, 10));
  gate.open();
  opener.join();
  database.start();
  patient.send(packet.substr(10));
  EXPECT_EQ(patient.read_byte(), 'R');

  ConnectionPointer client = connect_to(directory);
  EXPECT_EQ(one_value(client.get(), "select a from t"), "42");
  database.stop();
}

TEST(StartingServerTest, TellsHowFarRecoveryIs) {
  TestDirectory directory;
  Listener listener;
  std::string why;
  ASSERT_TRUE(listener.open_unix(directory.path(), 5432, "", &why)) << why;
  Doorkeeper keeper(listener);
  RecoveryAnnouncer announcer(keeper);
  announcer.on_progress({.bytes_done = 30'000'000,
                         .bytes_total = 120'000'000,
                         .bytes_per_second = 10e6,
                         .seconds_left = 9});
  ASSERT_TRUE(keeper.start(&why)) << why;
  ConnectionPointer client = connect_to(directory);
  EXPECT_NE(std::string(PQerrorMessage(client.get()))
                .find("starting up\nDETAIL:  Recovering the log: 30.0 of 120.0 MB (25%), 10 MB/s, "
                      "9 s left.\n"),
            std::string::npos)
      << PQerrorMessage(client.get());
}

// The last that a server does is to record in its control file that it has stopped.
TEST(StoppingServerTest, TellsClientsSo) {
  TestDirectory directory;
  std::string why;
  Gate gate(Gate::At::open, "pgsilo.control.new");
  Database database(settings_in(directory), directory.path() + "/data", gated_file_system(gate));
  ASSERT_TRUE(database.open(&why)) << why;
  database.start();
  RawClient silent(directory);
  silent.send(startup_packet().substr(0, 5));
  ConnectionPointer busy = connect_to(directory);
  EXPECT_EQ(one_value(busy.get(), "select 1"), "1");
  gate.close();
  std::thread stopper([&] { database.stop(); });
  gate.wait_until_reached();

  // Who has said nothing was not waited for.
  EXPECT_NE(silent.read_all().find("the database system is shutting down"), std::string::npos);
  EXPECT_EQ(PQping(directory.address().c_str()), PQPING_REJECT);
  ConnectionPointer late = connect_to(directory);
  EXPECT_NE(
      std::string(PQerrorMessage(late.get())).find("FATAL:  the database system is shutting down"),
      std::string::npos)
      << PQerrorMessage(late.get());
  gate.open();
  stopper.join();
}

}  // namespace
}  // namespace pgsilo
