// The five transactions (TPC-C clauses 2.4 to 2.8): what the terminal enters, and one attempt at
// each. ok: to be committed; not_found: the answer is an error, nothing is committed (the 1 % of
// new orders with an item that is not there); else a conflict. What the screen would show goes to a
// Screen, so that everything is read that must be. Thread safety: none; the caller's transaction.
#pragma once

#include <array>
#include <cstdint>

#include "tpcc/engine/attempt.h"
#include "tpcc/engine/schema.h"

namespace pgsilo::tpcc {

// A digest of what a transaction shows: money, and a count of lines or items.
struct Screen {
  int64_t amount = 0;
  uint32_t count = 0;
};

// Clause 2.5.1.2: three of five customers are asked for by last name.
struct CustomerChoice {
  uint32_t warehouse;
  uint32_t district;
  uint32_t customer;  // 0: by name
  Text<16> last;
};

struct NewOrderInput {
  struct Line {
    uint32_t item;
    uint32_t supply_warehouse;
    uint8_t quantity;
  };
  static constexpr size_t most_lines = 15;
  uint32_t warehouse;
  uint32_t district;
  uint32_t customer;
  uint8_t line_count;
  bool all_local;
  int64_t entry_date;
  std::array<Line, most_lines> lines;
};

struct PaymentInput {
  uint32_t warehouse;
  uint32_t district;
  CustomerChoice customer;
  int64_t amount;
  int64_t date;
};

struct OrderStatusInput {
  CustomerChoice customer;
};

struct DeliveryInput {
  uint32_t warehouse;
  uint8_t carrier;
  int64_t date;
};

struct StockLevelInput {
  uint32_t warehouse;
  uint32_t district;
  int16_t threshold;
};

TransactionStatus new_order(Attempt& attempt, Tables& tables, const NewOrderInput& input,
                            Screen* screen);
TransactionStatus payment(Attempt& attempt, Tables& tables, const PaymentInput& input,
                          Screen* screen);
TransactionStatus order_status(Attempt& attempt, Tables& tables, const OrderStatusInput& input,
                               Screen* screen);
TransactionStatus delivery(Attempt& attempt, Tables& tables, const DeliveryInput& input,
                           Screen* screen);
TransactionStatus stock_level(Attempt& attempt, Tables& tables, const StockLevelInput& input,
                              Screen* screen);

// The customer's row, and its place; by name the middle one in the order of first names.
bool find_customer(Attempt& attempt, Tables& tables, const CustomerChoice& choice, Customer* row,
                   RowRef* place);

}  // namespace pgsilo::tpcc
