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
  count = static_cast<size_t>(std::unique(items.begin(), items.begin() + count) - items.begin());
  std::array<Key<2>, IndexTree::max_lookups> ahead;
  for (size_t i = 0; i < count; ++i) {
    if (i % ahead.size() == 0) {
      const size_t wanted = std::min(ahead.size(), count - i);
      for (size_t j = 0; j < wanted; ++j) ahead[j] = Key(w, items[i + j]);
      prefetch<2>(tables.stock, std::span(ahead).first(wanted));
    }
    const Stock* stock;
    if (!attempt.read(tables.stock, Key(w, items[i]), &stock)) return attempt.status();
    if (stock->quantity < input.threshold) ++screen->count;
  }
  return attempt.status();
}

}  // namespace pgsilo::tpcc
