#include "wal/backup/server_chain.h"

#include <algorithm>
#include <ranges>
#include <set>

#include "wal/log/segment_reader.h"

namespace pgsilo {

// The epochs of what each went on from fall from start to start, so that the tip is not behind one
// below it. Where a begin block is not there any more the state that the server was restored to is
// one that it came from.
ServerChain::Leads ServerChain::leads_to(const ArchivedTip& tip) {
  const Incarnation& present = control_.incarnations.back();
  if (short_identity(present.id) == tip.tag) return Leads::to_it;
  std::set<uint64_t> met;
  bool was_restored = restored_.has_value();
  for (std::optional<Begin> next = Begin{present.parent, present.number};;) {
    if (next) {
      last_number_ = next->number;
      last_parent_ = next->parent;
    } else if (std::exchange(was_restored, false)) {
      next = Begin{*restored_, 0};
    } else {
      return Leads::nowhere;
    }
    const HistoryPoint parent = next->parent;
    const uint64_t tag = short_identity(parent.incarnation);
    if (parent.durable < tip.logged || parent.incarnation == Uuid{}) return Leads::past_it;
    if (tag == tip.tag) return Leads::to_it;
    next = met.insert(tag).second ? begin_of(parent.incarnation) : std::nullopt;
    if (failure_.happened()) return Leads::nowhere;
  }
}

std::optional<ArchivedTip> ServerChain::newest_before(const std::optional<ArchivedTip>& tip) {
  if (!read_archive()) return std::nullopt;
  std::set<uint64_t> met;
  std::optional<Begin> next = Begin{control_.incarnations.back().parent, 0};
  while (next) {
    const HistoryPoint parent = next->parent;
    const uint64_t tag = short_identity(parent.incarnation);
    if (!met.insert(tag).second) return std::nullopt;
    const std::vector<Segment>& segments = segments_[tag];
    const Epoch logged = logged_up_to(segments, parent.durable);
    if (logged.value() != 0) return ArchivedTip{tag, segments.front().incarnation, logged};
    if (tip && tag == tip->tag) return std::nullopt;
    next = begin_of(parent.incarnation);
  }
  return std::nullopt;
}

std::optional<ArchivedTip> ServerChain::newest_proven(const std::optional<ArchivedTip>& tip) {
  if (!read_archive()) return std::nullopt;
  std::vector<ArchivedTip> starts;
  for (const auto& [tag, segments] : segments_) {
    const uint64_t number = segments.front().incarnation;
    const bool is_tip = tip && tag == tip->tag;
    if (!tip || number > tip->number || is_tip) starts.push_back({tag, number, Epoch()});
  }
  std::ranges::sort(starts, std::ranges::greater(), &ArchivedTip::number);
  for (ArchivedTip& start : starts) {
    const std::vector<Segment>& segments = segments_[start.tag];
    start.logged = logged_up_to(segments, recorded_in(segments));
    if (start.logged.value() != 0) return start;
  }
  return std::nullopt;
}

// The last segment of each log tells.
Epoch ServerChain::recorded_in(const std::vector<Segment>& segments) {
  Epoch recorded;
  const LogDirectory* asked = nullptr;
  for (const Segment& segment : segments) {
    if (std::exchange(asked, segment.log) != segment.log)
      static_cast<void>(logged_in(segment, Epoch(), &recorded));
  }
  return recorded;
}

std::optional<ServerChain::Begin> ServerChain::begin_of(const Uuid& start) {
  auto named = std::ranges::find(control_.incarnations, start, &Incarnation::id);
  if (named != control_.incarnations.end()) return Begin{named->parent, named->number};
  const uint64_t tag = short_identity(start);
  for (bool (ServerChain::*read)() : {&ServerChain::read_server, &ServerChain::read_archive}) {
    if (!(this->*read)()) return std::nullopt;
    auto known = begins_.find(tag);
    if (known != begins_.end()) return known->second;
  }
  return std::nullopt;
}

bool ServerChain::read_server() {
  return std::exchange(has_read_server_, true) ||
         std::ranges::all_of(server_, [&](const auto* log) { return read_firsts(*log, false); });
}

bool ServerChain::read_archive() {
  return std::exchange(has_read_archive_, true) ||
         std::ranges::all_of(archived_, [&](const auto* log) { return read_firsts(*log, true); });
}

bool ServerChain::read_firsts(const LogDirectory& log, bool is_archived) {
  return look_at_first_blocks(files_, log, &failure_, [&](const FirstBlock& first) {
    const uint64_t number = first.header.incarnation;
    if (is_archived)
      segments_[first.header.incarnation_tag].push_back({&log, first.segment, number});
    if (first.begin)
      begins_[short_identity(first.begin->incarnation)] = {first.begin->parent, number};
    return true;
  });
}

// The largest epoch of a start's records that is none above `counted`; 0: there is none. The last
// segment of each log that has any tells.
Epoch ServerChain::logged_up_to(const std::vector<Segment>& segments, Epoch counted) {
  Epoch largest;
  const LogDirectory* asked = nullptr;
  for (const Segment& segment : segments) {
    if (segment.log == asked) continue;
    const Epoch logged = logged_in(segment, counted);
    if (logged.value() != 0) asked = segment.log;
    largest = std::max(largest, logged);
  }
  return largest;
}

Epoch ServerChain::logged_in(const Segment& segment, Epoch counted, Epoch* recorded) {
  const std::string path = segment.log->segment_path(segment.number);
  SegmentReader reader(files_, path, segment.number, segment.log->log());
  FileResult result = reader.open();
  Epoch logged;
  for (uint64_t at = 0; result.ok();) {
    std::optional<BlockView> block = reader.next(at, at + log_format::block_unit);
    result = reader.result();
    if (!block) break;
    if (block->header.largest_epoch <= counted)
      logged = std::max(logged, block->header.largest_epoch);
    if (recorded != nullptr) *recorded = std::max(*recorded, block->header.recorded_durable);
    at += block->bytes;
  }
  failure_.note(result, path);
  return logged;
}

}  // namespace pgsilo
