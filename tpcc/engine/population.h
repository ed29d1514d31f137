// Fills the tables (TPC-C clause 4.3.3), as ordinary transactions of some hundred rows each.
// Thread safety: any number of threads, each with its own transaction and other parts.
#pragma once

#include "storage/transaction/transaction.h"
#include "tpcc/engine/input_random.h"
#include "tpcc/engine/schema.h"

namespace pgsilo::tpcc {

class Population {
 public:
  Population(Transaction& transaction, Tables& tables, const Scale& scale, uint64_t seed)
      : transaction_(transaction), tables_(tables), scale_(scale), random_(seed) {}

  void load_items();
  void load_warehouse(uint32_t warehouse);

 private:
  void load_stock(uint32_t warehouse);
  void load_district(uint32_t warehouse, uint32_t district);
  void load_customer(uint32_t warehouse, uint32_t district, uint32_t customer);
  void load_order(uint32_t warehouse, uint32_t district, uint32_t order, uint32_t customer);
  Address address();
  int64_t amount(int64_t low, int64_t high) {
    return random_.between(static_cast<uint32_t>(low), static_cast<uint32_t>(high));
  }
  void data(Text<50>& text);
  void insert(Relation& table, std::string_view key, std::string_view row);
  void commit();

  Transaction& transaction_;
  Tables& tables_;
  const Scale scale_;
  InputRandom random_;
  uint32_t rows_ = 0;  // of the transaction that is open
};

}  // namespace pgsilo::tpcc
