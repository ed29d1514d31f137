#include "catalog/temporary_schema.h"

#include <algorithm>
#include <utility>

#include "catalog/catalog_snapshot.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

constexpr std::string_view name_prefix = "pg_temp_";

std::string name_of(unsigned number) { return concat(name_prefix, number); }

bool is_empty(const CatalogSnapshot& catalog, unsigned number) {
  const SchemaDescriptor* schema = catalog.find_schema(name_of(number));
  return schema == nullptr || catalog.members(schema->oid).size() == 0;
}

}  // namespace

unsigned TemporaryNumbers::take(Snapshots snapshots) {
  std::lock_guard lock(mutex_);
  for (unsigned number = 1;; ++number) {
    if (number > taken_.size()) taken_.push_back(false);
    bool is_free = !taken_[number - 1] && std::ranges::all_of(snapshots, [&](const auto& each) {
      return is_empty(*each, number);
    });
    if (!is_free) continue;
    taken_[number - 1] = true;
    return number;
  }
}

void TemporaryNumbers::give_back(unsigned number) {
  std::lock_guard lock(mutex_);
  taken_[number - 1] = false;
}

TemporarySchema& TemporarySchema::operator=(TemporarySchema&& other) noexcept {
  std::swap(numbers_, other.numbers_);
  std::swap(number_, other.number_);
  name_.swap(other.name_);
  return *this;
}

TemporarySchema::~TemporarySchema() {
  if (numbers_ != nullptr) numbers_->give_back(number_);
}

bool TemporarySchema::is_name(std::string_view schema) { return schema.starts_with(name_prefix); }

void TemporarySchema::take(TemporaryNumbers& numbers, TemporaryNumbers::Snapshots snapshots) {
  if (is_taken()) return;
  std::string name;
  name.reserve(2 * name_prefix.size() + 10);  // nothing is thrown behind take()
  number_ = numbers.take(snapshots);
  numbers_ = &numbers;
  name.append(name_prefix).append(std::to_string(number_));
  name_ = std::move(name);
}

}  // namespace pgsilo
