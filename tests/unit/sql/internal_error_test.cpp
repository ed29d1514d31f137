#include "sql/internal_error.h"

#include <gtest/gtest.h>

#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/fiber.h"
#include "base/large_stack.h"
#include "base/limits.h"
#include "sql/types/type.h"

namespace pgsilo {
namespace {

template <typename Throwing>
SqlError error_of(Throwing throwing) {
  try {
    throwing();
  } catch (...) {
    return error_of_current_exception();
  }
  return SqlError(sqlstate::successful_completion, "nothing was thrown");
}

TEST(InternalErrorTest, ARequirementTellsItselfAndTheLogWhere) {
  SqlError error = error_of([] { PGSILO_REQUIRE(2 + 2 == 5); });
  EXPECT_EQ(error.state(), sqlstate::internal_error);
  EXPECT_EQ(error.diagnostic().message, "check failed: 2 + 2 == 5");
  const std::string& for_log = error.diagnostic().log_detail;
  EXPECT_EQ(for_log.find("at "), 0U) << for_log;
  EXPECT_NE(for_log.find("internal_error_test.cpp:"), std::string::npos) << for_log;
  EXPECT_NE(for_log.find("unit_sql+0x"), std::string::npos) << for_log;
  EXPECT_NO_THROW(PGSILO_REQUIRE(2 + 2 == 4));
}

TEST(InternalErrorTest, WhateverIsThrownBecomesAnError) {
  EXPECT_EQ(error_of([] { throw SqlError(sqlstate::division_by_zero, "by zero"); }).state(),
            sqlstate::division_by_zero);
  EXPECT_EQ(error_of([] { throw std::bad_alloc(); }).state(), sqlstate::out_of_memory);
  SqlError range = error_of([] { static_cast<void>(std::string("a").at(3)); });
  EXPECT_EQ(range.state(), sqlstate::internal_error);
  EXPECT_NE(range.diagnostic().message.find("unexpected exception: "), std::string::npos);
  EXPECT_EQ(range.diagnostic().log_detail, "std::out_of_range");
  SqlError number = error_of([] { throw 5; });
  EXPECT_EQ(number.state(), sqlstate::internal_error);
  EXPECT_EQ(number.diagnostic().log_detail, "int");
}

// Over the detour and out of it, inside of a fiber, as statements are planned.
TEST(InternalErrorTest, PassesThroughTheLargeStackOfAFiber) {
  StackPool stacks(limits::fiber_stack_bytes, limits::kept_stack_bytes);
  std::optional<SqlError> error;
  Fiber fiber(
      stacks,
      [](void* told) {
        *static_cast<std::optional<SqlError>*>(told) =
            error_of([] { run_on_large_stack([] { static_cast<void>(type_info(999999)); }); });
      },
      &error);
  fiber.resume();
  EXPECT_TRUE(fiber.finished());
  EXPECT_EQ(error->diagnostic().message, "check failed: type != nullptr");
}

}  // namespace
}  // namespace pgsilo
