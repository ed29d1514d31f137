// The checker's choices: what absence, rows in the way and the lives of a key leave open.
#include <algorithm>

#include "tests/history/history_checker.h"

namespace pgsilo::history {
namespace {

// Steps of the search for the choices that nothing forces.
constexpr size_t search_limit = 2'000'000;

}  // namespace

template <typename Visit>
void HistoryChecker::visit_runs(int transaction, Key key, int attribute, Visit visit) const {
  auto found = lives_.find(key);
  if (found == lives_.end()) return;
  const auto& [lives, latest_end] = found->second;
  const Transaction& self = history_[static_cast<size_t>(transaction)];
  auto begin_of = [&](const Life& life) {
    return history_[static_cast<size_t>(life.inserter())].begin;
  };
  auto later =
      std::upper_bound(lives.begin(), lives.end(), self.end,
                       [&](int64_t end, const Life& life) { return end < begin_of(life); });
  for (size_t i = static_cast<size_t>(later - lives.begin()); i-- > 0;) {
    if (latest_end[i] < self.begin) break;
    const std::vector<const VersionInfo*>& versions = lives[i].versions;
    for (size_t first = 0; first < versions.size(); ++first) {
      if (!matches(*versions[first], attribute)) continue;
      size_t last = first;
      while (last + 1 < versions.size() && matches(*versions[last + 1], attribute)) ++last;
      int from = versions[first]->writer, to = end_of(*versions[last]);
      bool passed = to >= 0 && graph_.precedes(to, transaction);
      if (!passed && !graph_.precedes(transaction, from)) visit(from, to);
      first = last;
    }
  }
}

// Two lives of a key do not overlap.
bool HistoryChecker::order_lives() {
  for (const auto& [key, lives] : lives_) {
    const std::vector<Life>& all = lives.by_begin;
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = i + 1; j < all.size(); ++j) {
        int end = all[i].deleter(), other_end = all[j].deleter();
        int begin = all[i].inserter(), other_begin = all[j].inserter();
        if (end >= 0 && graph_.precedes(end, other_begin)) break;  // and all that began later
        Choice choice{
            begin,
            key,
            "its row and that of T" + std::to_string(other_begin) + " were not there together",
            {}};
        if (end >= 0) choice.options.push_back({{end, other_begin}});
        if (other_end >= 0) choice.options.push_back({{other_end, begin}});
        if (!add_choice(std::move(choice))) return false;
      }
    }
  }
  return true;
}

bool HistoryChecker::collect_absences() {
  for (size_t i = 0; i < history_.size(); ++i) {
    int id = static_cast<int>(i);
    for (auto [key, version] : effects_[i].observations()) {
      if (version == no_version && !absence(id, key, any_attribute)) return false;
    }
    for (auto [key, attribute] : effects_[i].absences()) {
      auto observed = effects_[i].observations().find(key);
      if (observed == effects_[i].observations().end()) {
        if (!absence(id, key, attribute)) return false;
      } else if (observed->second != no_version &&
                 matches(versions_.at(observed->second), attribute)) {
        return fail(name(id) + " did not find key " + std::to_string(key) + " by " +
                    std::to_string(attribute) + ", though it read it");
      }
    }
  }
  return true;
}

bool HistoryChecker::absence(int transaction, Key key, int attribute) {
  bool good = true;
  visit_runs(transaction, key, attribute, [&](int begin, int end) {
    if (!good || begin == transaction) return;
    Choice choice{transaction,
                  key,
                  "it found nothing, so not the row of T" + std::to_string(begin),
                  {{{transaction, begin}}}};
    if (end >= 0) choice.options.push_back({{end, transaction}});
    good = add_choice(std::move(choice));
  });
  return good;
}

bool HistoryChecker::collect_presences() {
  for (size_t i = 0; i < history_.size(); ++i) {
    for (const TransactionEffects::Presence& presence : effects_[i].presences()) {
      if (!this->presence(static_cast<int>(i), presence)) return false;
    }
  }
  return true;
}

bool HistoryChecker::presence(int transaction, const TransactionEffects::Presence& presence) {
  const auto& observed = effects_[static_cast<size_t>(transaction)].observations();
  Choice choice{transaction, presence.first, "it met a row", {}};
  for (Key key = presence.first; key <= presence.last; ++key) {
    const std::vector<Key>& except = presence.except;
    if (std::find(except.begin(), except.end(), key) != except.end()) continue;
    if (auto exact = observed.find(key); exact != observed.end()) {
      if (exact->second == no_version) continue;
      if (matches(versions_.at(exact->second), presence.attribute)) return true;
      continue;
    }
    visit_runs(transaction, key, presence.attribute, [&](int begin, int end) {
      Option option{{begin, transaction}};
      if (end >= 0 && end != transaction) option.push_back({transaction, end});
      if (begin != transaction) choice.options.push_back(std::move(option));
    });
  }
  return add_choice(std::move(choice));
}

