// A log device that answers nothing for a while: who does not wait for the log notices nothing.
#include <gtest/gtest.h>

#include <string>
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

INSTANTIATE_TEST_SUITE_P(, StalledLogTest,
                         ::testing::Values(StalledServer{"TwoWorkers", "2", "wal"},
                                           StalledServer{"TwoLogs", "2", "wal,wal2"},
                                           StalledServer{"OneWorker", "1", "wal"}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace pgsilo
