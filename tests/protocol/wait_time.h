// How long a client is kept waiting by its server, for tests that bound it. Thread safety: none.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {

// From its making on. What counts is the time for which the server has been at work, if that is
// less than what has passed: on a busy machine it has its share of the processors only.
class WaitTime {
 public:
  explicit WaitTime(const RawClient& client);
  int64_t milliseconds() const;

 private:
  using Time = std::chrono::nanoseconds;
  Time worked() const;

  clockid_t server_clock_ = 0;
  bool knows_server_;  // PostgreSQL's sessions are processes of their own, which are not known
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  Time worked_before_;
};

}  // namespace pgsilo::protocol_test
