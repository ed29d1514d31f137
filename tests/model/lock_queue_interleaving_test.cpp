// Two or three sessions with a few locks each, under every schedule with a bounded number of
// preemptions: nobody holds what conflicts with another's, nobody is forgotten in a queue, a
// deadlock has one victim and what is none has none, and nothing is left at the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/epoch/epoch_manager.h"
#include "storage/relation/relation.h"
#include "storage/transaction/lock_list.h"
#include "storage/transaction/record_lock.h"
#include "tests/model/interleaver.h"
#include "tests/model/model_parker.h"

namespace pgsilo {
namespace {

using enum LockMode;
using enum TransactionStatus;

enum class Target : uint8_t { advisory_a, advisory_b, advisory_c, record, relation };
constexpr size_t target_count = 5;

struct Step {
  enum class Kind : uint8_t {
    acquire,
    acquire_now,  // NOWAIT
    keep_out,     // LockTable::keep_writers_out()
    let_in,
    write,   // a one-shot's commit that writes the relation, if its gate lets it
    grow,    // a commit that makes the record's row larger, if the locks of others let it
    link,    // a reader that remembers where the record leads
    remove,  // whoever holds the record in mode update has written that it has no row
    cancel   // the wait of thread `other`
  } kind;
  Target target = Target::advisory_a;
  LockMode mode = none;
  int other = 0;
};

Step lock(Target target, LockMode mode) { return {Step::Kind::acquire, target, mode}; }
Step lock_now(Target target, LockMode mode) { return {Step::Kind::acquire_now, target, mode}; }
Step keep_out() { return {Step::Kind::keep_out, Target::relation, share_row_exclusive}; }
Step let_in() { return {Step::Kind::let_in, Target::relation}; }
Step write() { return {Step::Kind::write, Target::relation, row_exclusive}; }
Step grow() { return {Step::Kind::grow, Target::record, no_key_update}; }
Step link() { return {Step::Kind::link, Target::record}; }
Step remove() { return {Step::Kind::remove, Target::record}; }
Step cancel(int thread) { return {Step::Kind::cancel, Target::advisory_a, none, thread}; }

struct Scenario {
  const char* name;
  std::vector<std::vector<Step>> threads;
  int most_deadlocks = 0;
  std::vector<TransactionStatus> others = {};  // beside ok and deadlock
  // Somebody may have to wait until a time has passed: for a look at the graph, or a poll.
  bool takes_time = false;
  // 0: who waits looks at the graph when its wait begins, so only the last wait of a cycle finds
  // it.
  int64_t deadlock_timeout_us = WaitSettings().deadlock_timeout_us;
};

class LockProgram : public Interleaver::Program {
 public:
  explicit LockProgram(const Scenario& scenario) : scenario_(scenario) {
    for (size_t i = 0; i < scenario.threads.size(); ++i) {
      sessions_.push_back(std::make_unique<Session>(*this));
      sessions_.back()->settings.parker = &sessions_.back()->parker;
      sessions_.back()->settings.cancelled = &sessions_.back()->cancelled;
      sessions_.back()->settings.deadlock_timeout_us = scenario.deadlock_timeout_us;
    }
    record_ = relation_.records().create("key", 8, reclaimer_handle_);
  }
  ~LockProgram() override {
    for (auto& session : sessions_) locks_.return_owner(session->owner);
    relation_.records().destroy(record_, reclaimer_handle_);
  }

  void run_thread(int index) override {
    Session& session = *sessions_[index];
    for (const Step& step : scenario_.threads[index]) {
      TransactionStatus status = perform(session, step);
      session.statuses.push_back(status);
      if (status != ok && status != lock_not_available) break;
    }
    // What it has is not relied on any more when it begins to give it back.
    session.held = {};
    if (removed_ == &session) removed_ = nullptr;
    locks_.release_locks(session.owner);
    locks_.release_relations(session.owner);
    session.parker.end();
  }

