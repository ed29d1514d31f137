// Parsed texts and their plans, kept by one worker for its sessions: prepared statements of the
// same text share a plan, and a text that comes again is neither parsed nor planned. A repeated
// text that differs only in its literals is brought to the same key by the normaliser
// (sql/parser/normalizer.h) before it gets here.
//
// A text in the cache is immutable but for its plans, which are replaced when the descriptors they
// rest on changed. What all this takes of memory is bounded; texts that were not used for longest
// make room. A CachedText may be used after it fell out of the cache, but has no plans then: nobody
// would find them. Thread safety: none; the worker's thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/arena.h"
#include "base/asking_allocator.h"
#include "base/memory_budget.h"
#include "executor/plan_choice.h"
#include "sql/ast/node.h"
#include "sql/limits.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

class ExecutablePlan;
struct StatementCounters;  // the server's

// The statements of one text and what was planned for them.
struct CachedText {
  // The tree lives in `arena`; plans keep this alive as their syntax owner.
  struct Syntax {
    Arena arena{ArenaLimit::reserve};
    AskingString text;
    std::span<const ast::RawStatement> statements;

    size_t bytes() const { return sizeof *this + arena.bytes_reserved() + text.capacity(); }
  };
  std::shared_ptr<const Syntax> syntax;
  std::vector<Oid> declared_types;  // of its parameters, as the client or the normaliser said
  // Of normalised texts: whether the plan stands for every text that differs only in its literals.
  enum class Sharing : uint8_t { undecided, shared, refused };
  Sharing sharing = Sharing::undecided;
  // One per statement; null: not planned yet, not kept, or not something that is planned. Only the
  // cache changes them.
  std::vector<std::shared_ptr<const ExecutablePlan>> plans;
  // Of whoever has no history of their own: unnamed statements, and queries with literals.
  PlanChoice choice;
  std::shared_ptr<StatementCounters> counters;  // null: not run yet

 private:
  friend class PlanCache;
  size_t own_bytes() const;

  bool is_kept_ = false;  // it is in the cache
  size_t key_bytes_ = 0;
  size_t plan_bytes_ = 0;
  size_t counted_bytes_ = 0;  // of all that; what the cache has counted
};

class PlanCache final : public MemoryCache {
 public:
  struct Bounds {
    size_t bytes = limits::kept_plans_bytes;
    size_t texts = limits::kept_texts;
    size_t text_bytes = limits::kept_text_bytes;
    size_t least_given_back = 0;  // below it is not worth while
  };
  explicit PlanCache(const Bounds& bounds) : bounds_(bounds) {}
  // For one of so many workers.
  static Bounds bounds_of(size_t memory_limit_bytes, unsigned workers);

  // Texts that are too long are not: there is no use in a key of theirs.
  bool keeps(std::string_view text) const { return text.size() <= bounds_.text_bytes; }
  // `key` says everything a plan of the text depends on (make_key). Null: not there.
  std::shared_ptr<CachedText> find(std::string_view key);
  // Those that were not used for longest make room. The text has no plans yet.
  void insert(std::string key, const std::shared_ptr<CachedText>& text);
  // What was planned for a statement of the text; likewise. Nothing happens if the text has fallen
  // out. Whoever has given the text its syntax meanwhile calls this.
  void keep_plan(CachedText& text, size_t index, std::shared_ptr<const ExecutablePlan> plan);
  // MemoryCache: all goes, or nothing.
  bool give_back() override;

  // Text, parameter types, and the session's settings that planning looks at (`settings_key`).
  static void make_key(std::string_view text, std::span<const Oid> types,
                       std::string_view settings_key, std::string* key);

  size_t size() const { return entries_.size(); }
  size_t bytes() const { return bytes_; }
  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<CachedText> text;
  };
  using Place = std::list<Entry>::iterator;
  void count(CachedText& text);
  void remove(Place place);
  void make_room(size_t texts);
  size_t bytes_of_one() const { return bounds_.bytes / limits::kept_plans_text_fraction; }

  const Bounds bounds_;
  size_t bytes_ = 0;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string_view, Place> by_key_;
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
};

// Parses on a large stack. Throws SqlError, MemoryLimitReached.
std::shared_ptr<CachedText> parse_text(std::string_view text, std::span<const Oid> declared_types);
// Of a text that is there to be kept: no other copy is made.
std::shared_ptr<CachedText> parse_own_text(AskingString text, std::span<const Oid> declared_types);

}  // namespace pgsilo
