// A thousand connections that do nothing, and what they cost.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <memory>
#include <vector>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

TEST(CrowdTest, AThousandIdleConnections) {
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  std::vector<std::unique_ptr<RawClient>> crowd;
  for (int i = 0; i < 1000; ++i) {
    crowd.push_back(std::make_unique<RawClient>());
    crowd.back()->start();
  }
  for (int round = 0; round < 3; ++round) {
    for (auto& client : crowd) client->send(query("select 'present'"));
    for (auto& client : crowd) ASSERT_EQ(client->answer(), "TDCZI");
  }
}

}  // namespace
}  // namespace pgsilo::protocol_test