  std::string verdict() override {
    if (!wrong_.empty()) return wrong_;
    if (!scenario_.takes_time && time_.has_passed()) return "somebody was not woken";
    int deadlocks = 0;
    for (const auto& session : sessions_) {
      for (TransactionStatus status : session->statuses) {
        deadlocks += status == deadlock;
        if (status == ok || status == deadlock) continue;
        const auto& others = scenario_.others;
        if (std::find(others.begin(), others.end(), status) == others.end())
          return "ended with " + std::string(name_of(status));
      }
    }
    if (deadlocks > scenario_.most_deadlocks) return "a victim too many";
    if (!locks_.list().empty()) return "a lock is left";
    if (record_->tid_word().load().has_intent()) return "the intent bit is left";
    if (!row_.empty() && record_->quiet_row() != row_) return "the row is not the last one";
    if (!record_->holder().is_none()) return "a holder is left in the record";
    if (relation_.gate().stops(access_exclusive)) return "the gate is left";
    return "";
  }

 private:
  struct Session {
    explicit Session(LockProgram& program)
        : parker(program.time_), owner(program.locks_.take_owner()), slot(program.epochs_) {}
    ModelParker parker;
    std::atomic<bool> cancelled = false;
    WaitSettings settings = {};
    LockOwner& owner;
    CommitSlot slot;
    bool writes = false;  // between its look at the gate and its end
    std::array<LockModes, target_count> held = {};
    std::vector<TransactionStatus> statuses = {};
  };

  LockTag tag_of(Target target) {
    if (target == Target::record) return LockTag::of(record_);
    return LockTag::advisory(static_cast<int64_t>(target));
  }

  TransactionStatus perform(Session& session, const Step& step) {
    switch (step.kind) {
      case Step::Kind::cancel:
        sessions_[step.other]->cancelled = true;
        sessions_[step.other]->parker.unpark();
        return ok;
      case Step::Kind::let_in:
        held(session, step.target).remove(share_row_exclusive);
        locks_.let_writers_in(session.owner);
        return ok;
      case Step::Kind::keep_out: {
        TransactionStatus status =
            locks_.keep_writers_out(session.owner, relation_, epochs_, session.settings);
        if (status == ok) hold(session, step);
        return status;
      }
      case Step::Kind::write:
        return write_as_one_shot(session);
      case Step::Kind::grow:
        return grow_row(session);
      case Step::Kind::link:
        return remember_link();
      case Step::Kind::remove:
        locks_.note_removal(session.owner, record_);
        removed_ = &session;
        look_for_conflicts();
        return ok;
      default:
        break;
    }
    WaitPolicy policy = step.kind == Step::Kind::acquire ? WaitPolicy::wait : WaitPolicy::no_wait;
    TransactionStatus status = step.target == Target::relation
                                   ? locks_.lock_relation(session.owner, relation_, step.mode,
                                                          policy, epochs_, session.settings)
                                   : locks_.acquire(session.owner, tag_of(step.target), step.mode,
                                                    policy, session.settings);
    if (status == ok) hold(session, step);
    return status;
  }

  // As Commit::attempt() does. One that is stopped is over: here it does not wait.
  TransactionStatus write_as_one_shot(Session& session) {
    session.slot.enter();
    static_cast<void>(session.slot.serialization_epoch());
    if (!relation_.gate().stops(row_exclusive)) {
      session.writes = true;
      schedule_point(false);
      look_for_conflicts();
      session.writes = false;
    }
    session.slot.leave();
    return ok;
  }

  // As Commit does it, with the lock or without.
  TransactionStatus grow_row(Session& session) {
    const std::string row(++growths_ * 4096, 'r');
    locks_.move_to_table(session.owner, record_);
    ExternalPayload* spare = relation_.records().create_payload(row.size(), reclaimer_handle_);
    TidWord seen;
    while (!record_->tid_word().try_lock(LockPurpose::update, seen)) pause_briefly();
    const bool admitted =
        !seen.has_intent() || locks_.admits(session.owner, record_, no_key_update);
    ExternalPayload* unused = spare;
    if (admitted) {
      Tid tid = *Tid::following(std::max(last_tid_, seen.tid()), Epoch(2));
      last_tid_ = tid;
      row_ = row;
      unused = record_->install(row, tid, spare);
    } else {
      record_->tid_word().unlock();
    }
    if (unused != nullptr) relation_.records().retire(unused, reclaimer_handle_);
    return ok;
  }

  TransactionStatus remember_link() {
    TidWord seen;
    if (!record_->tid_word().try_lock(LockPurpose::update, seen)) return ok;
    record_->set_link(record_);
    record_->tid_word().unlock();
    return ok;
  }

