#include "base/persistent_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/random.h"

namespace pgsilo {
namespace {

struct GoodHash {
  uint64_t operator()(uint32_t key) const { return hash_integer(key); }
};
struct Itself {
  uint64_t operator()(uint32_t key) const { return key; }
};
// Many agree in all bits, others in all but the last that are looked at.
struct BadHash {
  uint64_t operator()(uint32_t key) const { return uint64_t{key % 7} << 61; }
};

template <typename Hash>
class PersistentMapTest : public ::testing::Test {
 public:
  using Map = PersistentMap<uint32_t, std::string, Hash>;
  using Model = std::map<uint32_t, std::string>;

  static Model contents(const Map& map) {
    Model all;
    for (const auto& [key, value] : map) EXPECT_TRUE(all.emplace(key, value).second);
    return all;
  }
  static void expect_same(const Map& map, const Model& model) {
    EXPECT_EQ(map.size(), model.size());
    EXPECT_EQ(contents(map), model);
    for (uint32_t key = 0; key < 220; ++key) {
      const std::string* found = map.find(key);
      auto expected = model.find(key);
      ASSERT_EQ(found != nullptr, expected != model.end()) << key;
      if (found != nullptr) {
        EXPECT_EQ(*found, expected->second);
      }
    }
  }
};

using Hashes = ::testing::Types<GoodHash, Itself, BadHash>;
TYPED_TEST_SUITE(PersistentMapTest, Hashes);

TYPED_TEST(PersistentMapTest, IsWhatAMapWouldBe) {
  Random random(1);
  typename TestFixture::Map map;
  typename TestFixture::Model model;
  for (int phase = 0; phase < 8; ++phase) {
    bool grows = phase % 2 == 0;
    for (int i = 0; i < 400; ++i) {
      auto key = static_cast<uint32_t>(random.below(200));
      if (random.below(4) == 0 ? grows : !grows) {
        map.erase(key);
        model.erase(key);
      } else {
        std::string value = std::to_string(phase * 1000 + i);
        map.set(key, value);
        model[key] = value;
      }
    }
    this->expect_same(map, model);
  }
  for (uint32_t key = 0; key < 200; ++key) map.erase(key);
  this->expect_same(map, {});
}

TYPED_TEST(PersistentMapTest, CopiesStayAsTheyWere) {
  Random random(2);
  typename TestFixture::Map map;
  typename TestFixture::Model model;
  std::vector<std::pair<typename TestFixture::Map, typename TestFixture::Model>> copies;
  for (int i = 0; i < 300; ++i) {
    auto key = static_cast<uint32_t>(random.below(60));
    if (random.below(3) == 0) {
      map.erase(key);
      model.erase(key);
    } else {
      map.set(key, std::to_string(i));
      model[key] = std::to_string(i);
    }
    copies.emplace_back(map, model);
  }
  for (const auto& [copy, expected] : copies) this->expect_same(copy, expected);
}

// A node on the way to an entry is copied, whatever the map has beside it.
TEST(PersistentMapChange, LeavesOtherEntriesWhereTheyAre) {
  PersistentMap<uint32_t, std::string, GoodHash> map;
  for (uint32_t key = 0; key < 20000; ++key) map.set(key, std::to_string(key));
  auto changed = map;
  changed.set(777, "new");
  changed.set(30000, "newer");
  changed.erase(5);
  size_t moved = 0;
  for (uint32_t key = 0; key < 20000; ++key) moved += map.find(key) != changed.find(key) ? 1 : 0;
  EXPECT_LT(moved, 200U);
  EXPECT_EQ(*map.find(777), "777");
  EXPECT_EQ(*changed.find(777), "new");
}

}  // namespace
}  // namespace pgsilo
