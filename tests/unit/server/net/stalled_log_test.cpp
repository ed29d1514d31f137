// A log device that answers nothing for a while: who does not wait for the log notices nothing.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/server/server_support.h"

namespace pgsilo {
namespace {

using namespace server_test;

struct StalledServer {
  std::string name;
  const char* workers;
  const char* logs;
};

class StalledLogTest : public ::testing::TestWithParam<StalledServer> {
 protected:
  void SetUp() override {
    ServerSettings settings = settings_in(directory_);
    settings.set("worker_threads", GetParam().workers);
    settings.set("log_directories", GetParam().logs);
    std::string why;
    database_ =
        std::make_unique<Database>(settings, directory_.path() + "/data", gated_file_system(disk_));
    ASSERT_TRUE(database_->open(&why)) << why;
    database_->start();
  }
  void TearDown() override {
    disk_.open();
    database_->stop();
  }

  // A client that does not wait for ever where the server is stuck.
  bool is_served() {
    ConnectionPointer client(PQconnectdb((directory_.address() + " connect_timeout=10").c_str()),
                             PQfinish);
    return PQstatus(client.get()) == CONNECTION_OK && one_value(client.get(), "select 1") == "1" &&
           one_value(client.get(), "select count(*) from pgsilo_log where space <> ''") != "0";
  }

  TestDirectory directory_;
  Gate disk_{Gate::At::write, ".segment"};
  std::unique_ptr<Database> database_;
};

// Each lone writer waits for the log, so that its worker has nothing else to do than to write it.
TEST_P(StalledLogTest, NewClientsAreServedWhileAllOthersWaitForTheLog) {
  std::vector<ConnectionPointer> writers;
  writers.push_back(connect_to(directory_));
  one_value(writers[0].get(), "create table t (a int)");
  for (int rounds = 0; rounds < 2; ++rounds) {
    disk_.close();
    for (ConnectionPointer& writer : writers) {
      ASSERT_EQ(PQsendQuery(writer.get(), "insert into t values (1)"), 1);
      disk_.wait_until_reached();
    }
    for (int clients = 0; clients < 4; ++clients) EXPECT_TRUE(is_served()) << clients;
    disk_.open();
    for (ConnectionPointer& writer : writers) {
      while (PGresult* result = PQgetResult(writer.get())) {
        EXPECT_EQ(PQresultStatus(result), PGRES_COMMAND_OK);
        PQclear(result);
      }
    }
    writers.push_back(connect_to(directory_));
  }
}

// Whose client is told more than what has reached the disk would find another catalog behind a
// crash.
TEST_P(StalledLogTest, WhatIsToldOfTheCatalogIsDurable) {
  ConnectionPointer definer = connect_to(directory_);
  one_value(definer.get(), "create schema no_more; create table gone (a int)");
  ConnectionPointer impatient = connect_to(directory_);
  one_value(impatient.get(), "set synchronous_commit = off");
  struct Question {
    const char* sql;
    const char* answer;
  };
  const Question questions[] = {
      {"select to_regclass('made')", "made"},
      {"select to_regclass('gone')", ""},
      {"select pg_get_serial_sequence('made', 'a')", ""},
      {"select current_schema()", "public"},
      {"table gone",
       "ERROR:  relation \"gone\" does not exist\nLINE 1: table gone\n              ^\n"},
      {"select 'no_more'::regnamespace",
       "ERROR:  schema \"no_more\" does not exist\n"
       "LINE 1: select 'no_more'::regnamespace\n               ^\n"},
      {"drop table if exists gone", ""},
  };
  disk_.close();
  ASSERT_EQ(
      PQsendQuery(definer.get(), "create table made (a int); drop table gone; drop schema no_more"),
      1);
  while (one_value(impatient.get(), "select to_regclass('made') is not null") != "t") {
  }
  std::vector<ConnectionPointer> askers;
  for (const Question& question : questions) {
    askers.push_back(connect_to(directory_));
    ASSERT_EQ(PQsendQuery(askers.back().get(), question.sql), 1);
  }
  askers.push_back(connect_to(directory_));
  PGconn* describer = askers.back().get();
  PQclear(PQprepare(describer, "s", "table made", 0, nullptr));
  ASSERT_EQ(PQsendDescribePrepared(describer, "s"), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  for (size_t i = 0; i < askers.size(); ++i) {
    ASSERT_EQ(PQconsumeInput(askers[i].get()), 1);
    EXPECT_EQ(PQisBusy(askers[i].get()), 1)
        << (i < std::size(questions) ? questions[i].sql : "Describe");
  }
  disk_.open();
  for (size_t i = 0; i < std::size(questions); ++i) {
    EXPECT_EQ(sent_value(askers[i].get()), questions[i].answer) << questions[i].sql;
  }
  PGresult* described = PQgetResult(describer);
  EXPECT_EQ(PQnfields(described), 1);
  PQclear(described);
}

INSTANTIATE_TEST_SUITE_P(, StalledLogTest,
                         ::testing::Values(StalledServer{"TwoWorkers", "2", "wal"},
                                           StalledServer{"TwoLogs", "2", "wal,wal2"},
                                           StalledServer{"OneWorker", "1", "wal"}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace pgsilo
