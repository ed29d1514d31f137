#include "tests/isolation/serial_orders.h"

#include <algorithm>

namespace pgsilo::isolation {
namespace {

bool may_be_next(const Transaction& transaction, const std::vector<const Transaction*>& left) {
  return std::none_of(left.begin(), left.end(),
                      [&](const Transaction* other) { return other->end < transaction.begin; });
}

}  // namespace

bool SerialOrders::explain(const Run& run) {
  Order all, order;
  for (const Transaction& transaction : run.transactions) {
    if (transaction.committed || all_) all.push_back(&transaction);
  }
  return try_orders(all, order, run.state);
}

// In the order in which they ended, which mostly is the one.
bool SerialOrders::try_orders(const Order& left, Order& order, const std::string& state) {
  if (left.empty()) return agrees(order, state);
  for (size_t i = 0; i < left.size(); ++i) {
    if (!may_be_next(*left[i], left)) continue;
    Order rest = left;
    rest.erase(rest.begin() + static_cast<ptrdiff_t>(i));
    order.push_back(left[i]);
    bool found = try_orders(rest, order, state);
    order.pop_back();
    if (found) return true;
  }
  return false;
}

bool SerialOrders::agrees(const Order& order, const std::string& state) {
  const std::vector<std::string>& outcome = this->outcome(order);
  size_t at = 0;
  for (const Transaction* transaction : order) {
    for (const Told& told : transaction->told) {
      if (outcome[at++] != told.answer) return false;
    }
  }
  return outcome[at] == state;
}

const std::vector<std::string>& SerialOrders::outcome(const Order& order) {
  std::string key;
  for (const Transaction* transaction : order) {
    for (const Told& told : transaction->told) key += spec_.steps[told.step].name + " ";
    key += transaction->committed ? "committed " : "rolled back ";
  }
  auto [known, is_new] = outcomes_.try_emplace(key);
  std::vector<std::string>& outcome = known->second;
  if (!is_new) return outcome;
  connection_.must(spec_.setup);
  for (const Transaction* transaction : order) {
    const Session& session = spec_.sessions[transaction->session];
    if (transaction->first_of_session && !session.setup.empty()) connection_.must(session.setup);
    for (const Told& told : transaction->told)
      outcome.push_back(connection_.run(spec_.steps[told.step].sql).text);
    if (connection_.in_block()) connection_.must("ROLLBACK");
  }
  outcome.push_back(connection_.must(spec_.state).text);
  if (!spec_.teardown.empty()) connection_.must(spec_.teardown);
  return outcome;
}

}  // namespace pgsilo::isolation
