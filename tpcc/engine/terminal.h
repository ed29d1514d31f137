// A terminal: draws transactions in TPC-C's mix (clause 5.2.3) with their inputs for its home
// warehouse, and runs an attempt at the one it drew. Thread safety: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tpcc/engine/input_random.h"
#include "tpcc/engine/transactions.h"

namespace pgsilo::tpcc {

enum class TransactionType : uint8_t { new_order, payment, order_status, delivery, stock_level };
inline constexpr std::array<std::string_view, 5> transaction_type_names = {
    "new_order", "payment", "order_status", "delivery", "stock_level"};

class Terminal {
 public:
  Terminal(Tables& tables, const Scale& scale, uint32_t home, uint64_t seed)
      : tables_(tables), scale_(scale), home_(home), random_(seed) {}

  TransactionType draw();
  // One attempt at what was drawn last; the transaction has begun. Statuses: transactions.h.
  TransactionStatus run(Transaction& transaction);
  const Screen& screen() const { return screen_; }

 private:
  uint32_t other_warehouse();
  CustomerChoice choose_customer(uint32_t warehouse, uint32_t district);
  void enter_new_order();
  void enter_payment();

  Tables& tables_;
  const Scale scale_;
  const uint32_t home_;
  InputRandom random_;
  Workspace workspace_;
  Screen screen_;
  TransactionType type_ = TransactionType::new_order;
  NewOrderInput new_order_;
  PaymentInput payment_;
  OrderStatusInput order_status_;
  DeliveryInput delivery_;
  StockLevelInput stock_level_;
};

}  // namespace pgsilo::tpcc
