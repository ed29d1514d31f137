// Whether some serial order that keeps real time explains what a permutation's transactions were
// told and the state they left: each possible order is run one transaction after the other on the
// same server.
//
// Ours promises more than PostgreSQL: what a transaction had been told counts even
// if it was rolled back later. `all`: those count too.
// Thread safety: none.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/isolation/connection.h"
#include "tests/isolation/permutation_run.h"
#include "tests/isolation/spec.h"

namespace pgsilo::isolation {

class SerialOrders {
 public:
  SerialOrders(const std::string& conninfo, const Spec& spec, bool all)
      : spec_(spec), all_(all), connection_(conninfo) {}

  bool explain(const Run& run);

 private:
  using Order = std::vector<const Transaction*>;
  bool try_orders(const Order& left, Order& order, const std::string& state);
  // Whether each transaction of this order is told the same, and this state is left.
  bool agrees(const Order& order, const std::string& state);
  // One line for what each step that is run in this order is answered, and one for the state.
  const std::vector<std::string>& outcome(const Order& order);

  const Spec& spec_;
  const bool all_;
  Connection connection_;
  std::map<std::string, std::vector<std::string>> outcomes_;
};

}  // namespace pgsilo::isolation
