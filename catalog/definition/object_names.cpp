#include "catalog/definition/object_names.h"

#include <algorithm>

#include "catalog/data_definition.h"
#include "sql/limits.h"

namespace pgsilo {

namespace {
// At most `bytes`, cut between characters.
std::string_view clip(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}
}  // namespace

std::string make_object_name(std::string_view name1, std::string_view name2,
                             std::string_view label) {
  size_t overhead = (name2.empty() ? 0 : 1) + (label.empty() ? 0 : label.size() + 1);
  size_t available = limits::max_identifier_bytes - overhead;
  size_t bytes1 = name1.size();
  size_t bytes2 = name2.size();
  while (bytes1 + bytes2 > available) {
    if (bytes1 > bytes2) {
      --bytes1;
    } else {
      --bytes2;
    }
  }
  std::string name(clip(name1, bytes1));
  if (!name2.empty()) name.append("_").append(clip(name2, bytes2));
  if (!label.empty()) name.append("_").append(label);
  return name;
}

std::string join_column_names(std::span<const std::string_view> columns) {
  std::string joined;
  for (std::string_view column : columns) {
    if (!joined.empty()) joined += '_';
    joined += column;
    if (joined.size() > limits::max_identifier_bytes) break;
  }
  return std::string(clip(joined, limits::max_identifier_bytes));
}

std::vector<std::string> choose_column_names(std::span<const std::string_view> columns) {
  std::vector<std::string> names;
  for (std::string_view column : columns) {
    std::string name(column);
    for (int number = 1; std::ranges::find(names, name) != names.end(); ++number) {
      std::string suffix = std::to_string(number);
      name = clip(column, limits::max_identifier_bytes - suffix.size());
      name += suffix;
    }
    names.push_back(std::move(name));
  }
  return names;
}

TakenNames::TakenNames(const TableDescriptor& table) {
  for (const ConstraintDescriptor& constraint : table.constraints) add(constraint.name);
}

std::string choose_check_name(std::string_view table, const CheckDefinition& check,
                              TakenNames& taken) {
  std::string_view column =
      check.columns.size() == 1 ? std::string_view(check.columns[0]) : std::string_view();
  return taken.choose(table, column, "check", [](const std::string&) { return false; });
}

}  // namespace pgsilo
