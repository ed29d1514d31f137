// A catalog with one session that defines tables, and what definitions are written with.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_buffer.h"
#include "catalog/catalog_loader.h"
#include "catalog/data_definition.h"
#include "sql/types/type.h"
#include "storage/relation/relation.h"
#include "tests/unit/catalog/catalog_fixture.h"
#include "tests/unit/catalog/describe.h"

namespace pgsilo::testing {

inline ColumnDefinition column(std::string name, Oid type, bool not_null = false,
                               int32_t typmod = -1) {
  ColumnDefinition definition;
  definition.name = std::move(name);
  definition.type = type;
  definition.not_null = not_null;
  definition.typmod = typmod;
  return definition;
}

inline IndexDefinition key(std::vector<std::string> columns, bool primary = false,
                           std::string name = "") {
  IndexDefinition definition;
  definition.name = std::move(name);
  for (std::string& column : columns) definition.columns.push_back({std::move(column)});
  definition.primary = primary;
  definition.unique = true;
  definition.is_constraint = true;
  return definition;
}

inline IndexDefinition index(std::vector<std::string> columns, std::string name = "",
                             bool unique = false) {
  IndexDefinition definition = key(std::move(columns), false, std::move(name));
  definition.is_constraint = false;
  definition.unique = unique;
  return definition;
}

// What is in a tree is nothing to the catalog.
inline StoredExpression stored_zero() { return StoredExpression::make({}, "(constant 23 -1 0)"); }

inline TableDefinition accounts() {
  TableDefinition table;
  table.name = "accounts";
  table.columns = {column("id", type_oid::int4), column("name", type_oid::text, true),
                   column("balance", type_oid::numeric)};
  table.columns[2].default_value = stored_zero();
  table.keys = {key({"name"}), key({"id"}, true)};
  table.options = {"fillfactor=70"};
  return table;
}

class DataDefinitionTest : public ::testing::Test {
 protected:
  // Runs one operation in a transaction of its own.
  template <typename Operation>
  void define(Operation operation) {
    session_.begin();
    DataDefinition definition(session_.view, session_.transaction, types_);
    TransactionStatus status = operation(definition);
    ASSERT_EQ(status, TransactionStatus::ok) << name_of(status);
    for (const SqlDiagnostic& notice : definition.notices()) notices_ += notice.message + "\n";
    ASSERT_EQ(session_.commit(), TransactionStatus::ok);
    expect_rows_agree();
  }
  template <typename Operation>
  SqlDiagnostic error(Operation operation) {
    session_.begin();
    DataDefinition definition(session_.view, session_.transaction, types_);
    SqlDiagnostic diagnostic;
    try {
      TransactionStatus status = operation(definition);
      ADD_FAILURE() << "no error: " << name_of(status);
    } catch (const SqlError& thrown) {
      diagnostic = thrown.diagnostic();
    }
    session_.abort();
    expect_rows_agree();
    return diagnostic;
  }

  // What the committed catalog rows say is what the published descriptors say.
  void expect_rows_agree() {
    CatalogLoader loader(engine_.catalog.system_tables(), engine_.relations,
                         session_.worker.reclaimer());
    EXPECT_EQ(describe(*loader.load(1)), describe(*engine_.catalog.snapshot()));
  }

  // Both begin before either has done anything; the second does not commit what the first has made
  // wrong.
  using Operation = std::function<TransactionStatus(DataDefinition&)>;
  void expect_conflict(const Operation& first, const Operation& second) {
    CatalogSession other(engine_);
    other.begin(TransactionMode::interactive);
    session_.begin();
    DataDefinition mine(session_.view, session_.transaction, types_);
    ASSERT_EQ(first(mine), TransactionStatus::ok);
    ASSERT_EQ(session_.commit(), TransactionStatus::ok);
    DataDefinition theirs(other.view, other.transaction, types_);
    TransactionStatus status = second(theirs);
    if (status == TransactionStatus::ok) {
      status = other.commit();
    } else {
      other.abort();
    }
    EXPECT_TRUE(is_conflict(status)) << name_of(status);
    expect_rows_agree();
  }

  void create_accounts() {
    define([](DataDefinition& d) { return d.create_table(accounts(), false); });
  }
  const TableDescriptor& table(std::string_view name = "accounts") {
    session_.view.refresh();
    const TableDescriptor* found = session_.view.find_table({}, name);
    if (found == nullptr) throw std::runtime_error("no table");
    return *found;
  }
  Oid oid(std::string_view name = "accounts") { return table(name).oid; }

  // Stores a row and its entries, as the executor does.
  void store(const TableDescriptor& table, std::vector<Datum> values) {
    session_.begin();
    ByteBuffer row;
    ByteBuffer primary;
    table.layout.encode(values, row);
    if (table.has_primary_key()) {
      table.primary_key.encode_primary(table.layout, row.view(), primary);
    } else {
      primary.append_be64(table.relation->next_row_id(0));
    }
    ASSERT_EQ(session_.insert(*table.relation, primary.view(), row.view()), TransactionStatus::ok);
    for (const auto& index : table.indexes) {
      if (index->primary) continue;
      ByteBuffer entry;
      index->key.encode_entry(values, primary.view(), entry);
      ASSERT_EQ(
          session_.insert(*index->relation, entry.view(), index->key.payload_of(primary.view())),
          TransactionStatus::ok);
    }
    ASSERT_EQ(session_.commit(), TransactionStatus::ok);
  }
  void store_account(int64_t id, std::string_view name) {
    store(table(), {Datum::of_int(id), Datum::of_bytes(name), Datum()});
  }
  // Column `at` of every row, in key order: "1,2,null".
  std::string values(const TableDescriptor& table, size_t at) {
    session_.begin();
    TransactionScan scan(session_.transaction, *table.relation, KeyRange{}, ScanDirection::forward,
                         session_.buffer);
    std::string text;
    RowRef row;
    while (scan.next(&row) == TransactionStatus::ok) {
      EXPECT_TRUE(table.layout.is_valid(row.row));
      if (!text.empty()) text += ',';
      Arena padding;
      Datum value = table.layout.get(row.row, at, padding);
      ByteBuffer printed;
      if (value.null) {
        printed.append("null");
      } else {
        type_info(table.columns[at].type).print(value, printed, types_);
      }
      text += printed.view();
    }
    EXPECT_EQ(session_.transaction.commit(), TransactionStatus::ok);
    return text;
  }
  // Every row has its entry in every index, and there is no other.
  void expect_indexes_agree(const TableDescriptor& table) {
    for (const auto& index : table.indexes) {
      EXPECT_EQ(index->relation->row_count(), table.relation->row_count()) << index->name;
    }
  }

  CatalogEngine engine_;
  CatalogSession session_{engine_};
  TypeContext types_;
  std::string notices_;
};

}  // namespace pgsilo::testing
