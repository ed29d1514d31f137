// CREATE STATISTICS: columns of a table of which a sample says how they go together
// (docs/statistics.md). Thread safety: immutable once published.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "catalog/object/catalog_object.h"

namespace pgsilo {

struct StatisticsDescriptor final : CatalogObject {
  static constexpr system_oid::Table catalog = system_oid::pg_statistic_ext;

  Oid table = invalid_oid;
  std::vector<int16_t> columns;  // numbers, ascending
  // Its kinds.
  bool ndistinct = false;
  bool dependencies = false;
  bool common = false;  // mcv
  int32_t target = -1;  // ALTER STATISTICS ... SET STATISTICS; -1: the largest of the columns'

  StatisticsDescriptor() : CatalogObject(catalog) {}
  std::shared_ptr<CatalogObject> committed() const override {
    return std::make_shared<StatisticsDescriptor>(*this);
  }
};

}  // namespace pgsilo
