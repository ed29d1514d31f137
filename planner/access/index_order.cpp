// By what the rows of an index scan come ordered.
#include "base/arena.h"
#include "catalog/descriptors.h"
#include "planner/access/index_match.h"

namespace pgsilo {

namespace {

class OrderReader {
 public:
  OrderReader(Arena& arena, const SortSpace& space, const IndexedRelation& relation,
              const IndexMatch& match)
      : arena_(arena),
        space_(space),
        table_(*relation.query.relations[relation.relation]->table),
        indexed_(relation),
        relation_(relation.relation),
        match_(match) {}

  PathOrder read() {
    const IndexDescriptor& index = *match_.index;
    for (size_t i = 0; i < index.columns.size(); ++i) {
      if (match_.is_fixed(i)) continue;
      const BoundExpression* computed = indexed_.expression_of(index, i);
      bool known = computed != nullptr ? add(index.columns[i], *computed, excludes_nulls(i))
                                       : add(index.columns[i], excludes_nulls(i));
      if (!known) return order(false);
    }
    if (index.unique && index.key.columns_are_key()) return order(true);
    // Every entry that others may be equal to ends with its row's primary key.
    const IndexDescriptor* primary = table_.primary_index();
    if (primary == nullptr) return order(false);
    for (const IndexColumn& column : primary->columns) {
      if (!add(column, true)) return order(false);
    }
    return order(true);
  }

 private:
  // False: nothing is known of the order behind it.
  bool add(const IndexColumn& part, bool without_nulls) {
    int32_t column = part.number - 1;
    int16_t expression = space_.find_column(relation_, column);
    if (expression < 0) return space_.is_constant_column(relation_, column);
    bool has_nulls = !without_nulls && !table_.columns[static_cast<size_t>(column)].not_null;
    NullsPlace nulls = !has_nulls         ? NullsPlace::none
                       : part.nulls_first ? NullsPlace::first
                                          : NullsPlace::last;
    keys_.push_back({expression, part.descending, nulls});
    return true;
  }

  bool add(const IndexColumn& part, const BoundExpression& computed, bool without_nulls) {
    int16_t expression = space_.find(computed);
    if (expression < 0) return false;
    NullsPlace nulls = without_nulls      ? NullsPlace::none
                       : part.nulls_first ? NullsPlace::first
                                          : NullsPlace::last;
    keys_.push_back({expression, part.descending, nulls});
    return true;
  }

  bool excludes_nulls(size_t column) const {
    if (match_.ranges.size() != 1) return false;
    return static_cast<int32_t>(column) == match_.list_column ||
           (column == match_.equal_columns && match_.ranges[0].excludes_nulls());
  }

  PathOrder order(bool complete) const {
    return {arena_.copy_span(keys_), complete ? RelationSet::of(relation_) : RelationSet()};
  }

  Arena& arena_;
  const SortSpace& space_;
  const TableDescriptor& table_;
  const IndexedRelation& indexed_;
  const int32_t relation_;
  const IndexMatch& match_;
  std::vector<PathKey> keys_;
};

}  // namespace

PathOrder index_order(Arena& arena, const SortSpace& space, const IndexedRelation& relation,
                      const IndexMatch& match) {
  return OrderReader(arena, space, relation, match).read();
}

PathOrder reversed(Arena& arena, const PathOrder& order) {
  auto keys = arena.copy_span(order.keys);
  for (PathKey& key : keys) {
    key.descending = !key.descending;
    if (key.nulls != NullsPlace::none)
      key.nulls = key.nulls == NullsPlace::first ? NullsPlace::last : NullsPlace::first;
  }
  return {keys, order.told};
}

bool orders_column(const IndexMatch& match, int32_t column) {
  const auto& columns = match.index->columns;
  size_t next = 0;
  while (next < columns.size() && match.is_fixed(next)) ++next;
  return next < columns.size() && columns[next].number == column + 1;
}

}  // namespace pgsilo
