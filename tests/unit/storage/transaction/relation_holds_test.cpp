// What an owner holds of many relations, against a list that is looked through.
#include "storage/transaction/relation_holds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/random.h"

namespace pgsilo {
namespace {

class RelationHoldsTest : public ::testing::Test {
 protected:
  static constexpr size_t relations = 300;
  // Only addresses matter.
  Relation* relation(size_t number) { return reinterpret_cast<Relation*>(&places_[number]); }

  void add(const RelationHold& hold) {
    if (holds_.is_full()) {
      RelationHolds larger(std::max<size_t>(16, 2 * holds_.size()));
      holds_.move_to(larger);
    }
    holds_.add(hold);
    model_.push_back(hold);
  }
  void expect_equal() const {
    ASSERT_TRUE(std::ranges::equal(holds_, model_, [](const auto& left, const auto& right) {
      return left.relation == right.relation && left.mode == right.mode;
    }));
  }
  // The newest first.
  void expect_found(const Relation* of) const {
    std::vector<LockMode> modes;
    holds_.visit(of, [&](const RelationHold& hold) { modes.push_back(hold.mode); });
    std::vector<LockMode> expected;
    for (size_t i = model_.size(); i-- > 0;) {
      if (model_[i].relation == of) expected.push_back(model_[i].mode);
    }
    ASSERT_EQ(modes, expected);
  }

  std::array<int64_t, relations> places_{};
  RelationHolds holds_;
  std::vector<RelationHold> model_;
};

TEST_F(RelationHoldsTest, FindsWhatAListHas) {
  Random random(7);
  for (int step = 0; step < 20000; ++step) {
    bool grows = random.below(100) < (step % 4000 < 2000 ? 70 : 35);
    if (grows) {
      add({.relation = relation(random.below(relations)),
           .mode = random.below(2) == 0 ? LockMode::access_share : LockMode::access_exclusive});
    } else if (!model_.empty()) {
      holds_.pop_back();
      model_.pop_back();
    }
    if (step % 50 == 0) {
      auto strong = [](const RelationHold& hold) { return hold.mode != LockMode::access_share; };
      size_t from = random.below(model_.size() + 1);
      size_t first = holds_.bring_forward(from, strong);
      size_t expected = from;
      for (size_t i = from; i < model_.size(); ++i) {
        if (strong(model_[i])) std::swap(model_[expected++], model_[i]);
      }
      ASSERT_EQ(first, expected);
      expect_equal();
    }
    expect_found(relation(random.below(relations)));
  }
}

}  // namespace
}  // namespace pgsilo
