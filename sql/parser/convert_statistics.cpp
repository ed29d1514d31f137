// CREATE and ALTER STATISTICS.
#include "sql/parser/tree_converter.h"

namespace pgsilo {

using namespace ast;

const Node* TreeConverter::create_statistics(const ::CreateStatsStmt& from) {
  auto* to = make<CreateStatisticsStmt>();
  to->name = names(from.defnames);
  to->kinds = names(from.stat_types);
  to->columns = list<StatisticsElement>(from.exprs, [this](const PgNode* item) {
    const auto& element = node_as<::StatsElem>(item);
    return StatisticsElement{text(element.name), expression(element.expr)};
  });
  for (const ListCell& cell : cells(from.relations)) {
    const PgNode* relation = node_in(cell);
    to->relation =
        relation->type == T_RangeVar ? range_var(&node_as<::RangeVar>(relation)) : nullptr;
  }
  to->relations = static_cast<int32_t>(cells(from.relations).size());
  to->if_not_exists = from.if_not_exists != 0;
  return to;
}

const Node* TreeConverter::alter_statistics(const ::AlterStatsStmt& from) {
  auto* to = make<AlterStatisticsStmt>();
  to->name = names(from.defnames);
  to->target = from.stxstattarget;
  to->missing_ok = from.missing_ok != 0;
  return to;
}

}  // namespace pgsilo
