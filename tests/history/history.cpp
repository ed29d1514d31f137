#include "tests/history/history.h"

#include <algorithm>
#include <cstdlib>

namespace pgsilo::history {

std::string Operation::text() const {
  std::string where = std::to_string(key);
  if (last != key) where += ".." + std::to_string(last);
  if (attribute != any_attribute) where += " with " + std::to_string(attribute);
  switch (kind) {
    case Kind::read:
      return "read " + where + " = v" + std::to_string(version);
    case Kind::absent:
      return "found no " + where;
    case Kind::present:
      return "met some " + where;
    case Kind::write:
      break;
  }
  if (version == no_version) return "deleted " + where;
  return "wrote " + where + " = v" + std::to_string(version);
}

std::string Transaction::text() const {
  std::string text = "thread " + std::to_string(thread) + ", " + std::to_string(begin) + " to " +
                     std::to_string(end) + (committed ? ", committed:" : ", rolled back:");
  for (const Operation& operation : operations) text += " " + operation.text() + ";";
  return text;
}

uint64_t histories_wanted() {
  const char* wanted = std::getenv("PGSILO_HISTORIES");
  return wanted == nullptr ? 1 : std::strtoull(wanted, nullptr, 10);
}

// Not a shared counter: that would order the threads' accesses for ThreadSanitizer and hide races.
int64_t Recorder::now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

void Recorder::begin() {
  open_ = {};
  open_.thread = thread_;
  acknowledged_ = 0;
  open_.begin = now();
}

void Recorder::scanned(Key first, Key last, int attribute, std::span<const Row> rows) {
  for (const Row& row : rows) read(row.key, row.version);
  for (Key key = first; key <= last; ++key) {
    bool found = std::any_of(rows.begin(), rows.end(), [&](Row row) { return row.key == key; });
    if (!found) absent(key, attribute);
  }
}

void Recorder::acknowledge() {
  open_.end = now();
  acknowledged_ = open_.operations.size();
}

void Recorder::commit() {
  acknowledge();
  open_.committed = true;
  history_.push_back(std::move(open_));
  ++committed_;
}

void Recorder::abort() {
  for (size_t i = acknowledged_; i < open_.operations.size(); ++i) {
    const Operation& operation = open_.operations[i];
    if (operation.kind == Operation::Kind::write && operation.version != no_version)
      open_.withdrawn.push_back(operation.version);
  }
  open_.operations.resize(acknowledged_);
  if (acknowledged_ == 0) open_.end = open_.begin;
  if (!open_.operations.empty() || !open_.withdrawn.empty()) history_.push_back(std::move(open_));
}

}  // namespace pgsilo::history
