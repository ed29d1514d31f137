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
    case Kind::mark:
      return "set a savepoint";
    case Kind::back:
      return "rolled back to the savepoint";
    case Kind::change:
      return "changed " + where + " to v" + std::to_string(version);
    case Kind::attempt:
      return "may have changed " + std::to_string(key) + " to v" + std::to_string(version);
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

Seeds seeds_wanted() {
  auto number = [](const char* name, uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
  };
  uint64_t first = number("PGSILO_HISTORY_SEED", 0);
  return {first, first + number("PGSILO_HISTORIES", 1)};
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
    if (operation.kind != Operation::Kind::read && operation.version != no_version)
      open_.withdrawn.push_back(operation.version);
  }
  open_.operations.resize(acknowledged_);
  if (acknowledged_ == 0) open_.end = open_.begin;
  if (!open_.operations.empty() || !open_.withdrawn.empty()) history_.push_back(std::move(open_));
}

void Recorder::doubt(Version note) {
  doubtful_.push_back({std::move(open_), acknowledged_, now(), note});
}

void Recorder::settle(const std::set<Version>& notes) {
  for (Doubtful& doubtful : doubtful_) {
    open_ = std::move(doubtful.transaction);
    acknowledged_ = doubtful.acknowledged;
    if (notes.contains(doubtful.note)) {
      open_.committed = true;
      open_.end = doubtful.lost;
      history_.push_back(std::move(open_));
      ++committed_;
    } else {
      abort();
    }
  }
  doubtful_.clear();
}

}  // namespace pgsilo::history
