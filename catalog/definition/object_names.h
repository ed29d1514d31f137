// Names for indexes and constraints the user did not name, as PostgreSQL makes them
// (makeObjectName, ChooseIndexName). Thread safety: pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pgsilo {

// "name1_name2_label" cut to limits::max_identifier_bytes: the longer of the names is shortened,
// the label never. name2 and label may be empty.
std::string make_object_name(std::string_view name1, std::string_view name2,
                             std::string_view label);

// The columns' names joined by "_", as the middle part of an index's name.
std::string join_column_names(std::span<const std::string_view> columns);

// What the columns of an index over these are called: "a", "b"; a name that comes again has a
// number behind it: "a1" (ChooseIndexColumnNames).
std::vector<std::string> choose_column_names(std::span<const std::string_view> columns);

// The first of label, label1, label2 ... whose name is not `taken(name)`.
template <typename Taken>
std::string choose_object_name(std::string_view name1, std::string_view name2,
                               std::string_view label, Taken taken) {
  std::string modified(label);
  for (int pass = 1;; ++pass) {
    std::string name = make_object_name(name1, name2, modified);
    if (!taken(name)) return name;
    modified = std::string(label) + std::to_string(pass);
  }
}

}  // namespace pgsilo
