// Extended statistics out of the catalog's rows.
#include "catalog/catalog_loader.h"
#include "catalog/loaded_rows.h"

namespace pgsilo {

void CatalogLoader::read_statistics() {
  for_each_row(system_oid::pg_statistic_ext, [&](const RowReader& row, CatalogRecord record) {
    auto made = std::make_shared<StatisticsDescriptor>();
    TableDescriptor& table = *existing(by_oid_, row.oid(pg_statistic_ext_stxrelid), "a table");
    made->address.oid = row.oid(pg_statistic_ext_oid);
    made->schema = row.oid(pg_statistic_ext_stxnamespace);
    made->name = row.text(pg_statistic_ext_stxname);
    made->owner = row.oid(pg_statistic_ext_stxowner);
    made->record = record;
    made->table = table.oid;
    made->columns = numbers_of(row.get(pg_statistic_ext_stxkeys));
    made->target = row.int4(pg_statistic_ext_stxstattarget);
    ArrayReader kinds(row.get(pg_statistic_ext_stxkind));
    for (Datum kind; kinds.next(&kind);) {
      made->ndistinct |= kind.i64 == 'd';
      made->dependencies |= kind.i64 == 'f';
      made->common |= kind.i64 == 'm';
    }
    table.combinations.push_back(std::move(made));
  });
}

}  // namespace pgsilo
