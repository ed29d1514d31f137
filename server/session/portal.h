// A statement bound to its parameters, and how far it has run. Lives until its transaction ends; of
// a block that has failed, until the block does.
// Thread safety: none; the session's fiber.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "executor/session_statements.h"
#include "server/pgwire/protocol.h"
#include "server/session/prepared_statements.h"
#include "sql/types/datum.h"

namespace pgsilo {

class Cursor;
class Execution;
class HeldRows;

struct Portal {
  // ended: its transaction has failed, and keeps no more of it than that there was such a portal.
  enum class State : uint8_t { ready, suspended, done, failed, ended };

  Portal();
  ~Portal();
  Portal(const Portal&) = delete;
  Portal& operator=(const Portal&) = delete;

  std::shared_ptr<PreparedStatement> statement;
  std::string statement_name;  // as Bind called it
  // Parameter values; these may be much longer than the message that had them.
  std::optional<Arena> memory{std::in_place, 256, ArenaLimit::reserve};
  std::vector<Datum> parameters;
  std::vector<WireFormat> result_formats;
  State state = State::ready;
  std::shared_ptr<const ExecutablePlan> plan;
  bool has_own_plan = false;             // `plan` is for these parameters only
  std::unique_ptr<Execution> execution;  // while it runs or is suspended
  std::unique_ptr<HeldRows> held;        // rows of SHOW, EXPLAIN EXECUTE
  std::shared_ptr<Portal> inner;         // what SQL's EXECUTE runs
  std::unique_ptr<Cursor> cursor;        // where rows go first; null: to the client
  uint64_t number = 0;                   // in the order of creation
  int64_t bound_us = 0;                  // by Bind: microseconds since 2000-01-01 00:00 UTC
  size_t counted_bytes = 0;              // by Portals

  // What its parameters take, about.
  size_t parameter_bytes() const;
  // And a plan of its own.
  size_t own_plan_bytes() const;
};

// What the named ones take beyond a little is asked for (memory_limit).
class Portals final : public SessionCursors {
 public:
  std::shared_ptr<Portal> find(std::string_view name) const;
  // Throws 42P03 when a named portal exists, MemoryLimitReached when there is no room for it; the
  // unnamed one is replaced.
  void add(std::string_view name, std::shared_ptr<Portal> portal);
  // What `portal` runs in its place; of a named one it is asked for like that itself.
  void set_inner(Portal& portal, std::shared_ptr<Portal> inner);
  void remove(std::string_view name);
  // But those that are held, or are to be when the transaction commits.
  void clear();
  void remove_all();
  // Of each WITH HOLD of the transaction, which is about to commit: its rows are all made by
  // `complete`, and it needs the transaction no more.
  void hold(const std::function<void(Portal&)>& complete);
  // It has committed: they are held from here on; or has not: they go.
  void settle_held(bool committed);
  // SessionCursors: those of Bind, too.
  std::vector<CursorInfo> cursors() const override;
  void refuse_in_use(const TableDescriptor& table, std::string_view command) const override;
  // Every portal added from now on has this number or a higher one.
  uint64_t next_number() const { return next_number_; }
  void remove_since(uint64_t number);
  // Those of which removing would take the names: what they hold goes.
  void end_since(uint64_t number);
  bool empty() const { return unnamed_ == nullptr && named_.empty(); }
  bool has_named() const { return !named_.empty(); }

 private:
  using Named = std::map<std::string, std::shared_ptr<Portal>, std::less<>>;

  void require_room_for(const Portal& portal, size_t bytes) const;
  void count(Portal& portal, size_t bytes);
  void count_with_statement(Portal& portal, size_t bytes);
  void forget(Portal& portal);
  void forget_inner(Portal& portal);
  template <typename Which>
  void erase_if(Which which);
  Named::iterator erase(Named::iterator place);

  uint64_t next_number_ = 1;
  std::shared_ptr<Portal> unnamed_;
  Named named_;
  size_t named_bytes_ = 0;
  size_t holding_ = 0;  // whose fate the end of the transaction decides
};

}  // namespace pgsilo
