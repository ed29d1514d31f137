#include "tests/protocol/wait_time.h"

#include <algorithm>
#include <ctime>

#include "tests/protocol/monitoring_support.h"

namespace pgsilo::protocol_test {

WaitTime::WaitTime(const RawClient& client)
    : knows_server_(!runs_on_postgres() &&
                    clock_getcpuclockid(client.server_process(), &server_clock_) == 0),
      worked_before_(worked()) {}

WaitTime::Time WaitTime::worked() const {
  timespec time{};
  if (knows_server_) clock_gettime(server_clock_, &time);
  return std::chrono::seconds(time.tv_sec) + Time(time.tv_nsec);
}

int64_t WaitTime::milliseconds() const {
  Time wait = std::chrono::steady_clock::now() - began_;
  if (knows_server_) wait = std::min(wait, worked() - worked_before_);
  return std::chrono::duration_cast<std::chrono::milliseconds>(wait).count();
}

}  // namespace pgsilo::protocol_test
