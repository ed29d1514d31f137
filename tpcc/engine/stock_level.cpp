#include <algorithm>

#include "tpcc/engine/transactions.h"

namespace pgsilo::tpcc {

namespace {
constexpr uint32_t recent_orders = 20;
}

TransactionStatus stock_level(Attempt& attempt, Tables& tables, const StockLevelInput& input,
                              Screen* screen) {
  uint32_t w = input.warehouse, d = input.district;
  const District* district;
  if (!attempt.read(tables.districts, Key(w, d), &district)) return attempt.status();
  uint32_t next = district->next_order;

  std::array<uint32_t, recent_orders * NewOrderInput::most_lines> items;
  size_t count = 0;
  Key first(w, d, next - std::min(next, recent_orders)), end(w, d, next);
  TransactionScan lines(attempt.transaction(), tables.order_lines, range(first, end),
                        ScanDirection::forward, attempt.buffer());
  RowRef line;
  for (bool more = true;;) {
    if (!attempt.next(lines, &line, &more)) return attempt.status();
    if (!more) break;
    items[count++] = reinterpret_cast<const OrderLine*>(line.row.data())->item;
  }
  // An item counts once.
  std::sort(items.begin(), items.begin() + count);
  uint32_t last = 0;
  for (size_t i = 0; i < count; ++i) {
    if (items[i] == last) continue;
    last = items[i];
    const Stock* stock;
    if (!attempt.read(tables.stock, Key(w, last), &stock)) return attempt.status();
    if (stock->quantity < input.threshold) ++screen->count;
  }
  return attempt.status();
}

}  // namespace pgsilo::tpcc