  LockModes& held(Session& session, Target target) {
    return session.held[static_cast<size_t>(target)];
  }
  void hold(Session& session, const Step& step) {
    held(session, step.target) |= step.mode;
    look_for_conflicts();
    if (step.target == Target::record && !record_->tid_word().load().has_intent())
      wrong_ = "a lock on a record without its bit";
  }
  void look_for_conflicts() {
    for (const auto& one : sessions_) {
      for (const auto& other : sessions_) {
        if (one == other) continue;
        for (size_t i = 0; i < target_count; ++i) {
          one->held[i].visit([&](LockMode mode) {
            if (other->held[i].conflicts_with(mode)) wrong_ = "two hold what conflicts";
          });
        }
        const LockModes& relation = one->held[static_cast<size_t>(Target::relation)];
        if (other->writes && relation.conflicts_with(row_exclusive))
          wrong_ = "a one-shot commits behind a lock";
        if (removed_ == one.get() && !locks_.removal_pending(other->owner, record_) &&
            removed_ == one.get())
          wrong_ = "a removal is not seen";
      }
    }
  }

  const Scenario& scenario_;
  ModelTime time_;
  EpochManager epochs_{Epoch(1)};
  Reclaimer reclaimer_;
  ReclaimerHandle reclaimer_handle_{reclaimer_};
  Relation relation_{RelationId(1), {}, false};
  Record* record_ = nullptr;
  // One shard: where else a tag would lie depends on an address, and runs must be alike.
  LockTable locks_{1};
  std::vector<std::unique_ptr<Session>> sessions_;
  Session* removed_ = nullptr;  // who has, while it holds the record
  size_t growths_ = 0;
  Tid last_tid_;
  std::string row_;
  std::string wrong_;
};

std::vector<Scenario> scenarios() {
  constexpr Target a = Target::advisory_a, b = Target::advisory_b, c = Target::advisory_c;
  constexpr Target record = Target::record, relation = Target::relation;
  return {
      {"OneAfterTheOther", {{lock(a, exclusive)}, {lock(a, exclusive)}, {lock(a, exclusive)}}},
      {"SharersAndOneAlone", {{lock(a, share)}, {lock(a, exclusive)}, {lock(a, share)}}},
      {"AnUpgradeGoesFirst", {{lock(a, share), lock(a, exclusive)}, {lock(a, exclusive)}}},
      {"TwoUpgrades",
       {{lock(a, share), lock(a, exclusive)}, {lock(a, share), lock(a, exclusive)}},
       1,
       {},
       true},
      {"CrossedLocks",
       {{lock(a, exclusive), lock(b, exclusive)}, {lock(b, exclusive), lock(a, exclusive)}},
       1,
       {},
       true},
      {"ACycleOfThree",
       {{lock(a, exclusive), lock(b, exclusive)},
        {lock(b, exclusive), lock(c, exclusive)},
        {lock(c, exclusive), lock(a, exclusive)}},
       1,
       {},
       true},
      {"TheLastOfThreeLooks",
       {{lock(a, exclusive), lock(b, exclusive)},
        {lock(b, exclusive), lock(c, exclusive)},
        {lock(c, exclusive), lock(a, exclusive)}},
       1,
       {},
       true,
       /*deadlock_timeout_us=*/0},
      // The third waits for the second only because that one came first.
      {"ACycleThroughTheOrderOfWaiting",
       {{lock(a, share), lock(b, exclusive)},
        {lock(a, exclusive)},
        {lock(b, exclusive), lock(a, share)}},
       0,
       {},
       true},
      // The first has its cycle only when its note has become a hold.
      {"ACycleThroughANote",
       {{lock(relation, row_exclusive), lock(a, exclusive)},
        {lock(a, exclusive), lock(relation, access_exclusive)}},
       1,
       {},
       true,
       /*deadlock_timeout_us=*/0},
      // The third waits behind the second, and at first for the fourth as well, who ends when it
      // has waited for the first's relation for a while.
      {"ACycleThatCanBeBrokenLater",
       {{lock(relation, row_exclusive), lock(record, key_share), lock(b, exclusive)},
        {lock(record, update)},
        {lock(b, exclusive), lock(record, no_key_update)},
        {lock(record, no_key_update), keep_out()}},
       0,
       {lock_timeout},
       true,
       /*deadlock_timeout_us=*/1000},
      {"AWaitIsCancelled",
       {{lock(a, exclusive)}, {lock(a, exclusive)}, {cancel(1)}},
       0,
       {cancelled}},
      // The third waits only for the one whose wait is cancelled, and the first for the third.
      {"ACancelledWaitLetsOthersPass",
       {{lock(a, share), cancel(1), lock(b, exclusive)},
        {lock(a, exclusive)},
        {lock(b, exclusive), lock(a, share)}},
       0,
       {cancelled}},
      {"WhoDoesNotWait",
       {{lock(a, exclusive)}, {lock_now(a, exclusive)}, {lock(a, share)}},
       0,
       {lock_not_available}},
      {"RowLocks", {{lock(record, update)}, {lock(record, key_share), lock(record, update)}}},
      {"TheIntentBitComesAndGoes",
       {{lock(record, no_key_update)}, {lock(record, key_share)}, {lock(record, update)}}},
      {"AStrongerLockInTheRecord",
       {{lock(record, no_key_update), lock(record, update)}, {lock(record, no_key_update)}}},
      {"AStrongerLockInTheRecordBesideASharer",
       {{lock(record, no_key_update), lock(record, update)},
        {lock(record, key_share)},
        {lock(record, update)}}},
      {"ARemovalMovesWithItsLock",
       {{lock(record, update), remove()}, {lock(record, key_share)}, {lock(record, update)}}},
      {"ARowGrowsBesideAnIntent",
       {{lock(record, no_key_update)}, {grow()}, {lock(record, update)}}},
      {"AHoldersRowGrows",
       {{lock(record, no_key_update), grow()}, {lock(record, update)}, {grow()}}},
      // Who has the record's lock bit waits for nobody who may wait for him.
      {"WhoMakesARowGrowDoesNotWait",
       {{lock(record, no_key_update), lock(a, exclusive)}, {lock(a, exclusive), grow()}}},
      {"ALinkBesideAnIntent",
       {{lock(record, update)}, {link()}, {lock(record, no_key_update), grow()}}},
      {"WhoDoesNotWaitForARecord",
       {{lock_now(record, update)}, {lock_now(record, update)}, {lock_now(record, key_share)}},
       0,
       {lock_not_available}},
      {"WeakAndStrong",
       {{lock(relation, row_exclusive)},
        {lock(relation, share_row_exclusive)},
        {lock(relation, row_exclusive)}}},
      {"TwoStrongOnes",
       {{lock(relation, row_exclusive), lock(relation, access_exclusive)},
        {lock(relation, access_exclusive)}}},
      {"OneShotsAndALock", {{write(), write()}, {lock(relation, share)}}, 0, {}, true},
      {"TwoOneShotsAndALock",
       {{write()}, {write()}, {lock(relation, access_exclusive)}},
       0,
       {},
       true},
      {"WritersAreKeptOut",
       {{keep_out(), let_in()}, {lock(relation, row_exclusive)}, {write()}},
       0,
       {lock_timeout},
       true},
      {"TwoKeepWritersOut",
       {{lock(relation, row_exclusive), keep_out()}, {lock(relation, row_exclusive), keep_out()}},
       0,
       {lock_timeout},
       true},
  };
}

class LockQueueInterleavingTest : public ::testing::TestWithParam<Scenario> {};

TEST_P(LockQueueInterleavingTest, HoldsUnderEverySchedule) {
  const Scenario& scenario = GetParam();
  const char* wanted = std::getenv("PGSILO_PREEMPTIONS");
  int preemptions = wanted != nullptr ? std::atoi(wanted) : 4;
  if (scenario.threads.size() > 2) --preemptions;
  if (scenario.threads.size() > 3) --preemptions;
  Interleaver interleaver(static_cast<int>(scenario.threads.size()), preemptions,
                          [&] { return new LockProgram(scenario); });
  EXPECT_EQ(interleaver.explore(), "");
  EXPECT_GT(interleaver.runs(), 50u);
  RecordProperty("runs", static_cast<int>(interleaver.runs()));
}

INSTANTIATE_TEST_SUITE_P(Scenarios, LockQueueInterleavingTest, ::testing::ValuesIn(scenarios()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace pgsilo