bool HistoryChecker::add_choice(Choice choice) {
  switch (decide(choice)) {
    case Decision::contradiction:
      return fail(explain(choice));
    case Decision::open:
      choices_.push_back(std::move(choice));
      break;
    case Decision::decided:
      break;
  }
  ++verdict_.choices;
  return true;
}

bool HistoryChecker::holds(const Option& option) {
  return std::all_of(option.begin(), option.end(), [&](Relation relation) {
    return relation.from == relation.to || graph_.reaches(relation.from, relation.to);
  });
}

bool HistoryChecker::can_hold(const Option& option) {
  return std::none_of(option.begin(), option.end(), [&](Relation relation) {
    return relation.from != relation.to && graph_.reaches(relation.to, relation.from);
  });
}

// False, and nothing has changed, if its relations do not go together.
bool HistoryChecker::enforce(const Option& option, Key key) {
  size_t mark = graph_.mark();
  for (Relation relation : option) {
    if (graph_.add(relation.from, relation.to, EdgeKind::inferred, key)) continue;
    graph_.undo_to(mark);
    return false;
  }
  return true;
}

HistoryChecker::Decision HistoryChecker::decide(Choice& choice) {
  size_t possible = 0;
  const Option* last = nullptr;
  for (const Option& option : choice.options) {
    if (holds(option)) return Decision::decided;
    if (!can_hold(option)) continue;
    ++possible;
    last = &option;
  }
  if (possible > 1) return Decision::open;
  if (possible == 1 && enforce(*last, choice.key)) return Decision::decided;
  return Decision::contradiction;
}

std::string HistoryChecker::explain(const Choice& choice) {
  std::string text = "nothing explains what " + name(choice.transaction) + " was told of key " +
                     std::to_string(choice.key) + ": " + choice.what + "\n";
  for (const Option& option : choice.options) {
    for (Relation relation : option) {
      text += " T" + std::to_string(relation.from) + " before T" + std::to_string(relation.to);
      std::vector<SerializationGraph::Step> against = graph_.path(relation.to, relation.from);
      text += against.empty() ? "\n" : " is impossible:\n" + graph_.describe(against);
    }
  }
  return text;
}

// Each decision may decide others.
bool HistoryChecker::propagate() {
  for (size_t before = choices_.size() + 1; before > choices_.size();) {
    before = choices_.size();
    std::vector<Choice> open;
    for (Choice& choice : choices_) {
      Decision decision = decide(choice);
      if (decision == Decision::contradiction) return fail(explain(choice));
      if (decision == Decision::open) open.push_back(std::move(choice));
    }
    choices_ = std::move(open);
  }
  return true;
}

// Enforces the first option from `*next` on that can hold; `*next` is then the one to try after it.
bool HistoryChecker::try_option(const Choice& choice, size_t* next) {
  while (*next < choice.options.size()) {
    if (enforce(choice.options[(*next)++], choice.key)) return true;
  }
  return false;
}

bool HistoryChecker::search() {
  auto end_of = [&](int transaction) { return history_[static_cast<size_t>(transaction)].end; };
  // How well an option agrees with the order in which the transactions ended.
  auto likelihood = [&](const Option& option) {
    int64_t sum = 0;
    for (Relation relation : option) sum += end_of(relation.to) - end_of(relation.from);
    return sum;
  };
  for (Choice& choice : choices_) {
    std::sort(choice.options.begin(), choice.options.end(),
              [&](const Option& a, const Option& b) { return likelihood(a) > likelihood(b); });
  }
  std::sort(choices_.begin(), choices_.end(), [&](const Choice& a, const Choice& b) {
    return end_of(a.transaction) < end_of(b.transaction);
  });
  verdict_.searched = choices_.size();
  struct Guess {
    size_t mark;
    size_t next;
  };
  std::vector<Guess> guesses;
  size_t next = 0;
  for (size_t steps = 0; guesses.size() < choices_.size(); ++steps) {
    if (steps == search_limit) return fail("undecided: the search has reached its limit");
    const Choice& choice = choices_[guesses.size()];
    if (next == 0 && std::any_of(choice.options.begin(), choice.options.end(),
                                 [&](const Option& option) { return holds(option); })) {
      guesses.push_back({graph_.mark(), choice.options.size()});
      continue;
    }
    size_t mark = graph_.mark();
    if (try_option(choice, &next)) {
      guesses.push_back({mark, next});
      next = 0;
    } else if (guesses.empty()) {
      return fail("no order makes everything true at once; first " + explain(choice));
    } else {
      graph_.undo_to(guesses.back().mark);
      next = guesses.back().next;
      guesses.pop_back();
    }
  }
  return true;
}

}  // namespace pgsilo::history
