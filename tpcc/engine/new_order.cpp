#include <array>

#include "tpcc/engine/transactions.h"

namespace pgsilo::tpcc {

namespace {

// One line: the item's price, the stock it is taken from, the row. Adds its amount to *total.
bool add_line(Attempt& attempt, Tables& tables, const NewOrderInput& input, uint32_t order,
              uint32_t number, Screen* screen) {
  const NewOrderInput::Line& line = input.lines[number - 1];
  const Item* item;
  // The same item may come twice: the second line sees what the first one took.
  if (!attempt.next_statement() || !attempt.read(tables.items, Key(line.item), &item)) return false;
  int64_t amount = int64_t{item->price} * line.quantity;
  bool original = is_original(item->data.view());

  Stock stock;
  RowRef place;
  if (!attempt.read(tables.stock, Key(line.supply_warehouse, line.item), &stock, &place))
    return false;
  bool enough = stock.quantity >= line.quantity + 10;
  stock.quantity = static_cast<int16_t>(stock.quantity - line.quantity + (enough ? 0 : 91));
  stock.ytd += line.quantity;
  ++stock.order_count;
  if (line.supply_warehouse != input.warehouse) ++stock.remote_count;
  if (!attempt.update(place, stock)) return false;

  OrderLine row{line.item,     line.supply_warehouse,        /*delivery_date=*/0,
                line.quantity, static_cast<int32_t>(amount), {}};
  std::memcpy(row.district_info, stock.district_info[input.district - 1], sizeof row.district_info);
  screen->amount += amount;
  screen->count += original && is_original(stock.data.view()) ? 1 : 0;
  return attempt.insert(tables.order_lines,
                        Key(input.warehouse, input.district, order, number).view(), bytes_of(row));
}

void prefetch_lines(const Tables& tables, const NewOrderInput& input) {
  std::array<Key<1>, NewOrderInput::most_lines> items;
  std::array<Key<2>, NewOrderInput::most_lines> stocks;
  for (uint32_t i = 0; i < input.line_count; ++i) {
    const NewOrderInput::Line& line = input.lines[i];
    items[i] = Key(line.item);
    stocks[i] = Key(line.supply_warehouse, line.item);
  }
  prefetch<1>(tables.items, std::span(items).first(input.line_count));
  prefetch<2>(tables.stock, std::span(stocks).first(input.line_count));
}

}  // namespace

TransactionStatus new_order(Attempt& attempt, Tables& tables, const NewOrderInput& input,
                            Screen* screen) {
  const auto w = input.warehouse, d = input.district, c = input.customer;
  constexpr RowRange warehouse_used[] = {PGSILO_TPCC_RANGE(Warehouse, tax)};
  constexpr RowRange district_used[] = {PGSILO_TPCC_RANGE(District, tax),
                                        PGSILO_TPCC_RANGE(District, next_order)};
  Warehouse warehouse;
  RowRef place;
  if (!attempt.read_partial(tables.warehouses, Key(w), warehouse_used, &warehouse, &place))
    return attempt.status();
  int64_t tax = warehouse.tax;

  District district;
  if (!attempt.read_partial(tables.districts, Key(w, d), district_used, &district, &place))
    return attempt.status();
  uint32_t order = district.next_order++;
  tax += district.tax;
  if (!attempt.update_partial(place, district,
                              RowPatch::add(PGSILO_TPCC_RANGE(District, next_order), 1))) {
    return attempt.status();
  }

  const Customer* customer;
  if (!attempt.read(tables.customers, Key(w, d, c), &customer)) return attempt.status();
  int64_t discount = customer->discount;

  Order row{c, input.entry_date, /*carrier=*/0, input.line_count, input.all_local};
  Key key(w, d, order);
  if (!attempt.insert(tables.orders, key.view(), bytes_of(row)) ||
      !attempt.insert(tables.orders_by_customer, Key(w, d, c, order).view(), key.view()) ||
      !attempt.insert(tables.new_orders, key.view(), {})) {
    return attempt.status();
  }
  prefetch_lines(tables, input);
  for (uint32_t number = 1; number <= input.line_count; ++number) {
    if (!add_line(attempt, tables, input, order, number, screen)) return attempt.status();
  }
  screen->amount = screen->amount * (10'000 - discount) / 10'000 * (10'000 + tax) / 10'000;
  return attempt.status();
}

}  // namespace pgsilo::tpcc
