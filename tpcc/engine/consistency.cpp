#include "tpcc/engine/consistency.h"

#include <algorithm>

#include "base/check.h"
#include "tpcc/engine/attempt.h"

namespace pgsilo::tpcc {

namespace {

// Of one customer, what other tables say.
struct CustomerBooks {
  int64_t delivered = 0;  // amounts of delivered lines
  int64_t paid = 0;
  bool by_name = false;
};

struct OrderBooks {
  bool exists = false;
  bool waits = false;  // has a row among the new orders
  bool by_customer = false;
  uint32_t customer = 0;
  uint32_t carrier = 0;
  uint32_t line_count = 0;
  uint32_t lines = 0;
  uint32_t delivered_lines = 0;
};

struct DistrictBooks {
  int64_t ytd = 0;
  int64_t paid = 0;
  uint32_t next_order = 0;
  std::vector<CustomerBooks> customers;  // by number
  std::vector<OrderBooks> orders;        // by number

  OrderBooks& order(uint32_t number) {
    if (number >= orders.size()) orders.resize(number + 1);
    return orders[number];
  }
};

class ConsistencyCheck {
 public:
  ConsistencyCheck(Transaction& transaction, Tables& tables, const Scale& scale)
      : transaction_(transaction),
        tables_(tables),
        scale_(scale),
        districts_(size_t{scale.warehouses} * Scale::districts) {}

  std::vector<std::string> run() {
    transaction_.begin(TransactionMode::one_shot);
    PGSILO_CHECK(transaction_.begin_statement() == TransactionStatus::ok);
    read_districts();
    read_history();
    read_orders();
    read_order_lines();
    read_entries();
    check_warehouses();
    check_customers();
    for (size_t i = 0; i < districts_.size(); ++i) check_orders(districts_[i], district_name(i));
    PGSILO_CHECK(transaction_.commit() == TransactionStatus::ok);
    return std::move(breaches_);
  }

 private:
  // Calls visit(key, row) for every row of a table.
  template <typename Visit>
  void each_row(Relation& table, Visit visit) {
    Arena arena;
    RowBuffer buffer(arena);
    TransactionScan scan(transaction_, table, {}, ScanDirection::forward, buffer);
    RowRef at;
    TransactionStatus status = scan.next(&at);
    for (; status == TransactionStatus::ok; status = scan.next(&at)) visit(at.key(), at.row);
    PGSILO_CHECK(status == TransactionStatus::not_found);
  }
  template <typename Row, typename Visit>
  void each(Relation& table, Visit visit) {
    each_row(table, [&](std::string_view key, std::string_view row) {
      visit(key, *reinterpret_cast<const Row*>(row.data()));
    });
  }
  void expect(bool holds, int condition, const std::string& where) {
    if (!holds) breaches_.push_back("condition " + std::to_string(condition) + ": " + where);
  }

  DistrictBooks& district(uint32_t warehouse, uint32_t district) {
    PGSILO_CHECK(warehouse >= 1 && warehouse <= scale_.warehouses && district >= 1 &&
                 district <= Scale::districts);
    return districts_[(warehouse - 1) * Scale::districts + district - 1];
  }
  DistrictBooks& district(std::string_view key) {
    return district(key_number(key, 0), key_number(key, 1));
  }
  static std::string district_name(size_t index) {
    return "warehouse " + std::to_string(index / Scale::districts + 1) + " district " +
           std::to_string(index % Scale::districts + 1);
  }

  void read_districts() {
    each<District>(tables_.districts, [&](std::string_view key, const District& row) {
      DistrictBooks& books = district(key);
      books.ytd = row.ytd;
      books.next_order = row.next_order;
      books.customers.resize(scale_.customers + 1);
    });
  }

  void read_history() {
    each<History>(tables_.history, [&](std::string_view, const History& row) {
      district(row.warehouse, row.district).paid += row.amount;
      district(row.customer_warehouse, row.customer_district).customers[row.customer].paid +=
          row.amount;
    });
  }

  void read_orders() {
    each<Order>(tables_.orders, [&](std::string_view key, const Order& row) {
      OrderBooks& books = district(key).order(key_number(key, 2));
      books.exists = true;
      books.customer = row.customer;
      books.carrier = row.carrier;
      books.line_count = row.line_count;
    });
    each_row(tables_.new_orders, [&](std::string_view key, std::string_view) {
      district(key).order(key_number(key, 2)).waits = true;
    });
  }

