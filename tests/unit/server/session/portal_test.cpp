#include "server/session/portal.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/memory_budget.h"
#include "server/limits.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

std::shared_ptr<PreparedStatement> statement_of(size_t bytes) {
  auto syntax = std::make_shared<CachedText::Syntax>();
  syntax->text.assign(bytes, ' ');
  auto statement = std::make_shared<PreparedStatement>();
  statement->text = std::make_shared<CachedText>();
  statement->text->syntax = std::move(syntax);
  return statement;
}

std::shared_ptr<Portal> portal_of(const std::shared_ptr<PreparedStatement>& statement,
                                  size_t bytes) {
  auto portal = std::make_shared<Portal>();
  portal->statement = statement;
  if (bytes != 0) portal->memory->allocate(bytes);
  return portal;
}

// Memory is used up: nothing but the free allowance is left.
class PortalsTest : public ::testing::Test {
 protected:
  static constexpr size_t most = limits::free_portal_bytes * 3 / 4;

  MemoryCeiling ceiling_{64 << 20, 1, [] { return MemoryUsage{1 << 30, 1 << 30}; }};
  MemoryBudget budget_{ceiling_, 0};
  MemoryBudget::Use use_{budget_};
  std::shared_ptr<PreparedStatement> small = statement_of(1);
  Portals portals;
};

// However it goes, what was asked for is given back; a refusal leaves nothing.
TEST_F(PortalsTest, ParametersAreAskedForBeyondALittle) {
  for (const std::function<void()>& remove : std::vector<std::function<void()>>{
           [&] { portals.remove("first"); }, [&] { portals.clear(); },
           [&] { portals.remove_since(0); }, [&] { portals.end_since(0); }, [] {}}) {
    portals.add("", portal_of(small, most));
    portals.add("first", portal_of(small, most));
    for (int round = 0; round < 3; ++round) {
      EXPECT_THROW(portals.add("second", portal_of(small, most)), MemoryLimitReached);
      EXPECT_THROW(portals.add("first", portal_of(small, 0)), SqlError);
      EXPECT_EQ(portals.find("second"), nullptr);
    }
    remove();
    if (portals.find("first") == nullptr || portals.find("first")->state == Portal::State::ended) {
      portals.add("second", portal_of(small, most));
    }
    portals.clear();
  }
}

TEST_F(PortalsTest, AStatementIsCountedOnceAndAsLongAsAPortalKeepsIt) {
  auto large = statement_of(most), other = statement_of(most);
  portals.add("first", portal_of(large, 0));
  portals.add("second", portal_of(large, 0));
  portals.remove("first");
  EXPECT_THROW(portals.add("third", portal_of(other, 0)), MemoryLimitReached);
  EXPECT_EQ(other->portals, 0u);
  portals.remove("second");
  portals.add("third", portal_of(other, 0));
}

// Like the portals themselves, and however deep they lie.
TEST_F(PortalsTest, InnerOnesAreAskedForAsLongAsANamedOneHasThem) {
  auto large = statement_of(most);
  for (const std::function<void()>& remove : std::vector<std::function<void()>>{
           [&] { portals.remove("first"); }, [&] { portals.clear(); },
           [&] { portals.remove_since(0); }, [&] { portals.end_since(0); }}) {
    for (const auto& innermost : {portal_of(small, most), portal_of(large, 0)}) {
      portals.add("first", portal_of(small, 0));
      portals.add("second", portal_of(small, 0));
      Portal& first = *portals.find("first");
      portals.set_inner(first, portal_of(small, 0));
      portals.set_inner(*first.inner, innermost);
      Portal& second = *portals.find("second");
      EXPECT_THROW(portals.set_inner(second, portal_of(small, most)), MemoryLimitReached);
      EXPECT_EQ(second.inner, nullptr);
      remove();
      portals.remove("second");
      portals.add("second", portal_of(small, most));
      portals.clear();
    }
  }
  EXPECT_EQ(large->portals, 0u);
  EXPECT_EQ(small->portals, 0u);
}

TEST_F(PortalsTest, InnerOnesOfTheUnnamedAreNotCounted) {
  portals.add("", portal_of(small, 0));
  portals.set_inner(*portals.find(""), portal_of(small, most));
  portals.add("first", portal_of(small, most));
  portals.remove("");
  EXPECT_THROW(portals.add("second", portal_of(small, most)), MemoryLimitReached);
}

TEST_F(PortalsTest, SmallOnesAreAskedForInTheEnd) {
  size_t added = 0;
  EXPECT_THROW(
      {
        for (; added < 1000; ++added) portals.add(std::to_string(added), portal_of(small, 0));
      },
      MemoryLimitReached);
  EXPECT_GE(added, 100u);
}

}  // namespace
}  // namespace pgsilo
