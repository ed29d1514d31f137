#include "executor/plan_cache.h"

#include "executor/executable_plan.h"
#include "sql/parser/parser.h"

namespace pgsilo {

PlanCache::PlanCache(size_t max_entries, size_t max_text_bytes)
    : max_entries_(max_entries), max_text_bytes_(max_text_bytes) {}

std::shared_ptr<CachedText> PlanCache::find(std::string_view key) {
  auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    ++misses_;
    return nullptr;
  }
  ++hits_;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->text;
}

void PlanCache::insert(std::string key, std::shared_ptr<CachedText> text) {
  if (key.size() > max_text_bytes_) return;
  if (auto found = by_key_.find(key); found != by_key_.end()) {
    found->second->text = std::move(text);
    return;
  }
  if (entries_.size() >= max_entries_) {
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
  entries_.push_front({std::move(key), std::move(text)});
  by_key_.emplace(entries_.front().key, entries_.begin());
}

void PlanCache::make_key(std::string_view text, std::span<const Oid> types,
                         std::string_view settings_key, std::string* key) {
  key->clear();
  auto append_number = [&](uint32_t number) {
    key->append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  append_number(static_cast<uint32_t>(settings_key.size()));
  key->append(settings_key);
  append_number(static_cast<uint32_t>(types.size()));
  for (Oid type : types) append_number(type);
  key->append(text);
}

std::shared_ptr<CachedText> parse_text(std::string_view text, std::span<const Oid> declared_types) {
  auto syntax = std::make_shared<CachedText::Syntax>();
  syntax->text = text;
  syntax->statements = parse(syntax->text, syntax->arena);
  auto cached = std::make_shared<CachedText>();
  cached->plans.resize(syntax->statements.size());
  cached->syntax = std::move(syntax);
  cached->declared_types.assign(declared_types.begin(), declared_types.end());
  return cached;
}

}  // namespace pgsilo
