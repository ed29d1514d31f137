#include "executor/plan_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "executor/executable_plan.h"
#include "sql/parser/parser.h"

namespace pgsilo {

size_t CachedText::own_bytes() const {
  size_t bytes = sizeof *this + declared_types.capacity() * sizeof(Oid) +
                 plans.capacity() * sizeof plans[0] + 2 * key_bytes_ + plan_bytes_;
  return syntax == nullptr ? bytes : bytes + syntax->bytes();
}

PlanCache::Bounds PlanCache::bounds_of(size_t memory_limit_bytes, unsigned workers) {
  Bounds bounds;
  size_t part = memory_limit_bytes / workers;
  bounds.bytes = std::min(bounds.bytes, part / limits::kept_plans_fraction);
  bounds.least_given_back = part / limits::given_back_plans_fraction;
  return bounds;
}

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

void PlanCache::insert(std::string key, const std::shared_ptr<CachedText>& text) {
  if (key.size() > bounds_.text_bytes) return;
  text->key_bytes_ = key.size();
  if (text->own_bytes() > bytes_of_one()) return;
  if (auto found = by_key_.find(key); found != by_key_.end()) remove(found->second);
  make_room(1);
  entries_.push_front({std::move(key), text});
  by_key_.emplace(entries_.front().key, entries_.begin());
  text->is_kept_ = true;
  count(*text);
  make_room(0);
}

void PlanCache::keep_plan(CachedText& text, size_t index,
                          std::shared_ptr<const ExecutablePlan> plan) {
  if (!text.is_kept_) return;
  std::shared_ptr<const ExecutablePlan>& place = text.plans[index];
  if (place != nullptr) text.plan_bytes_ -= place->bytes();
  place = nullptr;
  text.choice = {};
  if (text.own_bytes() + plan->bytes() <= bytes_of_one()) {
    text.plan_bytes_ += plan->bytes();
    place = std::move(plan);
  }
  count(text);
  make_room(0);
}

bool PlanCache::give_back() {
  if (entries_.empty() || bytes_ < bounds_.least_given_back) return false;
  while (!entries_.empty()) remove(std::prev(entries_.end()));
  return true;
}

void PlanCache::count(CachedText& text) {
  bytes_ -= text.counted_bytes_;
  text.counted_bytes_ = text.own_bytes();
  bytes_ += text.counted_bytes_;
}

void PlanCache::remove(Place place) {
  CachedText& text = *place->text;
  bytes_ -= text.counted_bytes_;
  text.is_kept_ = false;
  text.counted_bytes_ = text.plan_bytes_ = 0;
  for (auto& plan : text.plans) plan = nullptr;
  by_key_.erase(place->key);
  entries_.erase(place);
}

// For so many more texts.
void PlanCache::make_room(size_t texts) {
  while (!entries_.empty() && (bytes_ > bounds_.bytes || entries_.size() + texts > bounds_.texts)) {
    remove(std::prev(entries_.end()));
  }
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
  return parse_own_text(AskingString(text), declared_types);
}

std::shared_ptr<CachedText> parse_own_text(AskingString text, std::span<const Oid> declared_types) {
  auto syntax = std::make_shared<CachedText::Syntax>();
  syntax->text = std::move(text);
  syntax->statements = parse(syntax->text, syntax->arena);
  auto cached = std::make_shared<CachedText>();
  cached->plans.resize(syntax->statements.size());
  cached->syntax = std::move(syntax);
  cached->declared_types.assign(declared_types.begin(), declared_types.end());
  return cached;
}

}  // namespace pgsilo
