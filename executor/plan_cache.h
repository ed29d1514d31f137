// Parsed texts and their plans, kept by one worker for its sessions: prepared statements of the
// same text share a plan, and a text that comes again is neither parsed nor planned. A repeated
// text that differs only in its literals is brought to the same key by the normaliser
// (sql/parser/normalizer.h) before it gets here.
//
// A text in the cache is immutable but for its plan, which is replaced when the descriptors it
// rests on changed. Thread safety: none; the worker's thread. A CachedText may be used after it
// fell out of the cache.
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
#include "sql/ast/node.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

class ExecutablePlan;
struct StatementCounters;  // the server's

// The statements of one text and what was planned for them.
struct CachedText {
  // The tree lives in `arena`; plans keep this alive as their syntax owner.
  struct Syntax {
    Arena arena;
    std::string text;
    std::span<const ast::RawStatement> statements;
  };
  std::shared_ptr<const Syntax> syntax;
  std::vector<Oid> declared_types;  // of its parameters, as the client or the normaliser said
  // Of normalised texts: whether the plan stands for every text that differs only in its literals.
  enum class Sharing : uint8_t { undecided, shared, refused };
  Sharing sharing = Sharing::undecided;
  // One per statement; null: not planned yet, or not something that is planned.
  std::vector<std::shared_ptr<const ExecutablePlan>> plans;
  std::shared_ptr<StatementCounters> counters;  // null: not run yet
};

class PlanCache {
 public:
  explicit PlanCache(size_t max_entries = 1024, size_t max_text_bytes = 16384);

  // `key` says everything a plan of the text depends on (make_key). Null: not there.
  std::shared_ptr<CachedText> find(std::string_view key);
  // Texts that are too long are not kept; the oldest unused one makes room.
  void insert(std::string key, std::shared_ptr<CachedText> text);

  // Text, parameter types, and the session's settings that planning looks at (`settings_key`).
  static void make_key(std::string_view text, std::span<const Oid> types,
                       std::string_view settings_key, std::string* key);

  size_t size() const { return entries_.size(); }
  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<CachedText> text;
  };
  const size_t max_entries_;
  const size_t max_text_bytes_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key_;
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
};

// Parses on a large stack. Throws SqlError.
std::shared_ptr<CachedText> parse_text(std::string_view text, std::span<const Oid> declared_types);

}  // namespace pgsilo
