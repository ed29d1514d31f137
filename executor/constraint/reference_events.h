// What changes of rows leave to be checked, or to be done to other rows, about foreign keys:
// events, gathered while a statement runs and settled when it ends (ReferentialActions), or at the
// end of the transaction where a constraint is deferred.
//
// Thread safety: none; one statement or transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "catalog/descriptors.h"
#include "executor/constraint/reference_check.h"

namespace pgsilo {

struct ExecutionState;

struct ReferenceEvent {
  enum class Kind : uint8_t {
    refers,   // a row was inserted, or refers to something else now
    removed,  // a row that may be referred to was deleted
    moved,    // or has another key
  };
  Kind kind = Kind::refers;
  bool acted = false;  // the action was taken; only a last look is left
  IncomingReference reference;
  std::string_view row_key;           // refers: of the row, in its primary tree
  std::span<const Datum> old_values;  // removed, moved: of the referenced columns
  std::span<const Datum> new_values;  // moved
};

// Events in the order in which they arose, and what they point at.
struct ReferenceQueue {
  Arena memory;
  std::vector<ReferenceEvent> events;
  size_t next = 0;                                    // those before are settled
  std::vector<std::unique_ptr<ReferenceQueue>> kept;  // whose events were taken over
};

// What a statement does to the rows of a table.
struct RowChanges {
  bool inserts = false;
  bool removes = false;
  std::vector<int32_t> updates = {};  // 0-based columns
};

// The foreign keys of a table that its changes concern, those of other tables that refer to it
// included.
class ReferenceWatch {
 public:
  // Null if there are none.
  static std::unique_ptr<ReferenceWatch> of(ExecutionState& state, const TableDescriptor& table,
                                            const RowChanges& changes);
  ReferenceWatch(ExecutionState& state, const TableDescriptor& table, const RowChanges& changes);
  bool is_empty() const { return references_.empty() && incoming_.empty(); }

  // After the row was written; `key` is its own in the primary tree. `may_change`: the statement
  // also changes rows of the table.
  void inserted(std::span<const Datum> row, std::string_view key, bool may_change);
  // `moves`: the row has another primary key, and so is another record. `is_own`: the transaction
  // had written the old one as well.
  void updated(std::span<const Datum> old_row, std::span<const Datum> new_row, std::string_view key,
               bool moves, bool is_own);
  void removed(std::span<const Datum> old_row);

 private:
  // A foreign key that refers to the table.
  struct Incoming {
    IncomingReference reference;
    std::vector<int16_t> columns;  // numbers, of the table
  };

  // A foreign key of the table.
  struct Outgoing {
    std::unique_ptr<ReferenceCheck> check;
    bool rests = false;  // the statement does on the table that it refers to
  };

  void check(Outgoing& reference, std::span<const Datum> row, std::string_view key, bool now);
  void add(ReferenceEvent::Kind kind, const Incoming& incoming, std::span<const Datum> old_row,
           std::span<const Datum> new_row);
  static bool may_be_referred_to(const Incoming& incoming, std::span<const Datum> row);
  bool same_key(const Incoming& incoming, std::span<const Datum> left,
                std::span<const Datum> right) const;
  std::span<const Datum> values_of(const Incoming& incoming, std::span<const Datum> row,
                                   Arena& memory) const;
  ReferenceQueue& queue();

  ExecutionState& state_;
  const TableDescriptor& table_;
  std::vector<Outgoing> references_;
  std::vector<Incoming> incoming_;
};

}  // namespace pgsilo
