#include "wal/backup/unfinished_starts.h"

#include <algorithm>

namespace pgsilo {

void UnfinishedStarts::add(uint64_t tag) { static_cast<void>(leads_there(tag)); }

bool UnfinishedStarts::leads_there(uint64_t tag) {
  if (std::ranges::find(tags_, tag) != tags_.end()) return true;
  if (was_archived(tag) || is_servers(tag)) return false;
  std::optional<LogBegin> begin = begin_in(archived_, tag);
  if (!begin || begin->parent.durable < restored_.durable) return false;
  bool leads = begin->parent == restored_ || leads_there(short_identity(begin->parent.incarnation));
  if (!leads || is_there(tag, *begin)) return false;
  tags_.push_back(tag);
  return true;
}

// More of it than its begin block.
bool UnfinishedStarts::was_archived(uint64_t tag) const {
  return std::ranges::any_of(ends_, [&](const ArchivedEnd& end) {
    return end.incarnation_tag == tag && end.next_number > 1;
  });
}

// One that it had itself, since it was restored.
bool UnfinishedStarts::is_servers(uint64_t tag) {
  return std::ranges::any_of(
             named_, [&](const Incarnation& each) { return short_identity(each.id) == tag; }) ||
         begin_in(server_, tag);
}

// Whether a state of it could be restored: all its logs are there, and prove one.
bool UnfinishedStarts::is_there(uint64_t tag, const LogBegin& begin) {
  size_t logs = 0;
  for (const LogDirectory* log : archived_) logs += begin_in({log}, tag) ? 1 : 0;
  if (logs < begin.logs) return false;
  ArchivedStarts known = starts_in(archived_);
  BlockHeader block;
  block.incarnation_tag = tag;
  std::string damaged;
  bool holds = known.holds(block, begin.first_epoch, &damaged);
  note(known);
  return holds;
}

std::optional<LogBegin> UnfinishedStarts::begin_in(const std::vector<const LogDirectory*>& logs,
                                                   uint64_t tag) {
  ArchivedStarts known = starts_in(logs);
  std::optional<LogBegin> begin = known.begin_of(tag);
  note(known);
  return begin;
}

ArchivedStarts UnfinishedStarts::starts_in(const std::vector<const LogDirectory*>& logs) const {
  return {files_, logs, {}, restored_, {}, restored_.durable};
}

void UnfinishedStarts::note(const ArchivedStarts& starts) {
  if (starts.failure().ok()) return;
  failure_ = starts.failure();
  failed_path_ = starts.failed_path();
}

}  // namespace pgsilo
