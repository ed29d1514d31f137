#include "server/session/prepared_statements.h"

#include <algorithm>

#include "base/memory_budget.h"
#include "server/limits.h"
#include "sql/sql_error.h"

namespace pgsilo {

size_t PreparedStatement::bytes() const {
  size_t bytes = sizeof *this + text->syntax->bytes() +
                 (declared_types.capacity() + parameter_types.capacity()) * sizeof(Oid) +
                 result_columns.capacity() * sizeof(ResultColumn);
  return plan == nullptr ? bytes : bytes + plan->bytes();
}

bool same_columns(std::span<const ResultColumn> left, std::span<const ResultColumn> right) {
  return std::ranges::equal(left, right, [](const ResultColumn& a, const ResultColumn& b) {
    return a.name == b.name && a.type_oid == b.type_oid && a.type_modifier == b.type_modifier;
  });
}

bool PreparedStatement::is_described_by(const ExecutablePlan& other) const {
  return returns_rows == other.returns_rows() &&
         same_columns(result_columns, other.result_columns());
}

// Nothing is read of the present one but what never changes: its worker is at the rest meanwhile.
void PreparedStatement::take_own_text() {
  auto own = std::make_shared<CachedText>();
  own->syntax = text->syntax;
  own->declared_types = text->declared_types;
  own->plans.resize(own->syntax->statements.size());
  text = std::move(own);
}

std::shared_ptr<PreparedStatement> PreparedStatements::find(std::string_view name) const {
  auto named = name.empty() ? named_.end() : named_.find(name);
  std::shared_ptr<PreparedStatement> found =
      named == named_.end() ? nullptr : named->second.statement;
  if (name.empty()) found = unnamed_;
  if (found != nullptr && found->arrivals != arrivals_) {
    found->take_own_text();
    found->arrivals = arrivals_;
    found->is_unsettled = true;
  }
  return found;
}

void PreparedStatements::remember(std::string_view name) {
  if (!name.empty()) {
    if (named_before_.contains(name)) return;
    auto found = named_.find(name);
    named_before_.emplace(name, found == named_.end() ? Kept{} : found->second);
  } else if (!unnamed_before_) {
    unnamed_before_ = unnamed_;
  }
}

void PreparedStatements::add(std::string_view name, std::shared_ptr<PreparedStatement> statement) {
  statement->arrivals = arrivals_;
  if (name.empty()) {
    remember(name);
    unnamed_ = std::move(statement);
    return;
  }
  if (named_.contains(name)) {
    throw SqlError(sqlstate::duplicate_pstatement,
                   concat("prepared statement \"", name, "\" already exists"));
  }
  size_t bytes = name.size() + statement->bytes();
  if (named_bytes_ + bytes > limits::free_statement_bytes) require_room(bytes);
  remember(name);
  insert(name, {std::move(statement), bytes});
}

void PreparedStatements::insert(std::string_view name, Kept kept) {
  named_bytes_ += kept.bytes;
  named_.emplace(name, std::move(kept));
}

void PreparedStatements::erase(Named::iterator place) {
  named_bytes_ -= place->second.bytes;
  named_.erase(place);
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
  erase(found);
  return true;
}

void PreparedStatements::remove_all() {
  while (!named_.empty()) remove(named_.begin()->first);
}

void PreparedStatements::forget_plans() {
  auto forget = [](PreparedStatement& statement) {
    statement.plan = nullptr;
    statement.choice = {};
  };
  if (unnamed_ != nullptr) forget(*unnamed_);
  for (const auto& [name, kept] : named_) forget(*kept.statement);
}

std::vector<PreparedStatementInfo> PreparedStatements::list() const {
  std::vector<PreparedStatementInfo> all;
  all.reserve(named_.size());
  for (const auto& [name, kept] : named_) {
    const PreparedStatement& one = *kept.statement;
    all.push_back({name, one.text->syntax->text, one.prepared_us, one.parameter_types, one.from_sql,
                   one.generic_plans, one.custom_plans});
  }
  return all;
}

void PreparedStatements::set_replay_point() {
  ++replay_points_;
  unnamed_before_.reset();
  named_before_.clear();
}

void PreparedStatements::rewind() {
  if (unnamed_before_) unnamed_ = std::move(*unnamed_before_);
  for (auto& [name, before] : named_before_) {
    if (auto found = named_.find(name); found != named_.end()) erase(found);
    if (before.statement != nullptr) insert(name, std::move(before));
  }
  set_replay_point();
}

}  // namespace pgsilo
