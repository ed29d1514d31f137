#include "tpcc/engine/transactions.h"

namespace pgsilo::tpcc {

namespace {

// Dates the order's lines; their amounts together.
bool deliver_lines(Attempt& attempt, Tables& tables, const DeliveryInput& input, uint32_t district,
                   uint32_t order, int64_t* total) {
  Key first(input.warehouse, district, order), end(input.warehouse, district, order + 1);
  TransactionScan lines(attempt.transaction(), tables.order_lines, range(first, end),
                        ScanDirection::forward, attempt.buffer());
  RowRef place;
  for (bool more = true;;) {
    if (!attempt.next(lines, &place, &more)) return false;
    if (!more) return true;
    OrderLine line;
    Attempt::copy(place.row, &line);
    line.delivery_date = input.date;
    *total += line.amount;
    if (!attempt.update(place, line)) return false;
  }
}

// The oldest order that waits in the district, if one does.
bool deliver_district(Attempt& attempt, Tables& tables, const DeliveryInput& input,
                      uint32_t district, Screen* screen) {
  Key first(input.warehouse, district), end(input.warehouse, district + 1);
  TransactionScan oldest(attempt.transaction(), tables.new_orders, range(first, end),
                         ScanDirection::forward, attempt.buffer());
  RowRef place;
  bool more;
  if (!attempt.next(oldest, &place, &more)) return false;
  if (!more) return true;
  uint32_t number = key_number(place.key(), 2);
  Order order;
  if (!attempt.remove(place) ||
      !attempt.read(tables.orders, Key(input.warehouse, district, number), &order, &place)) {
    return false;
  }
  order.carrier = input.carrier;
  int64_t total = 0;
  if (!attempt.update(place, order) ||
      !deliver_lines(attempt, tables, input, district, number, &total)) {
    return false;
  }
  Customer customer;
  if (!attempt.read(tables.customers, Key(input.warehouse, district, order.customer), &customer,
                    &place)) {
    return false;
  }
  customer.balance += total;
  ++customer.delivery_count;
  screen->amount += total;
  ++screen->count;
  return attempt.update(place, customer);
}

}  // namespace

TransactionStatus delivery(Attempt& attempt, Tables& tables, const DeliveryInput& input,
                           Screen* screen) {
  for (uint32_t district = 1; district <= Scale::districts; ++district) {
    if (!deliver_district(attempt, tables, input, district, screen)) return attempt.status();
  }
  return attempt.status();
}

}  // namespace pgsilo::tpcc
