#include "tpcc/engine/transactions.h"

namespace pgsilo::tpcc {

TransactionStatus order_status(Attempt& attempt, Tables& tables, const OrderStatusInput& input,
                               Screen* screen) {
  Customer customer;
  RowRef place;
  if (!find_customer(attempt, tables, input.customer, &customer, &place)) return attempt.status();
  screen->amount = customer.balance;
  uint32_t w = input.customer.warehouse, d = input.customer.district;
  uint32_t c = key_number(place.key(), 2);

  // The customer's newest order. In a full database everybody has one.
  Key first(w, d, c), end(w, d, c + 1);
  TransactionScan newest(attempt.transaction(), tables.orders_by_customer, range(first, end),
                         ScanDirection::backward, attempt.buffer());
  RowRef entry;
  bool more;
  if (!attempt.next(newest, &entry, &more)) return attempt.status();
  if (!more) return TransactionStatus::ok;
  attempt.keep_row();
  Order order;
  if (!attempt.follow(entry, tables.orders, &order, &place)) return attempt.status();

  uint32_t number = key_number(place.key(), 2);
  Key first_line(w, d, number), end_of_lines(w, d, number + 1);
  TransactionScan lines(attempt.transaction(), tables.order_lines, range(first_line, end_of_lines),
                        ScanDirection::forward, attempt.buffer());
  while (attempt.next(lines, &place, &more) && more) {
    screen->amount += reinterpret_cast<const OrderLine*>(place.row.data())->amount;
    ++screen->count;
  }
  return attempt.status();
}

}  // namespace pgsilo::tpcc