  void read_order_lines() {
    each<OrderLine>(tables_.order_lines, [&](std::string_view key, const OrderLine& row) {
      DistrictBooks& books = district(key);
      OrderBooks& order = books.order(key_number(key, 2));
      ++order.lines;
      if (row.delivery_date == 0) return;
      ++order.delivered_lines;
      books.customers[order.customer].delivered += row.amount;
    });
  }

  // Condition 13 is ours: each row of the two tables has one secondary entry that names it.
  void read_entries() {
    Arena arena;
    RowBuffer entries(arena), rows(arena);
    for (Relation* index : {&tables_.customers_by_name, &tables_.orders_by_customer}) {
      bool of_customers = index == &tables_.customers_by_name;
      TransactionScan scan(transaction_, *index, {}, ScanDirection::forward, entries);
      RowRef entry, row;
      while (scan.next(&entry) == TransactionStatus::ok) {
        Relation& table = of_customers ? tables_.customers : tables_.orders;
        bool found = transaction_.get_via_entry(table, entry, rows, &row) == TransactionStatus::ok;
        expect(found && row.key() == entry.row, 13, "an entry leads elsewhere");
        if (!found) continue;
        DistrictBooks& books = district(row.key());
        uint32_t number = key_number(row.key(), 2);
        bool& seen =
            of_customers ? books.customers[number].by_name : books.order(number).by_customer;
        expect(!seen, 13, "two entries lead to one row");
        seen = true;
      }
    }
  }

  void check_warehouses() {
    each<Warehouse>(tables_.warehouses, [&](std::string_view key, const Warehouse& row) {
      uint32_t number = key_number(key, 0);
      int64_t ytd = 0, paid = 0;
      for (uint32_t i = 1; i <= Scale::districts; ++i) {
        DistrictBooks& books = district(number, i);
        ytd += books.ytd;
        paid += books.paid;
        expect(books.ytd == books.paid, 9, district_name((number - 1) * Scale::districts + i - 1));
      }
      expect(row.ytd == ytd, 1, "warehouse " + std::to_string(number));
      expect(row.ytd == paid, 8, "warehouse " + std::to_string(number));
    });
  }

  void check_customers() {
    each<Customer>(tables_.customers, [&](std::string_view key, const Customer& row) {
      const CustomerBooks& books = district(key).customers[key_number(key, 2)];
      std::string where = "customer " + std::to_string(key_number(key, 0)) + "/" +
                          std::to_string(key_number(key, 1)) + "/" +
                          std::to_string(key_number(key, 2));
      expect(row.balance == books.delivered - books.paid, 10, where);
      expect(row.balance + row.ytd_payment == books.delivered, 12, where);
      expect(books.by_name, 13, where);
    });
  }

  void check_orders(const DistrictBooks& books, const std::string& where) {
    uint32_t newest = 0, newest_waiting = 0, oldest_waiting = 0, waiting = 0;
    uint64_t line_count = 0, lines = 0;
    for (uint32_t number = 1; number < books.orders.size(); ++number) {
      const OrderBooks& order = books.orders[number];
      if (order.exists) newest = number;
      if (order.waits) {
        if (waiting++ == 0) oldest_waiting = number;
        newest_waiting = number;
      }
      line_count += order.line_count;
      lines += order.lines;
      std::string which = where + " order " + std::to_string(number);
      expect(order.waits == (order.carrier == 0), 5, which);
      expect(order.lines == order.line_count, 6, which);
      expect(order.delivered_lines == (order.carrier == 0 ? 0 : order.lines), 7, which);
      expect(order.by_customer, 13, which);
    }
    expect(books.next_order == newest + 1, 2, where);
    if (waiting != 0) {
      expect(newest == newest_waiting, 2, where);
      expect(newest_waiting - oldest_waiting + 1 == waiting, 3, where);
    }
    expect(line_count == lines, 4, where);
  }

  Transaction& transaction_;
  Tables& tables_;
  const Scale scale_;
  std::vector<DistrictBooks> districts_;
  std::vector<std::string> breaches_;
};

}  // namespace

std::vector<std::string> check_consistency(Transaction& transaction, Tables& tables,
                                           const Scale& scale) {
  return ConsistencyCheck(transaction, tables, scale).run();
}

}  // namespace pgsilo::tpcc
