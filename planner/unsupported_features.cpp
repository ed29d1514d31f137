#include "planner/unsupported_features.h"

#include "sql/sql_error.h"

namespace pgsilo {

namespace {

constexpr UnsupportedFeatureInfo features[] = {
    {UnsupportedFeature::whole_row_reference, "a whole-row reference (SELECT t FROM t)"},
    {UnsupportedFeature::composite_type, "a composite type"},
    {UnsupportedFeature::window_function, "a window function"},
    {UnsupportedFeature::grouping_sets, "GROUPING SETS, ROLLUP and CUBE"},
    {UnsupportedFeature::within_group, "WITHIN GROUP"},
    {UnsupportedFeature::search_or_cycle, "SEARCH and CYCLE"},
    {UnsupportedFeature::data_modifying_cte, "INSERT, UPDATE or DELETE in WITH"},
    {UnsupportedFeature::where_current_of, "WHERE CURRENT OF"},
    {UnsupportedFeature::named_argument, "a named function argument"},
    {UnsupportedFeature::variadic_array, "a VARIADIC array argument"},
    {UnsupportedFeature::column_definition_list,
     "a function returning records with a column definition list"},
    {UnsupportedFeature::collation, "a collation other than \"C\""},
    {UnsupportedFeature::bit_string, "a bit string"},
    {UnsupportedFeature::type_of_column, "%TYPE"},
    {UnsupportedFeature::select_into, "SELECT INTO inside another statement"},
    {UnsupportedFeature::nested_set_returning,
     "a set-returning function inside another's argument"},
    {UnsupportedFeature::set_returning_group_key, "a set-returning function in GROUP BY"},
    {UnsupportedFeature::explain_format, "EXPLAIN (FORMAT XML or YAML)"},
    {UnsupportedFeature::explain_option, "EXPLAIN (BUFFERS, WAL or SETTINGS)"},
};

}  // namespace

std::span<const UnsupportedFeatureInfo> unsupported_features() { return features; }

void throw_unsupported(UnsupportedFeature feature, int position) {
  for (const UnsupportedFeatureInfo& info : features) {
    if (info.feature == feature) throw_unsupported(info.name, position);
  }
  throw_unsupported("this", position);
}

}  // namespace pgsilo
