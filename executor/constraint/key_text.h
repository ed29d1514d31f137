// A key as error messages show it: "(a, b)=(1, null)". Thread safety: pure.
#pragma once

#include <span>
#include <string>

#include "catalog/descriptors.h"
#include "sql/types/datum.h"

namespace pgsilo {

struct TypeContext;

// Columns by number; `row` has all columns of the table.
std::string key_text(const TableDescriptor& table, std::span<const int16_t> columns,
                     std::span<const Datum> row, const TypeContext& types);

// Values of a key's own columns, in order: "1, null".
std::string key_values_text(const KeyLayout& key, std::span<const Datum> values,
                            const TypeContext& types);

}  // namespace pgsilo
