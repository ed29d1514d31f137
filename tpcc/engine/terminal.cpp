#include "tpcc/engine/terminal.h"

#include "base/clock.h"

namespace pgsilo::tpcc {

TransactionType Terminal::draw() {
  uint32_t share = random_.between(1, 100);
  if (share <= 45) {
    type_ = TransactionType::new_order;
    enter_new_order();
  } else if (share <= 88) {
    type_ = TransactionType::payment;
    enter_payment();
  } else if (share <= 92) {
    type_ = TransactionType::order_status;
    order_status_ = {choose_customer(home_, random_.between(1, Scale::districts))};
  } else if (share <= 96) {
    type_ = TransactionType::delivery;
    delivery_ = {home_, static_cast<uint8_t>(random_.between(1, 10)), unix_time_us()};
  } else {
    type_ = TransactionType::stock_level;
    stock_level_ = {home_, random_.between(1, Scale::districts),
                    static_cast<int16_t>(random_.between(10, 20))};
  }
  return type_;
}

uint32_t Terminal::other_warehouse() {
  uint32_t drawn = random_.between(1, scale_.warehouses - 1);
  return drawn < home_ ? drawn : drawn + 1;
}

CustomerChoice Terminal::choose_customer(uint32_t warehouse, uint32_t district) {
  CustomerChoice choice{warehouse, district, 0, {}};
  if (random_.percent(60)) {
    choice.last = last_name_of(random_.last_name(scale_.customers));
  } else {
    choice.customer = random_.customer(scale_.customers);
  }
  return choice;
}

void Terminal::enter_new_order() {
  new_order_.warehouse = home_;
  new_order_.district = random_.between(1, Scale::districts);
  new_order_.customer = random_.customer(scale_.customers);
  new_order_.line_count = static_cast<uint8_t>(random_.between(5, NewOrderInput::most_lines));
  new_order_.entry_date = unix_time_us();
  new_order_.all_local = true;
  for (size_t i = 0; i < new_order_.line_count; ++i) {
    bool remote = scale_.warehouses > 1 && random_.percent(1);
    new_order_.lines[i] = {random_.item(scale_.items), remote ? other_warehouse() : home_,
                           static_cast<uint8_t>(random_.between(1, 10))};
    new_order_.all_local &= !remote;
  }
  // One percent name an item that is not there, after everything else was done (clause 2.4.1.4).
  if (random_.percent(1)) new_order_.lines[new_order_.line_count - 1].item = scale_.items + 1;
}

void Terminal::enter_payment() {
  payment_.warehouse = home_;
  payment_.district = random_.between(1, Scale::districts);
  bool remote = scale_.warehouses > 1 && random_.percent(15);
  payment_.customer = remote
                          ? choose_customer(other_warehouse(), random_.between(1, Scale::districts))
                          : choose_customer(home_, payment_.district);
  payment_.amount = random_.between(100, 500'000);
  payment_.date = unix_time_us();
}

TransactionStatus Terminal::run(Transaction& transaction) {
  workspace_.arena.reset();
  screen_ = {};
  Attempt attempt(transaction, workspace_);
  switch (type_) {
    case TransactionType::new_order:
      return new_order(attempt, tables_, new_order_, &screen_);
    case TransactionType::payment:
      return payment(attempt, tables_, payment_, &screen_);
    case TransactionType::order_status:
      return order_status(attempt, tables_, order_status_, &screen_);
    case TransactionType::delivery:
      return delivery(attempt, tables_, delivery_, &screen_);
    case TransactionType::stock_level:
      return stock_level(attempt, tables_, stock_level_, &screen_);
  }
  return TransactionStatus::ok;
}

}  // namespace pgsilo::tpcc
