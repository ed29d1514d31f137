#include "wal/backup/unfinished_starts.h"

#include <algorithm>
#include <ranges>

namespace pgsilo {

// What the control file names is the server's. Of all others the begin blocks are asked, which are
// looked for once.
ArchivedStart UnfinishedStarts::judge(const BlockHeader& first) {
  if (is_named(first.incarnation_tag)) return ArchivedStart::its;
  if (!std::exchange(looked_, true)) {
    find_begins();
    find_own();
  }
  ArchivedStart found = judge_behind(first.incarnation_tag);
  bool others = found == ArchivedStart::its && !is_its(first.incarnation_tag) &&
                is_second_of_its_number(first);
  return others ? ArchivedStart::others : found;
}

bool UnfinishedStarts::is_named(uint64_t tag) const {
  return std::ranges::any_of(
      named_, [&](const Incarnation& each) { return short_identity(each.id) == tag; });
}

void UnfinishedStarts::find_begins() {
  for (const LogDirectory* log : archived_) {
    if (!add_begins(*log, false)) return;
  }
  for (const LogDirectory* log : server_) {
    if (!add_begins(*log, true)) return;
  }
}

// A segment may have gone since it was listed. What lies before the restored state nobody asks for.
bool UnfinishedStarts::add_begins(const LogDirectory& log, bool is_servers) {
  std::vector<uint64_t> numbers;
  if (!note(log.list_segments(&numbers), log.path())) return false;
  for (uint64_t number : std::views::reverse(numbers)) {
    std::optional<BlockHeader> first;
    std::optional<LogBegin> begin;
    FileResult result = read_first_block(files_, log, number, &first, &begin);
    if (result.status == FileStatus::not_found) continue;
    if (!note(result, log.segment_path(number))) return false;
    if (!begin) continue;
    if (begin->first_epoch <= restored_.durable) break;
    Begin& known = begins_[short_identity(begin->incarnation)];
    known.says = *std::move(begin);
    known.in_server |= is_servers;
    known.archived += is_servers ? 0 : 1;
  }
  return true;
}

// By what each went on from, as far as that is known.
void UnfinishedStarts::find_own() {
  if (named_.empty()) return;
  uint64_t tag = short_identity(named_.back().id);
  HistoryPoint parent = named_.back().parent;
  while (std::ranges::find(own_, tag) == own_.end()) {
    own_.push_back(tag);
    knows_own_ = parent == restored_;
    tag = short_identity(parent.incarnation);
    auto named = std::ranges::find(named_, parent.incarnation, &Incarnation::id);
    auto begun = begins_.find(tag);
    if (knows_own_ || (named == named_.end() && begun == begins_.end())) return;
    parent = named != named_.end() ? named->parent : begun->second.says.parent;
  }
}

bool UnfinishedStarts::is_its(uint64_t tag) const {
  auto begun = begins_.find(tag);
  return is_named(tag) || std::ranges::find(own_, tag) != own_.end() ||
         (begun != begins_.end() && begun->second.in_server);
}

ArchivedStart UnfinishedStarts::judge_behind(uint64_t tag) {
  auto begun = begins_.find(tag);
  if (begun == begins_.end() || begun->second.archived == 0) return ArchivedStart::its;
  auto [known, is_new] = judged_.emplace(tag, ArchivedStart::its);
  if (is_new) known->second = find(tag, begun->second);
  return known->second;
}

// A start that the server had, and of which nothing counted, is none that another one rests on, and
// no state of it is there. Where a start between is not known, any may have been the server's.
ArchivedStart UnfinishedStarts::find(uint64_t tag, const Begin& begin) {
  const HistoryPoint& parent = begin.says.parent;
  if (is_its(tag) || parent.durable < restored_.durable) return ArchivedStart::its;
  ArchivedStart before = parent == restored_ ? ArchivedStart::unfinished : ArchivedStart::others;
  if (parent.incarnation != restored_.incarnation)
    before = judge_behind(short_identity(parent.incarnation));
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

// Whether a state of it could be restored: all its logs are there, and prove one.
bool UnfinishedStarts::is_there(uint64_t tag, const Begin& begin) {
  if (begin.archived < begin.says.logs) return false;
  ArchivedStarts known = starts();
  BlockHeader block;
  block.incarnation_tag = tag;
  std::string damaged;
  bool holds = known.holds(block, begin.says.first_epoch, &damaged);
  note(known.failure(), known.failed_path());
  return holds;
}

// Of two with a number that both have data one is another copy's.
bool UnfinishedStarts::is_second_of_its_number(const BlockHeader& first) {
  bool second = std::ranges::any_of(named_, [&](const Incarnation& each) {
    return each.number == first.incarnation && each.id != Uuid{};
  });
  if (!second) return false;
  ArchivedStarts known = starts();
  const ArchivedStarts::Extent archived = known.extent(first.incarnation_tag);
  note(known.failure(), known.failed_path());
  return archived.has_data;
}

ArchivedStarts UnfinishedStarts::starts() const {
  return {files_, archived_, {}, restored_, {}, restored_.durable};
}

bool UnfinishedStarts::note(const FileResult& result, const std::string& path) {
  if (result.ok()) return true;
  failure_ = result;
  failed_path_ = path;
  return false;
}

}  // namespace pgsilo
