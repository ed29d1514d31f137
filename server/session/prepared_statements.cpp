#include "server/session/prepared_statements.h"

#include "sql/sql_error.h"

namespace pgsilo {

std::shared_ptr<PreparedStatement> PreparedStatements::find(std::string_view name) const {
  if (name.empty()) return unnamed_;
  auto found = named_.find(name);
  return found == named_.end() ? nullptr : found->second;
}

void PreparedStatements::remember(std::string_view name) {
  undo_.push_back({std::string(name), find(name)});
}

void PreparedStatements::add(std::string_view name, std::shared_ptr<PreparedStatement> statement) {
  if (name.empty()) {
    remember(name);
    unnamed_ = std::move(statement);
    return;
  }
  if (named_.contains(name)) {
    throw SqlError(sqlstate::duplicate_pstatement,
                   concat("prepared statement \"", name, "\" already exists"));
  }
  remember(name);
  named_.emplace(name, std::move(statement));
}

bool PreparedStatements::remove(std::string_view name) {
  if (name.empty()) {
    if (unnamed_ == nullptr) return false;
    remember(name);
    unnamed_ = nullptr;
    return true;
  }
  auto found = named_.find(name);
  if (found == named_.end()) return false;
  remember(name);
  named_.erase(found);
  return true;
}

void PreparedStatements::remove_all() {
  while (!named_.empty()) remove(named_.begin()->first);
}

void PreparedStatements::rewind() {
  while (!undo_.empty()) {
    Undo undo = std::move(undo_.back());
    undo_.pop_back();
    if (undo.name.empty()) {
      unnamed_ = std::move(undo.before);
    } else if (undo.before == nullptr) {
      named_.erase(undo.name);
    } else {
      named_[undo.name] = std::move(undo.before);
    }
  }
}

}  // namespace pgsilo
