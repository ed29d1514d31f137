// A key of a tree, read back into values for messages: "(a, b)=(1, x)". Columns whose encoding does
// not tell the value (numeric, float, interval, arrays, ...) and all behind them are shown as they
// lie there, in hexadecimal. Thread safety: pure.
#pragma once

#include <string>
#include <string_view>

#include "catalog/descriptors.h"

namespace pgsilo {

struct TypeContext;

// Of the table's primary tree.
std::string readable_key(const TableDescriptor& table, std::string_view key,
                         const TypeContext& types);
// Of an index's; its columns, without the primary key behind them.
std::string readable_key(const TableDescriptor& table, const IndexDescriptor& index,
                         std::string_view key, const TypeContext& types);

}  // namespace pgsilo
