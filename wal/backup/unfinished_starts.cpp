#include "wal/backup/unfinished_starts.h"

#include <algorithm>
#include <ranges>

#include "wal/backup/server_chain.h"

namespace pgsilo {

// What the control file knows is the server's. Of all others the begin blocks are asked, which are
// looked for once.
ArchivedStart UnfinishedStarts::judge(const BlockHeader& first) {
  if (control_.incarnations.empty() || is_listed(control_, first.incarnation_tag))
    return ArchivedStart::its;
  if (!std::exchange(looked_, true) && find_begins()) find_own();
  return judge_behind(first.incarnation_tag);
}

bool UnfinishedStarts::find_begins() {
  if (!know_all(archived_, &failure_) || !know_all(server_, &failure_)) return false;
  for (const FirstBlocks* log : archived_) add_begins(*log, false);
  for (const FirstBlocks* log : server_) add_begins(*log, true);
  return true;
}

// What lies before the restored state nobody asks for.
void UnfinishedStarts::add_begins(const FirstBlocks& log, bool is_servers) {
  for (const auto& [tag, start] : log.starts()) {
    if (!start.begin || start.begin->first_epoch <= restored_.durable) continue;
    Begin& known = begins_[tag];
    known.says = *start.begin;
    known.in_server |= is_servers;
    known.archived += is_servers ? 0 : 1;
  }
}

// By what each went on from, as far as that is known.
void UnfinishedStarts::find_own() {
  const std::vector<Incarnation>& named = control_.incarnations;
  uint64_t tag = short_identity(named.back().id);
  HistoryPoint parent = named.back().parent;
  while (own_.insert(tag).second) {
    knows_own_ = parent == restored_;
    tag = short_identity(parent.incarnation);
    auto still = std::ranges::find(named, parent.incarnation, &Incarnation::id);
    auto begun = begins_.find(tag);
    if (knows_own_ || (still == named.end() && begun == begins_.end())) return;
    parent = still != named.end() ? still->parent : begun->second.says.parent;
  }
}

bool UnfinishedStarts::is_its(uint64_t tag) const {
  auto begun = begins_.find(tag);
  return is_listed(control_, tag) || own_.contains(tag) ||
         (begun != begins_.end() && begun->second.in_server);
}

// Those that it rests on first, which may be thousands.
ArchivedStart UnfinishedStarts::judge_behind(uint64_t tag) {
  std::vector<std::pair<uint64_t, const Begin*>> chain;
  for (uint64_t next = tag;;) {
    auto begun = begins_.find(next);
    bool is_new = begun != begins_.end() && begun->second.archived != 0 &&
                  judged_.emplace(next, ArchivedStart::its).second;
    if (!is_new) break;
    chain.emplace_back(next, &begun->second);
    next = short_identity(begun->second.says.parent.incarnation);
  }
  for (const auto& [each, begin] : std::views::reverse(chain)) judged_[each] = find(each, *begin);
  return judged(tag);
}

ArchivedStart UnfinishedStarts::judged(uint64_t tag) const {
  auto found = judged_.find(tag);
  return found == judged_.end() ? ArchivedStart::its : found->second;
}

// A start that the server had, and of which nothing counted, is none that another one rests on, and
// no state of it is there. Where a start between is not known, any may have been the server's.
ArchivedStart UnfinishedStarts::find(uint64_t tag, const Begin& begin) {
  const HistoryPoint& parent = begin.says.parent;
  if (is_its(tag) || parent.durable < restored_.durable) return ArchivedStart::its;
  ArchivedStart before = parent == restored_ ? ArchivedStart::unfinished : ArchivedStart::others;
  if (parent.incarnation != restored_.incarnation)
    before = judged(short_identity(parent.incarnation));
  if (before == ArchivedStart::its) return ArchivedStart::its;
  if (is_there(tag, begin)) return knows_own_ ? ArchivedStart::others : ArchivedStart::its;
  bool unfinished = before == ArchivedStart::unfinished && !was_archived(tag);
  return unfinished ? ArchivedStart::unfinished : ArchivedStart::its;
}

// More of it than its begin block.
bool UnfinishedStarts::was_archived(uint64_t tag) const {
  return !ends_ || std::ranges::any_of(*ends_, [&](const ArchivedEnd& end) {
    return end.incarnation_tag == tag && end.next_number > 1;
  });
}

// Whether a state of its own could be restored: all its logs are there, and prove one.
bool UnfinishedStarts::is_there(uint64_t tag, const Begin& begin) {
  if (begin.archived < begin.says.logs) return false;
  ArchivedStarts known = starts();
  const bool is_empty = !known.extent(tag).has_records;
  failure_.note(known.failure().result, known.failure().path);
  if (is_empty) return false;
  BlockHeader block;
  block.incarnation_tag = tag;
  std::string damaged;
  bool holds = known.holds(block, begin.says.first_epoch, &damaged);
  failure_.note(known.failure().result, known.failure().path);
  return holds;
}

ArchivedStarts UnfinishedStarts::starts() const {
  return {files_, archived_, {}, restored_, {}, {0, restored_.durable}, {}};
}

}  // namespace pgsilo
