// What is looked at when the sessions of a round have ended: that the server answers, that tables
// and their indexes agree, and that nothing is left behind once everything is dropped.
// Thread safety: functions without state.
#pragma once

#include <string>

#include "tests/sessions/connection.h"
#include "tests/sessions/server_process.h"

namespace pgsilo::sessions {

struct Levels {
  long used = 0;      // bytes, as the server counts them
  long resident = 0;  // kilobytes
  size_t descriptors = 0;
};

class Aftermath {
 public:
  explicit Aftermath(ServerProcess& server);

  // Empty, or what is wrong.
  std::string answers();
  std::string indexes_agree(size_t* compared);
  std::string drop_everything();
  Levels levels();

  std::vector<std::vector<std::string>> ask(const std::string& sql);

 private:
  std::vector<std::string> sorted_column(const std::string& table, const std::string& column,
                                         bool by_index, bool* is_known);

  ServerProcess& server_;
  Connection connection_;
};

}  // namespace pgsilo::sessions
