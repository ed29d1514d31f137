// A copy of the server that was archived by mistake and had logged nothing, to try a restore, say:
// what the archive has of it, begin blocks and batches without records, makes way for what the
// server goes on to log (docs/backup.md, the archive).
#include <algorithm>

#include "wal/backup/archived_starts.h"
#include "wal/backup/log_archive.h"
#include "wal/backup/server_chain.h"

namespace pgsilo {

// Nobody has lost anything with those, so they do not keep the server out, whose history is the
// one of all else that is archived.
bool LogArchive::leave_strays(const std::optional<std::vector<ArchivedEnd>>& ends) {
  std::set<uint64_t> strays;
  if (!find_strays(&strays)) return false;
  if (strays.empty() || !are_empty(strays, ends)) return !call_failed_;
  if (!take_back_had(strays)) return false;
  for (const auto& log : logs_) {
    while (log->offset != 0 && strays.contains(log->first.incarnation_tag) && is_in_the_way(*log)) {
      to_leave_.push_back({log.get(), log->segment, log->first});
      if (!step_back(*log)) return false;
    }
  }
  return true;
}

// Of the server's, or of those to come. What that has let go, a restored one behind its recovery,
// say, it has gone past.
bool LogArchive::is_in_the_way(const Log& log) const {
  return std::ranges::none_of(source_blocks_, [&](const auto& server) {
    const FirstBlocks::Segments& segments = server->segments();
    return server->log().log() == log.directory.log() && !segments.empty() &&
           segments.rbegin()->first > log.segment;
  });
}

// What the copy had the server had up to where it was left.
bool LogArchive::take_back_had(const std::set<uint64_t>& strays) {
  if (!noted_ || !noted_->had) return true;
  ArchiveProgress progress = *noted_;
  for (std::optional<LogBegin> begin; strays.contains(progress.had->tag);) {
    begin = starts().begin_of(progress.had->tag);
    if (!begin) return fail_to_read(starts().failure());
    progress.had = {short_identity(begin->parent.incarnation), begin->parent.durable};
  }
  had_ = std::min(had_, progress.had->epoch);
  starts_.reset();
  return note(std::move(progress));
}

// Starts behind the newest one of which something counts, if there is one, that the server does not
// know for its own.
bool LogArchive::find_strays(std::set<uint64_t>* strays) {
  if (control_.own_starts.empty() || control_.incarnations.empty()) return true;
  ReadFailure failure;
  if (!know_all(archived_logs(), &failure)) return fail_to_read(failure);
  for (const auto& log : logs_) {
    for (const auto& [tag, start] : log->first_blocks.starts()) {
      if ((!tip_ || start.number > tip_->number) && !is_own(tag)) strays->insert(tag);
    }
  }
  // Its logs are not read for nothing.
  if (strays->empty()) return true;
  if (!know_all(server_logs(), &failure) || !find_ancestry(&failure)) return fail_to_read(failure);
  std::erase_if(*strays, [&](uint64_t tag) { return is_own(tag); });
  return true;
}

// Those of its starts that it has forgotten, or that were another one's, of which it was restored.
bool LogArchive::find_ancestry(ReadFailure* failure) {
  ancestry_.clear();
  std::vector<HistoryPoint> states = {control_.incarnations.back().parent};
  if (restored_) states.push_back(*restored_);
  for (const HistoryPoint& state : states) {
    uint64_t tag = short_identity(state.incarnation);
    while (ancestry_.insert(tag).second) {
      const std::optional<LogBegin> begin = starts().begin_of(tag);
      if (!begin) break;
      tag = short_identity(begin->parent.incarnation);
    }
  }
  *failure = starts().failure();
  return !failure->happened();
}

// As far as it remembers.
bool LogArchive::is_own(uint64_t tag) const {
  auto has_it = [&](const auto& log) { return log->start(tag) != nullptr; };
  return (tip_ && tip_->tag == tag) || is_listed(control_, tag) || ancestry_.contains(tag) ||
         std::ranges::any_of(source_blocks_, has_it);
}

// Nothing was logged in them, nor in what was archived once and is gone; they went on from the
// server's history, and that did not go on from them.
bool LogArchive::are_empty(const std::set<uint64_t>& strays,
                           const std::optional<std::vector<ArchivedEnd>>& ends) {
  auto had_more = [&](const ArchivedEnd& end) {
    auto reaches_it = [&](const auto& log) {
      return log->directory.log() == end.log && reaches(*log, end);
    };
    return end.next_number > 1 && strays.contains(end.incarnation_tag) &&
           std::ranges::none_of(logs_, reaches_it);
  };
  if (!ends || std::ranges::any_of(*ends, had_more)) return false;
  ArchivedStarts& known = starts();
  bool are = true;
  for (uint64_t tag : strays) {
    const std::optional<LogBegin> begin = known.begin_of(tag);
    are &= begin && !known.extent(tag).has_records && goes_on_from_own(*begin, strays);
  }
  if (known.failure().happened()) return fail_to_read(known.failure());
  auto rests_on_one = [&](const Incarnation& start) {
    return strays.contains(short_identity(start.parent.incarnation));
  };
  are &= !restored_ || !strays.contains(short_identity(restored_->incarnation));
  return are && std::ranges::none_of(control_.incarnations, rests_on_one) &&
         !rests_on_any(archived_logs(), strays) && !rests_on_any(server_logs(), strays);
}

// What they went on from may have been pruned, with all else that their logs had.
bool LogArchive::goes_on_from_own(const LogBegin& begin, const std::set<uint64_t>& strays) const {
  const uint64_t parent = short_identity(begin.parent.incarnation);
  auto is_stray = [&](const auto& start) { return strays.contains(start.first); };
  auto holds_others_beside = [&](const auto& log) {
    const auto& starts = log->first_blocks.starts();
    return std::ranges::any_of(starts, is_stray) && !std::ranges::all_of(starts, is_stray);
  };
  return is_own(parent) || strays.contains(parent) ||
         std::ranges::none_of(logs_, holds_others_beside);
}

// A start of the server.
bool LogArchive::rests_on_any(const std::vector<FirstBlocks*>& logs,
                              const std::set<uint64_t>& strays) {
  for (const FirstBlocks* log : logs) {
    for (const auto& [tag, start] : log->starts()) {
      const bool rests =
          start.begin && strays.contains(short_identity(start.begin->parent.incarnation));
      if (rests && !strays.contains(tag)) return true;
    }
  }
  return false;
}

}  // namespace pgsilo
