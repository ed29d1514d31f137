// The one list of SQL that PostgreSQL has and we answer with 0A000. docs/compatibility.md is
// generated from it. Thread safety: constant data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace pgsilo {

enum class UnsupportedFeature : uint8_t {
  whole_row_reference,
  composite_type,
  window_function,
  grouping_sets,
  within_group,
  search_or_cycle,
  data_modifying_cte,
  where_current_of,
  named_argument,
  variadic_array,
  column_definition_list,
  collation,
  bit_string,
  type_of_column,
  select_into,
  nested_set_returning,
  set_returning_group_key,
  explain_format,
  explain_option,
};

struct UnsupportedFeatureInfo {
  UnsupportedFeature feature;
  std::string_view name;  // as the message names it: "window functions"
};

std::span<const UnsupportedFeatureInfo> unsupported_features();

// Throws 0A000 "<name> is not supported". `position` is SqlError's.
[[noreturn]] void throw_unsupported(UnsupportedFeature feature, int position = -1);

}  // namespace pgsilo
