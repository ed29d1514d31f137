// The database: nine tables and two secondary indexes as relations of the engine, and how large it
// is. Thread safety: values; relations are the engine's.
#pragma once

#include <cstdint>

#include "base/strong_id.h"
#include "storage/relation/relation_directory.h"
#include "storage/relation/system_relations.h"

namespace pgsilo::tpcc {

// Clause 1.2.1 fixes all but the number of warehouses; tests make them smaller.
struct Scale {
  uint32_t warehouses = 1;
  uint32_t items = 100'000;
  uint32_t customers = 3000;  // of a district; it begins with as many orders

  static constexpr uint32_t districts = 10;  // of a warehouse
  // The newest 30 % of the first orders wait for delivery.
  uint32_t delivered_orders() const { return customers - customers * 3 / 10; }
};

// The same relation ids in every database, so that a recovered one is found again.
class Tables {
 public:
  explicit Tables(RelationDirectory& directory) : directory_(directory) {}

 private:
  Relation& table(uint32_t number) {
    return directory_.get_or_create(RelationId(first_user_relation.value() + number), {});
  }
  RelationDirectory& directory_;

 public:
  Relation& warehouses = table(1);
  Relation& districts = table(2);
  Relation& customers = table(3);
  Relation& history = table(4);
  Relation& new_orders = table(5);
  Relation& orders = table(6);
  Relation& order_lines = table(7);
  Relation& items = table(8);
  Relation& stock = table(9);
  // Entries: the primary key.
  Relation& customers_by_name = table(10);
  Relation& orders_by_customer = table(11);  // (warehouse, district, customer, order)
};

}  // namespace pgsilo::tpcc
