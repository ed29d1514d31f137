// Which executions a session keeps.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/session/execution_pool.h"
#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {
namespace {

class ExecutionPoolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    session_.begin();
    for (size_t i = 0; i <= limits::kept_executions; ++i) {
      std::string sql = "select " + std::to_string(i);
      plans_.push_back(session_.plan(*parse(sql, syntax_)[0].statement, sql));
    }
  }
  void TearDown() override { session_.abort(); }

  std::unique_ptr<Execution> take(size_t plan) {
    return pool_.take(plans_[plan], session_.context, {});
  }
  // Which execution ran.
  const Execution* run(size_t plan, size_t bytes = 1) {
    std::unique_ptr<Execution> execution = take(plan);
    TextResult result(plans_[plan]->result_columns(), session_.context.types);
    EXPECT_EQ(execution->run(result), RunStatus::done);
    EXPECT_EQ(result.text, std::to_string(plan));
    const Execution* ran = execution.get();
    pool_.give_back(plans_[plan].get(), bytes, std::move(execution));
    return ran;
  }

  // An execution holds its plan.
  bool is_kept(size_t plan) const { return plans_[plan].use_count() > 1; }

  CatalogEngine engine_;
  SqlSession session_{engine_};
  Arena syntax_;
  std::vector<std::shared_ptr<const ExecutablePlan>> plans_;
  ExecutionPool pool_{100};
};

TEST_F(ExecutionPoolTest, AsManyAreKeptAsThereIsRoomFor) {
  std::vector<const Execution*> first;
  for (size_t i = 0; i < limits::kept_executions; ++i) first.push_back(run(i));
  for (size_t i = 0; i < limits::kept_executions; ++i) EXPECT_EQ(run(i), first[i]) << i;
}

TEST_F(ExecutionPoolTest, TheLeastUsedMakesRoomForOneMore) {
  for (size_t i = 0; i < limits::kept_executions; ++i) run(i);
  run(0);
  run(limits::kept_executions);
  for (size_t i = 0; i < plans_.size(); ++i) EXPECT_EQ(is_kept(i), i != 1) << i;
}

TEST_F(ExecutionPoolTest, ThoseOfLongTextsMakeRoomToo) {
  run(0, 60);
  run(1, 40);
  run(0, 60);
  run(2, 1);
  EXPECT_TRUE(is_kept(0));
  EXPECT_FALSE(is_kept(1));
  EXPECT_TRUE(is_kept(2));
  run(3, 101);  // too long to be kept at all
  EXPECT_TRUE(is_kept(0));
  EXPECT_FALSE(is_kept(3));
}

}  // namespace
}  // namespace pgsilo::testing
