// Looks for a cycle in the waits-for graph (docs/deadlocks.md). One walk at a time: the searcher's.
#include <algorithm>
#include <vector>

#include "base/parker.h"
#include "storage/transaction/lock_list.h"
#include "storage/transaction/lock_shard.h"
#include "storage/transaction/record_lock.h"

namespace pgsilo {

class DeadlockWalk {
 public:
  // `waiters_too`: also along the order of waiting.
  DeadlockWalk(LockTable& table, LockOwner& start, Parker& parker, bool waiters_too)
      : table_(table),
        start_(start),
        parker_(parker),
        waiters_too_(waiters_too),
        walk_(++table.walks_) {}

  enum class Finding : uint8_t {
    nothing,
    cycle,    // a chain of waits that leads back to the start, and stood as a whole
    vanished  // one that does not stand any more when it is followed a second time
  };
  Finding find();
  // One step of it, for others: LockBlockers::find().
  static bool find_blockers(LockTable& table, LockOwner& owner, QueuesSeen& seen,
                            std::vector<LockOwner*>* blockers);
  // After a cycle was found: grants what somebody in it only waits its turn for.
  void break_cycle();

 private:
  using Wait = LockOwner::Wait;
  // Somebody who was met, and in whose way.
  struct Step {
    LockOwner* owner;
    size_t from;
    Wait wait = {};  // as it was looked at
  };

  static Wait wait_of(LockOwner& owner);
  void meet(LockOwner* owner, size_t from);
  bool look_from(size_t at);
  bool is_news(size_t at);
  void trace(size_t last);
  bool still_stands(size_t at) const;

  LockTable& table_;
  LockOwner& start_;
  Parker& parker_;
  const bool waiters_too_;
  const uint64_t walk_;
  std::vector<Step> steps_;   // the start's first
  std::vector<size_t> open_;  // of those not looked at yet
  QueuesSeen seen_;
  std::vector<LockOwner*> blockers_;
  std::vector<Step*> cycle_;  // from the start on
};

DeadlockWalk::Wait DeadlockWalk::wait_of(LockOwner& owner) {
  std::lock_guard guard(owner.latch_);
  return owner.wait_;
}

bool DeadlockWalk::find_blockers(LockTable& table, LockOwner& owner, QueuesSeen& seen,
                                 std::vector<LockOwner*>* blockers) {
  blockers->clear();
  Wait wait = wait_of(owner);
  if (!wait.lasts) return false;
  if (!seen.is_news(wait.tag, wait.mode, wait.place + 1)) return true;
  table.find_blockers(owner, wait, /*waiters_too=*/true, *blockers);
  return !blockers->empty();
}

bool LockBlockers::find(LockOwner& owner, std::vector<LockOwner*>* blockers) {
  return DeadlockWalk::find_blockers(table_, owner, seen_, blockers);
}

void DeadlockWalk::meet(LockOwner* owner, size_t from) {
  if (owner->walk_ == walk_) return;
  owner->walk_ = walk_;
  open_.push_back(steps_.size());
  steps_.push_back({owner, from});
}

// Whether those who hold the lock, or wait before the step, were not all met already because
// another waits for the same in the same mode. The start does not count: who looked from there has
// not looked for the start.
bool DeadlockWalk::is_news(size_t at) {
  if (at == 0) return true;
  const Wait& wait = steps_[at].wait;
  return seen_.is_news(wait.tag, wait.mode, waiters_too_ ? wait.place + 1 : 1);
}

// True if it waits for the start.
bool DeadlockWalk::look_from(size_t at) {
  LockOwner* owner = steps_[at].owner;
  Wait wait = steps_[at].wait = wait_of(*owner);
  if (!wait.lasts || wait.is_brief || !is_news(at)) return false;
  table_.find_blockers(*owner, wait, waiters_too_, blockers_);
  if (std::find(blockers_.begin(), blockers_.end(), &start_) != blockers_.end()) return true;
  for (LockOwner* blocker : blockers_) meet(blocker, at);
  return false;
}

void DeadlockWalk::trace(size_t last) {
  for (size_t at = last; at != 0; at = steps_[at].from) cycle_.push_back(&steps_[at]);
  cycle_.push_back(&steps_[0]);
  std::reverse(cycle_.begin(), cycle_.end());
}

// The wait has not ended since it was seen, so that its owner has released nothing; and it is for
// the next one's, whose wait has not ended either.
bool DeadlockWalk::still_stands(size_t at) const {
  const Step& step = *cycle_[at];
  const Step& next = *cycle_[(at + 1) % cycle_.size()];
  if (wait_of(*step.owner).number != step.wait.number) return false;
  if (waiters_too_ && next.wait.tag == step.wait.tag && next.wait.place < step.wait.place &&
      conflict(next.wait.mode, step.wait.mode))
    return true;
  return table_.modes_held(*next.owner, step.wait.tag).conflicts_with(step.wait.mode);
}

DeadlockWalk::Finding DeadlockWalk::find() {
  constexpr size_t piece = 64;
  meet(&start_, 0);
  for (size_t looked_at = 1; !open_.empty(); ++looked_at) {
    // The last one first: of one queue that is who stands behind all others that were met, and
    // whoever stands before them is then met at once.
    size_t at = open_.back();
    open_.pop_back();
    if (look_from(at)) {
      trace(at);
      for (size_t i = 0; i < cycle_.size(); ++i) {
        if (!still_stands(i)) return Finding::vanished;
      }
      return Finding::cycle;
    }
    if (looked_at % piece != 0) continue;
    parker_.give_way();
    if (wait_of(start_).number != steps_[0].wait.number) break;
  }
  return Finding::nothing;
}

void DeadlockWalk::break_cycle() {
  for (const Step* step : cycle_) {
    if (table_.grant_out_of_turn(*step->owner, step->wait.tag)) return;
  }
}

LockTable::Look LockTable::search(LockTag tag, Waiter& waiter) {
  using Finding = DeadlockWalk::Finding;
  DeadlockWalk holders(*this, *waiter.owner, *waiter.parker, /*waiters_too=*/false);
  Finding found = holders.find();
  if (found == Finding::cycle) return leave_queue(tag, waiter) ? Look::deadlock : Look::clear;
  if (found == Finding::vanished) return Look::unclear;
  DeadlockWalk anybody(*this, *waiter.owner, *waiter.parker, /*waiters_too=*/true);
  found = anybody.find();
  if (found == Finding::nothing) return Look::clear;
  if (found == Finding::cycle) anybody.break_cycle();
  return Look::unclear;
}

}  // namespace pgsilo
