// The epoch that a session's answers wait for: the newest one that anything they tell rests on.
// With synchronous_commit off they wait for none: of a transaction's answers the value counts that
// is set when they leave, of its end's the one at the end. A transaction that changes the catalog
// is waited for all the same, as PostgreSQL waits for those that remove files. What was committed
// without waiting is in nobody's way: a session that waits does so for what it has read.
// Thread safety: none; the session's fiber.
#pragma once

#include <algorithm>
#include <cstdint>

#include "server/settings/settings.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

class AwaitedEpoch {
 public:
  // Both outlive it.
  AwaitedEpoch(const Settings& settings, const Transaction& transaction)
      : settings_(settings), transaction_(transaction) {}

  // By all transactions so far, the open one included.
  uint64_t get() const { return has_ended_ || !is_wanted() ? ended_ : newest(); }
  // The transaction begins.
  void begin() { has_ended_ = false; }
  // It goes on, but may forget what it has read.
  void keep() {
    if (is_wanted()) ended_ = newest();
  }
  // It has ended; `wanted`: is_wanted() before it did, or it is waited for in any case.
  void end(bool wanted) {
    if (wanted) ended_ = newest();
    has_ended_ = true;
  }
  // The setting's value now.
  bool is_wanted() const {
    static const int setting = find_setting("synchronous_commit");
    return settings_.value(setting).text != "off";
  }

 private:
  uint64_t newest() const { return std::max(ended_, transaction_.newest_epoch().value()); }

  const Settings& settings_;
  const Transaction& transaction_;
  uint64_t ended_ = 0;      // what is awaited of transactions that have ended
  bool has_ended_ = false;  // the one that began last is among them
};

}  // namespace pgsilo
