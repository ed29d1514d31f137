// The text of the running query while its session replaces it.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "server/session/session_activity.h"

namespace pgsilo {
namespace {

TEST(SessionActivityStress, TextsAreReadWhole) {
  SessionActivity activity;
  std::atomic<bool> done = false;
  std::thread owner([&] {
    for (int round = 0; round < 20000; ++round) {
      activity.begin(std::string(static_cast<size_t>(1 + round % 1000), char('a' + round % 26)),
                     round);
    }
    done = true;
  });
  while (!done) {
    std::string text = activity.read().query;
    ASSERT_EQ(text.find_first_not_of(text.empty() ? 'a' : text[0]), std::string::npos) << text;
  }
  owner.join();
}

}  // namespace
}  // namespace pgsilo
