// Beside the clients of a load: cancels, ends of sessions, changes of the table's definition, and
// kills of the server, which is started again.
// Thread safety: one owner.
#pragma once

#include <string>

#include "base/random.h"
#include "tests/anomalies/observing_client.h"
#include "tests/sessions/server_process.h"

namespace pgsilo::anomalies {

class Disturber {
 public:
  struct Counts {
    size_t cancels = 0, ends = 0, definitions = 0, kills = 0, deaths = 0;
  };

  // `kill_pause`: seconds between kills; 0: none.
  Disturber(Load& load, sessions::ServerProcess& server, long kill_pause, uint64_t seed);
  // Until the load is done.
  void run();
  const Counts& counts() const { return counts_; }
  const std::string& deaths() const { return deaths_; }

 private:
  void restart_if_gone();
  void disturb_one();
  void define();
  bool ask(const std::string& sql);

  Load& load_;
  sessions::ServerProcess& server_;
  const long kill_pause_;
  Random random_;
  Counts counts_;
  std::string deaths_;
  int columns_ = 0;
};

}  // namespace pgsilo::anomalies
