#include "tests/stress/server/disturbance_support.h"

#include "base/random.h"

namespace pgsilo::server_stress {

void end_sessions(const InProcessServer& server, const SessionProcesses& sessions,
                  const std::atomic<int>& running, uint64_t seed) {
  Client client(server);
  Random random(seed);
  while (running.load() > 0) {
    std::string process = std::to_string(sessions.get(random.below(sessions.size())));
    const char* function = random.one_in(3) ? "pg_terminate_backend" : "pg_cancel_backend";
    client.must(std::string("SELECT ") + function + "(" + process + ")");
    client.must("SELECT pg_sleep(0.00" + std::to_string(random.below(10)) + ")");
  }
}

void change_definitions(const InProcessServer& server, const std::string& indexed,
                        const std::string& altered, const std::atomic<int>& running) {
  Client client(server);
  while (running.load() > 0) {
    client.must("CREATE INDEX another ON " + indexed);
    client.must("ALTER TABLE " + altered + " ADD COLUMN another int DEFAULT 1");
    client.must("DROP INDEX another");
    client.must("ALTER TABLE " + altered + " DROP COLUMN another");
  }
}

}  // namespace pgsilo::server_stress
