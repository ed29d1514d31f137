#include "server/session/prepared_statements.h"

#include "sql/sql_error.h"

namespace pgsilo {

std::shared_ptr<PreparedStatement> PreparedStatements::find(std::string_view name) const {
  if (name.empty()) return unnamed_;
  auto found = named_.find(name);
  return found == named_.end() ? nullptr : found->second;
}

void PreparedStatements::remember(std::string_view name) {
  if (!has_replay_point_) return;
  if (!name.empty()) {
    if (!named_before_.contains(name)) named_before_.emplace(name, find(name));
  } else if (!unnamed_before_) {
    unnamed_before_ = unnamed_;
  }
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

void PreparedStatements::forget_plans() {
  if (unnamed_ != nullptr) unnamed_->plan = nullptr;
  for (const auto& [name, statement] : named_) statement->plan = nullptr;
}

void PreparedStatements::set_replay_point() {
  drop_replay_point();
  has_replay_point_ = true;
}

void PreparedStatements::drop_replay_point() {
  has_replay_point_ = false;
  unnamed_before_.reset();
  named_before_.clear();
}

void PreparedStatements::rewind() {
  if (unnamed_before_) unnamed_ = std::move(*unnamed_before_);
  for (auto& [name, before] : named_before_) {
    if (before == nullptr) {
      named_.erase(name);
    } else {
      named_[name] = std::move(before);
    }
  }
  set_replay_point();
}

}  // namespace pgsilo
