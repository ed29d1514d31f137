// Names for indexes and constraints the user did not name, as PostgreSQL makes them
// (makeObjectName, ChooseIndexName). Thread safety: pure functions; TakenNames: one owner.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pgsilo {

struct CheckDefinition;
struct TableDescriptor;

// "name1_name2_label" cut to limits::max_identifier_bytes: the longer of the names is shortened,
// the label never. name2 and label may be empty.
std::string make_object_name(std::string_view name1, std::string_view name2,
                             std::string_view label);

// The columns' names joined by "_", as the middle part of an index's name.
std::string join_column_names(std::span<const std::string_view> columns);

// What the columns of an index over these are called: "a", "b"; a name that comes again has a
// number behind it: "a1" (ChooseIndexColumnNames).
std::vector<std::string> choose_column_names(std::span<const std::string_view> columns);

// The first of label, label1, label2 ... whose name is not `taken(name)`, from that with `*number`
// on (0: the label alone), which receives the number of the one that was found.
template <typename Taken>
std::string choose_object_name(std::string_view name1, std::string_view name2,
                               std::string_view label, Taken taken, int* number) {
  for (;; ++*number) {
    std::string numbered(label);
    if (*number != 0) numbered += std::to_string(*number);
    std::string name = make_object_name(name1, name2, numbered);
    if (!taken(name)) return name;
  }
}
template <typename Taken>
std::string choose_object_name(std::string_view name1, std::string_view name2,
                               std::string_view label, Taken taken) {
  int number = 0;
  return choose_object_name(name1, name2, label, taken, &number);
}

// Of one table's constraints, with those that a definition is adding: thousands may have the same
// label. What is taken stays taken, so a search goes on where the last one for the same parts has
// ended, and each number is tried once.
class TakenNames {
 public:
  TakenNames() = default;
  explicit TakenNames(const TableDescriptor& table);
  void add(const std::string& name) { names_.insert(name); }
  bool contains(const std::string& name) const { return names_.contains(name); }
  // `also_taken(name)`: by something else.
  template <typename Taken>
  std::string choose(std::string_view table, std::string_view columns, std::string_view label,
                     Taken also_taken) {
    std::string parts(columns);
    parts.append(1, '\0').append(label);
    auto is_taken = [&](const std::string& name) { return contains(name) || also_taken(name); };
    return choose_object_name(table, columns, label, is_taken, &numbers_[parts]);
  }

 private:
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> numbers_;
};

// For a CHECK that has no name: it is called by the only column that it uses.
std::string choose_check_name(std::string_view table, const CheckDefinition& check,
                              TakenNames& taken);

}  // namespace pgsilo
