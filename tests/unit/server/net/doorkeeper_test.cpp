#include "server/net/doorkeeper.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <future>
#include <string>

#include "base/byte_order.h"
#include "server/database.h"
#include "server/not_serving.h"
#include "server/pgwire/protocol.h"

namespace pgsilo {
namespace {

using ConnectionPointer = std::unique_ptr<PGconn, decltype(&PQfinish)>;

class TestDirectory {
 public:
  TestDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "pgsilo-door.XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TestDirectory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::string address() const {
    return "host=" + path_ + " port=5432 user=postgres dbname=postgres";
  }

 private:
  std::string path_;
};

std::string be32(uint32_t value) {
  char bytes[4];
  store_be32(bytes, value);
  return {bytes, 4};
}

std::string startup_packet() {
  std::string body = be32(protocol_version_3) + std::string("user\0ann\0\0", 10);
  return be32(static_cast<uint32_t>(body.size() + 4)) + body;
}

// A client's end of a connection to the Unix socket in `directory`.
class RawClient {
 public:
  explicit RawClient(const TestDirectory& directory) {
    descriptor_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, (directory.path() + "/.s.PGSQL.5432").c_str());
    EXPECT_EQ(connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~RawClient() { close(descriptor_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(std::string_view bytes) {
    EXPECT_EQ(write(descriptor_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  char read_byte() {
    char byte = '\0';
    return read(descriptor_, &byte, 1) == 1 ? byte : '\0';
  }
  // To the end of the connection.
  std::string read_all() {
    std::string all;
    for (char buffer[512];;) {
      ssize_t count = read(descriptor_, buffer, sizeof buffer);
      if (count <= 0) return all;
      all.append(buffer, static_cast<size_t>(count));
    }
  }

 private:
  int descriptor_;
};

class NoTaker final : public ConnectionTaker {
 public:
  void take(int descriptor) override { close(descriptor); }
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
    keeper_->open();
  }
  static bool tells_to_wait(const std::string& answer) {
    return answer.starts_with('E') && answer.find("C57P03") != std::string::npos &&
           answer.find("the database system is starting up") != std::string::npos;
  }

  TestDirectory directory_;
  NoTaker taker_;
  Listener listener_{taker_};
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
  EXPECT_EQ(keeper_->hand_over().size(), 1u);
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

// Where a disk stops until it may go on: once, when a file of that name is opened.
struct Gate {
  std::string suffix;
  std::atomic<bool> closed{true};
  std::promise<void> reached{};
  std::promise<void> goes_on{};

  void pass(const std::string& path) {
    if (!path.ends_with(suffix) || !closed.exchange(false)) return;
    reached.set_value();
    goes_on.get_future().wait();
  }
};

class GatedFileSystem final : public FileSystem {
 public:
  explicit GatedFileSystem(Gate& gate) : gate_(gate) {}

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    gate_.pass(path);
    return files_->open(path, flags, file);
  }
  FileResult rename(const std::string& from, const std::string& to) override {
    return files_->rename(from, to);
  }
  FileResult remove(const std::string& path) override { return files_->remove(path); }
  FileResult create_directory(const std::string& path) override {
    return files_->create_directory(path);
  }
  FileResult list(const std::string& directory, std::vector<std::string>* names) override {
    return files_->list(directory, names);
  }
  FileResult sync_directory(const std::string& directory) override {
    return files_->sync_directory(directory);
  }

 private:
  std::unique_ptr<FileSystem> files_ = posix_file_system();
  Gate& gate_;
};

ServerSettings settings_in(const TestDirectory& directory) {
  ServerSettings settings;
  settings.set("unix_socket_directories", directory.path());
  settings.set("listen_addresses", "");
  settings.set("worker_threads", "2");
  return settings;
}

std::string one_value(PGconn* connection, const char* sql) {
  std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection, sql), PQclear);
  return PQntuples(result.get()) == 1 ? PQgetvalue(result.get(), 0, 0)
                                      : PQresultErrorMessage(result.get());
}

TEST(StartingServerTest, TellsClientsSoAndThenServesWhoWaits) {
  TestDirectory directory;
  std::string why;
  {
    Database before(settings_in(directory), directory.path() + "/data");
    ASSERT_TRUE(before.open(&why)) << why;
    before.start();
    ConnectionPointer client(PQconnectdb(directory.address().c_str()), PQfinish);
    one_value(client.get(), "create table t as select 42 as a");
    before.stop();
  }
  Gate gate{.suffix = ".segment"};
  Database database(settings_in(directory), directory.path() + "/data",
                    std::make_unique<GatedFileSystem>(gate));
  std::thread opener([&] { ASSERT_TRUE(database.open(&why)) << why; });
  gate.reached.get_future().wait();

  EXPECT_EQ(PQping(directory.address().c_str()), PQPING_REJECT);
  ConnectionPointer early(PQconnectdb(directory.address().c_str()), PQfinish);
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
  gate.goes_on.set_value();
  opener.join();
  database.start();
  patient.send(packet.substr(10));
  EXPECT_EQ(patient.read_byte(), 'R');

  ConnectionPointer client(PQconnectdb(directory.address().c_str()), PQfinish);
  EXPECT_EQ(one_value(client.get(), "select a from t"), "42");
  database.stop();
}

TEST(StartingServerTest, TellsHowFarRecoveryIs) {
  TestDirectory directory;
  NoTaker taker;
  Listener listener(taker);
  std::string why;
  ASSERT_TRUE(listener.open_unix(directory.path(), 5432, "", &why)) << why;
  Doorkeeper keeper(listener);
  RecoveryAnnouncer announcer(keeper);
  announcer.on_progress({.bytes_done = 30'000'000,
                         .bytes_total = 120'000'000,
                         .bytes_per_second = 10e6,
                         .seconds_left = 9});
  keeper.open();
  ConnectionPointer client(PQconnectdb(directory.address().c_str()), PQfinish);
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
  Gate gate{.suffix = "pgsilo.control.new", .closed = false};
  Database database(settings_in(directory), directory.path() + "/data",
                    std::make_unique<GatedFileSystem>(gate));
  ASSERT_TRUE(database.open(&why)) << why;
  database.start();
  ConnectionPointer busy(PQconnectdb(directory.address().c_str()), PQfinish);
  RawClient silent(directory);
  silent.send(startup_packet().substr(0, 5));
  EXPECT_EQ(one_value(busy.get(), "select 1"), "1");
  gate.closed = true;
  std::thread stopper([&] { database.stop(); });
  gate.reached.get_future().wait();

  // Who has said nothing was not waited for.
  EXPECT_NE(silent.read_all().find("the database system is shutting down"), std::string::npos);
  EXPECT_EQ(PQping(directory.address().c_str()), PQPING_REJECT);
  ConnectionPointer late(PQconnectdb(directory.address().c_str()), PQfinish);
  EXPECT_NE(
      std::string(PQerrorMessage(late.get())).find("FATAL:  the database system is shutting down"),
      std::string::npos)
      << PQerrorMessage(late.get());
  gate.goes_on.set_value();
  stopper.join();
}

}  // namespace
}  // namespace pgsilo
