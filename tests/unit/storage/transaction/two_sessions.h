// What tests of who waits for whom begin with: two sessions, and how their locks stand. Thread
// safety: as its parts.
#pragma once

#include <gtest/gtest.h>

#include "storage/transaction/lock_list.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo::testing {

class TwoSessionsTest : public ::testing::Test {
 protected:
  // How many modes of the relation's lock are held or wanted.
  size_t uses(const Relation& of) {
    size_t count = 0;
    for (const LockEntry& entry : engine.locks.list()) count += entry.relation == of.id();
    return count;
  }

  TestEngine engine;
  TestSession main{engine};
  TestSession other{engine};
};

}  // namespace pgsilo::testing
