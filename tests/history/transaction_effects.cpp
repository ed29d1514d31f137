#include "tests/history/transaction_effects.h"

#include "base/check.h"

namespace pgsilo::history {
namespace {

std::string version_text(Version version) {
  return version == no_version ? "no row" : "v" + std::to_string(version);
}

bool matches(const TransactionEffects::Write& write, int attribute) {
  return write.after != no_version && (attribute == any_attribute || write.attribute == attribute);
}

}  // namespace

TransactionEffects::TransactionEffects(const Transaction& transaction) {
  for (const Operation& operation : transaction.operations) {
    switch (operation.kind) {
      case Operation::Kind::read:
        observe(operation.key, operation.version);
        break;
      case Operation::Kind::absent:
        for (Key key = operation.key; key <= operation.last; ++key)
          find_absent(key, operation.attribute);
        break;
      case Operation::Kind::present:
        meet(operation);
        break;
      case Operation::Kind::write:
        write(operation);
        break;
      case Operation::Kind::change:
      case Operation::Kind::attempt:
        PGSILO_CHECK(false);  // it is not complete (Findings)
      case Operation::Kind::mark:
        marks_.push_back({writes_, intermediate_.size()});
        break;
      case Operation::Kind::back:
        undo();
        break;
    }
  }
}

void TransactionEffects::observe(Key key, Version version) {
  Version expected = version;
  if (auto own = writes_.find(key); own != writes_.end()) {
    expected = own->second.after;
  } else {
    expected = observed_.try_emplace(key, version).first->second;
  }
  if (expected == version) return;
  violation_ = "at key " + std::to_string(key) + " it found " + version_text(version) +
               " after it had written or found " + version_text(expected);
}

void TransactionEffects::find_absent(Key key, int attribute) {
  if (attribute == any_attribute) {
    observe(key, no_version);
    return;
  }
  auto own = writes_.find(key);
  if (own == writes_.end()) {
    absences_.push_back({key, attribute});
  } else if (matches(own->second, attribute)) {
    violation_ = "it did not find its own write of key " + std::to_string(key) + " by " +
                 std::to_string(attribute);
  }
}

void TransactionEffects::meet(const Operation& operation) {
  Presence presence{operation.key, operation.last, operation.attribute, {}};
  auto first = writes_.lower_bound(operation.key);
  for (auto own = first; own != writes_.end() && own->first <= operation.last; ++own) {
    if (matches(own->second, operation.attribute)) return;
    presence.except.push_back(own->first);
  }
  presences_.push_back(std::move(presence));
}

void TransactionEffects::write(const Operation& operation) {
  auto own = writes_.find(operation.key);
  if (own == writes_.end()) {
    auto before = observed_.find(operation.key);
    PGSILO_CHECK(before != observed_.end());  // a history names what its writes replace
    own =
        writes_.try_emplace(operation.key, Write{before->second, no_version, any_attribute}).first;
  } else if (own->second.after != no_version) {
    intermediate_.push_back({operation.key, own->second.after});
  }
  own->second.after = operation.version;
  own->second.attribute = operation.attribute;
}

// Of what was written since the mark only that counts which a write before it had left current.
void TransactionEffects::undo() {
  PGSILO_CHECK(!marks_.empty());
  const Mark& mark = marks_.back();
  auto is_back = [&](Key key, Version version) {
    auto before = mark.writes.find(key);
    return version == no_version ||
           (before != mark.writes.end() && before->second.after == version);
  };
  for (const auto& [key, write] : writes_) {
    if (!is_back(key, write.after)) undone_.push_back({key, write.after});
  }
  for (size_t i = mark.intermediate; i < intermediate_.size(); ++i) {
    auto [key, version] = intermediate_[i];
    if (!is_back(key, version)) undone_.push_back({key, version});
  }
  writes_ = mark.writes;
  intermediate_.resize(mark.intermediate);
}

}  // namespace pgsilo::history
