#include "base/check.h"
#include "tpcc/engine/transactions.h"

namespace pgsilo::tpcc {

bool find_customer(Attempt& attempt, Tables& tables, const CustomerChoice& choice, Customer* row,
                   RowRef* place) {
  const auto& [warehouse, district, customer, last] = choice;
  if (customer != 0) {
    return attempt.read(tables.customers, Key(warehouse, district, customer), row, place);
  }
  CustomerNameKey before = CustomerNameKey::before(warehouse, district, last.view());
  CustomerNameKey after = CustomerNameKey::after(warehouse, district, last.view());
  TransactionScan scan(attempt.transaction(), tables.customers_by_name,
                       {KeyBound::exclusive(before.view()), KeyBound::exclusive(after.view())},
                       ScanDirection::forward, attempt.buffer());
  std::vector<RowRef>& entries = attempt.entries();
  RowRef entry;
  for (bool more = true;;) {
    if (!attempt.next(scan, &entry, &more)) return false;
    if (!more) break;
    attempt.keep_row();
    entries.push_back(entry);
  }
  // Clause 2.5.2.2: number n / 2, rounded up, counted from 1.
  PGSILO_CHECK(!entries.empty());
  return attempt.follow(entries[(entries.size() - 1) / 2], tables.customers, row, place);
}

}  // namespace pgsilo::tpcc
