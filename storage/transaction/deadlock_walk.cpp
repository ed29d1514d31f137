// Looks for a cycle in the waits-for graph (record_lock.h). One walk at a time.
#include <algorithm>
#include <vector>

#include "storage/transaction/record_lock.h"

namespace pgsilo {

class DeadlockWalk {
 public:
  // `waiters_too`: also along the order of waiting.
  DeadlockWalk(LockTable& table, bool waiters_too) : table_(table), waiters_too_(waiters_too) {}

  // Whether a chain of waits leads from `start` back to it and still stands when followed a second
  // time.
  bool finds_cycle(LockOwner* start);
  // After finds_cycle(): grants what somebody in it only waits its turn for.
  void break_cycle();

 private:
  using Wait = LockOwner::Wait;
  // One owner on the present path, the wait it was seen in, and whom it waits for that way.
  struct Step {
    LockOwner* owner;
    Wait wait;
    std::vector<LockOwner*> targets;
    size_t at = 0;
  };
  // Sets `wait` and `targets` to what holds for the owner now.
  void look_at(LockOwner* owner, Wait& wait, std::vector<LockOwner*>& targets);
  bool still_stands(const Step& step);
  void push(LockOwner* owner);

  LockTable& table_;
  const bool waiters_too_;
  std::vector<Step> path_;
  std::vector<LockOwner*> visited_;
};

void DeadlockWalk::look_at(LockOwner* owner, Wait& wait, std::vector<LockOwner*>& targets) {
  {
    std::lock_guard guard(owner->latch_);
    wait = owner->wait_;
  }
  if (wait.lasts && !wait.is_brief) targets = table_.blockers_of(*owner, wait.tag, waiters_too_);
}

// The wait has not ended since it was seen, so that its owner has released nothing; and it is for
// the same target.
bool DeadlockWalk::still_stands(const Step& step) {
  Wait wait;
  std::vector<LockOwner*> targets;
  look_at(step.owner, wait, targets);
  return wait.number == step.wait.number &&
         std::find(targets.begin(), targets.end(), step.targets[step.at]) != targets.end();
}

void DeadlockWalk::break_cycle() {
  for (const Step& step : path_) {
    if (step.wait.lasts && table_.grant_out_of_turn(*step.owner, step.wait.tag)) {
      return;
    }
  }
}

void DeadlockWalk::push(LockOwner* owner) {
  Step step{owner, {}, {}, 0};
  look_at(owner, step.wait, step.targets);
  path_.push_back(std::move(step));
  visited_.push_back(owner);
}

bool DeadlockWalk::finds_cycle(LockOwner* start) {
  push(start);
  while (!path_.empty()) {
    Step& step = path_.back();
    if (step.at == step.targets.size()) {
      path_.pop_back();
      if (!path_.empty()) ++path_.back().at;
      continue;
    }
    LockOwner* target = step.targets[step.at];
    if (target == start) {
      return std::all_of(path_.begin(), path_.end(),
                         [this](const Step& s) { return still_stands(s); });
    }
    if (std::find(visited_.begin(), visited_.end(), target) != visited_.end()) {
      ++step.at;
      continue;
    }
    push(target);
  }
  return false;
}

bool LockTable::is_deadlocked(LockOwner& owner) {
  if (DeadlockWalk(*this, /*waiters_too=*/false).finds_cycle(&owner)) return true;
  DeadlockWalk walk(*this, /*waiters_too=*/true);
  if (walk.finds_cycle(&owner)) walk.break_cycle();
  return false;
}

}  // namespace pgsilo
