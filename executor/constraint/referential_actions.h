// Foreign keys from the side that is referred to, and the end of it all: settles what statements
// have left in their queues. Rows that refer to what has gone are changed as the constraint says,
// or are an error; each change is a statement of its own with a queue of its own, settled before
// the next event, as PostgreSQL's triggers are. The levels are a stack in memory: chains of rows
// may be as long as they like.
//
// Deferred constraints (SET CONSTRAINTS, INITIALLY DEFERRED) keep their events until the
// transaction ends.
//
// Thread safety: none; one per session.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/constraint/reference_events.h"

namespace pgsilo {

class Execution;
class ExecutablePlan;
struct ExecutionContext;

// What is done about the rows that refer to a row which has gone.
enum class ReferentialStep : uint8_t { look, remove, follow, set_null, set_default };

class ReferentialActions {
 public:
  explicit ReferentialActions(ExecutionContext& context);
  ~ReferentialActions();

  // The running statement has ended but for this. Events of deferred constraints are kept for
  // later. Throws 23503, what the changes throw, and conflicts.
  void settle(std::unique_ptr<ReferenceQueue> queue);

  // They would be made again.
  void forget_plans();
  // What actions cost: so far.
  uint64_t plans_made() const { return plans_made_; }

  // --- deferred constraints ---
  bool is_deferred(const ConstraintDescriptor& constraint) const;
  bool has_pending() const { return !deferred_.empty(); }
  // 55006 if events of the table wait for the end of the transaction; `command` as messages name
  // it.
  void refuse_pending(const TableDescriptor& table, std::string_view command) const;
  // COMMIT: as a statement of its own.
  void settle_deferred();
  // SET CONSTRAINTS; constraints empty: ALL. What is immediate from now on is settled.
  void set_constraints(std::span<const Oid> constraints, bool deferred);
  void forget_transaction();

  // For savepoints: where the pending events and SET CONSTRAINTS stand.
  struct Mark {
    size_t events = 0;
    uint64_t settled = 0;
    std::map<Oid, bool> modes;
    bool all_given = false;
    bool all_deferred = false;
  };
  Mark mark() const;
  void rollback_to(const Mark& mark);

 private:
  struct Plan;
  struct DeferredEvent {
    ReferenceEvent event;
    uint64_t settled = 0;  // in which of those times (settled_); 0: it waits
  };
  // The foreign key that an event is about, as the catalog has it now.
  struct Subject {
    const TableDescriptor& table;  // that refers
    const ConstraintDescriptor& constraint;
    const TableDescriptor& referenced;
    const ForeignKeyDescriptor& key() const { return *constraint.foreign_key; }
  };

  void settle_levels(std::vector<std::unique_ptr<ReferenceQueue>>& levels);
  // The events that this one's action left. `comes_back`: it is to be settled once more.
  std::unique_ptr<ReferenceQueue> settle_event(ReferenceEvent& event, bool* comes_back);
  Subject subject_of(const ReferenceEvent& event) const;
  static ReferentialAction action_of(const Subject& subject, const ReferenceEvent& event);
  void check_reference(const Subject& subject, const ReferenceEvent& event);
  bool is_there(const Subject& subject, const ReferenceEvent& event);
  void refuse_references(const Subject& subject, const ReferenceEvent& event);
  ReferenceCheck& check_of(const Subject& subject);
  std::unique_ptr<ReferenceQueue> run(const Subject& subject, ReferentialStep step,
                                      const ReferenceEvent& event, bool* found = nullptr);
  Plan& plan(const Subject& subject, ReferentialStep step, bool on_delete);
  void make_room();
  static std::string query_text(const Subject& subject, ReferentialStep step, bool on_delete);

  // --- deferred_constraints.cpp ---
  bool defers(const Subject& subject, const ReferenceEvent& event) const;
  void defer(const Subject& subject, const ReferenceEvent& event);
  void settle_pending();
  void settle_pending_events();
  bool waits(const DeferredEvent& each) const;

  ExecutionContext& context_;
  std::map<std::pair<Oid, uint32_t>, Plan> plans_;
  size_t stale_plans_looked_for_at_ = 0;  // so many
  uint64_t plans_made_ = 0;
  std::map<Oid, std::unique_ptr<ReferenceCheck>> checks_;  // of the running settle()

  Arena deferred_memory_;
  std::vector<DeferredEvent> deferred_;
  std::map<Oid, bool> modes_;  // by SET CONSTRAINTS; true: deferred
  bool all_given_ = false;     // SET CONSTRAINTS ALL
  bool all_deferred_ = false;
  bool at_commit_ = false;  // nothing can wait any longer
  uint64_t settled_ = 0;    // times that pending events were settled
};

}  // namespace pgsilo
