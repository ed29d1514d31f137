#include "tpcc/engine/population.h"

#include <numeric>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "storage/relation/relation.h"
#include "tpcc/engine/keys.h"

namespace pgsilo::tpcc {

namespace {
constexpr uint32_t rows_per_transaction = 500;
}

void Population::insert(Relation& table, std::string_view key, std::string_view row) {
  if (rows_ == 0) transaction_.begin(TransactionMode::one_shot);
  PGSILO_CHECK(transaction_.begin_statement() == TransactionStatus::ok);
  PGSILO_CHECK(transaction_.insert(table, key, row) == TransactionStatus::ok);
  if (++rows_ == rows_per_transaction) commit();
}

void Population::commit() {
  if (rows_ != 0) PGSILO_CHECK(transaction_.commit() == TransactionStatus::ok);
  rows_ = 0;
  transaction_.worker().housekeep();
}

Address Population::address() {
  Address address{};
  random_.letters(address.street_1, 10, 20);
  random_.letters(address.street_2, 10, 20);
  random_.letters(address.city, 10, 20);
  random_.letters(address.state, sizeof address.state);
  random_.digits(address.zip, 4);
  std::memset(address.zip + 4, '1', 5);
  return address;
}

// Of an item or its stock: one of ten is an original somewhere.
void Population::data(Text<50>& text) {
  random_.letters(text, 26, 50);
  constexpr std::string_view original = "ORIGINAL";
  if (random_.percent(10)) {
    uint32_t at = random_.between(0, static_cast<uint32_t>(text.size - original.size()));
    std::memcpy(text.bytes + at, original.data(), original.size());
  }
}

void Population::load_items() {
  for (uint32_t number = 1; number <= scale_.items; ++number) {
    Item item{};
    item.image = random_.between(1, 10'000);
    random_.letters(item.name, 14, 24);
    item.price = static_cast<int32_t>(amount(100, 10'000));
    data(item.data);
    insert(tables_.items, Key(number).view(), bytes_of(item));
  }
  commit();
}

void Population::load_warehouse(uint32_t warehouse) {
  Warehouse row{};
  random_.letters(row.name, 6, 10);
  row.address = address();
  row.tax = static_cast<int32_t>(amount(0, 2000));
  row.ytd = int64_t{Scale::districts} * scale_.customers * 1000;  // clause 4.3.3.1: 300,000.00
  insert(tables_.warehouses, Key(warehouse).view(), bytes_of(row));
  load_stock(warehouse);
  for (uint32_t district = 1; district <= Scale::districts; ++district)
    load_district(warehouse, district);
  commit();
}

void Population::load_stock(uint32_t warehouse) {
  for (uint32_t item = 1; item <= scale_.items; ++item) {
    Stock row{};
    row.quantity = static_cast<int16_t>(amount(10, 100));
    for (auto& info : row.district_info) random_.letters(info, sizeof info);
    data(row.data);
    insert(tables_.stock, Key(warehouse, item).view(), bytes_of(row));
  }
}

void Population::load_district(uint32_t warehouse, uint32_t district) {
  District row{};
  random_.letters(row.name, 6, 10);
  row.address = address();
  row.tax = static_cast<int32_t>(amount(0, 2000));
  row.ytd = int64_t{scale_.customers} * 1000;
  row.next_order = scale_.customers + 1;
  insert(tables_.districts, Key(warehouse, district).view(), bytes_of(row));
  for (uint32_t customer = 1; customer <= scale_.customers; ++customer)
    load_customer(warehouse, district, customer);
  // Every customer has one order, in a random order.
  std::vector<uint32_t> customers(scale_.customers);
  std::iota(customers.begin(), customers.end(), 1);
  for (uint32_t order = 1; order <= scale_.customers; ++order) {
    std::swap(customers[order - 1], customers[random_.between(order, scale_.customers) - 1]);
    load_order(warehouse, district, order, customers[order - 1]);
  }
}

void Population::load_customer(uint32_t warehouse, uint32_t district, uint32_t customer) {
  Customer row{};
  random_.letters(row.first, 8, 16);
  std::memcpy(row.middle, "OE", 2);
  row.last = last_name_of(customer <= 1000 ? customer - 1 : random_.last_name_to_load());
  row.address = address();
  random_.digits(row.phone, sizeof row.phone);
  row.since = unix_time_us();
  std::memcpy(row.credit, random_.percent(10) ? "BC" : "GC", 2);
  row.credit_limit = 5'000'000;
  row.discount = static_cast<int32_t>(amount(0, 5000));
  row.balance = -1000;
  row.ytd_payment = 1000;
  row.payment_count = 1;
  random_.letters(row.data, 300, 500);
  Key key(warehouse, district, customer);
  insert(tables_.customers, key.view(), bytes_of(row));
  CustomerNameKey by_name(warehouse, district, row.last.view(), row.first.view(), customer);
  insert(tables_.customers_by_name, by_name.view(), key.view());

  History history{.customer = customer,
                  .customer_district = district,
                  .customer_warehouse = warehouse,
                  .district = district,
                  .warehouse = warehouse,
                  .date = row.since,
                  .amount = 1000,
                  .data = {}};
  random_.letters(history.data, 12, 24);
  char row_number[8];
  store_be64(row_number, tables_.history.next_row_id(transaction_.worker().index()));
  insert(tables_.history, {row_number, sizeof row_number}, bytes_of(history));
}

void Population::load_order(uint32_t warehouse, uint32_t district, uint32_t order,
                            uint32_t customer) {
  bool delivered = order <= scale_.delivered_orders();
  Order row{customer, unix_time_us(), 0, static_cast<uint8_t>(random_.between(5, 15)), 1};
  if (delivered) row.carrier = static_cast<uint8_t>(random_.between(1, 10));
  Key key(warehouse, district, order);
  insert(tables_.orders, key.view(), bytes_of(row));
  insert(tables_.orders_by_customer, Key(warehouse, district, customer, order).view(), key.view());
  if (!delivered) insert(tables_.new_orders, key.view(), {});
  for (uint32_t number = 1; number <= row.line_count; ++number) {
    OrderLine line{random_.between(1, scale_.items), warehouse, 0, 5, 0, {}};
    if (delivered) {
      line.delivery_date = row.entry_date;
    } else {
      line.amount = static_cast<int32_t>(amount(1, 999'999));
    }
    random_.letters(line.district_info, sizeof line.district_info);
    insert(tables_.order_lines, Key(warehouse, district, order, number).view(), bytes_of(line));
  }
}

}  // namespace pgsilo::tpcc
