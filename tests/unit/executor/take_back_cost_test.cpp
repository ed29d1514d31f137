// What is taken back costs what it is, however much the transaction has written besides: savepoints
// that are rolled back to, and what INSERT ... ON CONFLICT tried.
#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {
namespace {

class TakeBackCost : public ::testing::Test {
 public:
  CatalogEngine engine;
  SqlSession session{engine};

  void run(const std::string& sql) {
    std::string answer = session.run(sql);
    EXPECT_EQ(answer.find("ERROR"), std::string::npos) << sql << ": " << answer;
  }
  template <typename Work>
  static double seconds(Work work) {
    std::clock_t begin = std::clock();
    work();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  }
  // `values`, of which g is the number of the row.
  double insert(int rows, const std::string& values, const std::string& conflict = "") {
    return seconds([&] {
      run("insert into t select " + values + " from generate_series(1, " + std::to_string(rows) +
          ") g " + conflict);
    });
  }
};

TEST_F(TakeBackCost, OfASavepointIsThatOfWhatCameBehindIt) {
  run("create table t (a int primary key, b int unique, v int)");
  constexpr int few = 1000, many = 64000;
  double cost[2] = {};
  for (int i = 0; i < 2; ++i) {
    session.begin_block(TransactionMode::interactive, Isolation::read_committed);
    insert(i == 0 ? few : many, "g, g, 0");
    cost[i] = seconds([&] {
      for (int round = 0; round < 1000; ++round) {
        Transaction::Mark mark = session.transaction.mark();
        run("update t set b = -b where a = 5");
        run("insert into t values (-1, -1, 0)");
        session.transaction.rollback_to(mark);
        session.transaction.release(mark);
      }
    });
    EXPECT_EQ(session.run("select count(*), min(b) from t"),
              std::to_string(i == 0 ? few : many) + "|1");
    session.abort_block();
  }
  EXPECT_LT(cost[1], cost[0] * 3 + 0.02) << cost[0];
}

TEST_F(TakeBackCost, OfAnUpsertIsThatOfItsRow) {
  constexpr int few = 1000, times = 32;
  const char* conflicts[] = {"on conflict do nothing", "on conflict (b) do update set v = t.v + 1"};
  for (const char* conflict : conflicts) {
    for (bool in_block : {false, true}) {
      double cost[2] = {};
      for (int i = 0; i < 2; ++i) {
        run("drop table if exists t");
        run("create table t (a int primary key, b int unique, v int)");
        int rows = i == 0 ? few : few * times;
        insert(rows, "g, g, 0");
        if (in_block) session.begin_block();
        cost[i] = insert(2 * rows, "-g, g, 1", conflict);  // every other row is new
        EXPECT_EQ(session.run("select count(*) from t"), std::to_string(2 * rows));
        if (in_block) {
          EXPECT_EQ(session.commit_block(), "ok");
        }
      }
      EXPECT_LT(cost[1], cost[0] * 3 * times + 0.02) << conflict << ": " << cost[0];
    }
  }
}

}  // namespace
}  // namespace pgsilo::testing
