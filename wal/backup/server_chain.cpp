#include "wal/backup/server_chain.h"

#include <algorithm>
#include <functional>
#include <set>

#include "wal/log/segment_reader.h"

namespace pgsilo {

bool is_listed(const ControlFile& control, uint64_t tag) {
  auto is_it = [&](const auto& each) { return short_identity(each.id) == tag; };
  return std::ranges::any_of(control.incarnations, is_it) ||
         std::ranges::any_of(control.own_starts, is_it);
}

// The epochs of what each went on from fall from start to start, so that the tip is not behind one
// below it.
ServerChain::Leads ServerChain::leads_to(const ArchivedTip& tip, const ArchivedHad& had) {
  const Incarnation& present = control_.incarnations.back();
  const uint64_t own_tag = short_identity(present.id);
  if (own_tag == tip.tag || own_tag == had.tag) return Leads::to_it;
  std::set<uint64_t> met;
  const States states = states_of(had, tip);
  std::optional<Begin> next = Begin{present.parent, present.number};
  while (next) {
    last_number_ = next->number;
    last_parent_ = next->parent;
    const HistoryPoint parent = next->parent;
    const uint64_t tag = short_identity(parent.incarnation);
    if (parent.durable < tip.logged || parent.incarnation == Uuid{}) return Leads::past_it;
    auto state = states.find(tag);
    if (tag == tip.tag || (state != states.end() && parent.durable >= state->second))
      return Leads::to_it;
    next = met.insert(tag).second ? begin_of(parent.incarnation) : std::nullopt;
  }
  return Leads::nowhere;
}

// What was had, and what that went on from, above the tip: of the former a copy may have noted it.
ServerChain::States ServerChain::states_of(const ArchivedHad& had, const ArchivedTip& tip) {
  States states = {{had.tag, had.epoch}};
  if (had.tag == tip.tag || !know_all(archived_, &failure_)) return states;
  for (const StartState& state : states_below(archived_, {had.tag, had.epoch})) {
    const FirstBlocks::Start* start = start_in(archived_, state.tag);
    const bool is_above = start != nullptr && start->number > tip.number;
    if (state.tag != had.tag && !is_above && state.tag != tip.tag) break;
    states.emplace(state.tag, state.epoch);
    if (state.tag == tip.tag) break;
  }
  return states;
}

std::optional<ArchivedTip> ServerChain::newest_before(const std::optional<ArchivedTip>& tip) {
  if (!know_all(archived_, &failure_)) return std::nullopt;
  const std::map<uint64_t, uint64_t> numbers = archived_numbers();
  std::set<uint64_t> met;
  std::optional<Begin> next = Begin{control_.incarnations.back().parent, 0};
  while (next) {
    const HistoryPoint parent = next->parent;
    const uint64_t tag = short_identity(parent.incarnation);
    if (!met.insert(tag).second) return std::nullopt;
    const Epoch logged = logged_up_to(tag, parent.durable);
    if (logged.value() != 0) return ArchivedTip{tag, numbers.at(tag), logged};
    if (tip && tag == tip->tag) return std::nullopt;
    next = begin_of(parent.incarnation);
  }
  return std::nullopt;
}

std::optional<ArchivedTip> ServerChain::newest_proven(const std::optional<ArchivedTip>& tip) {
  if (!know_all(archived_, &failure_)) return std::nullopt;
  std::vector<ArchivedTip> starts;
  for (const auto& [tag, number] : archived_numbers()) {
    const bool is_tip = tip && tag == tip->tag;
    if (!tip || number > tip->number || is_tip) starts.push_back({tag, number, Epoch()});
  }
  std::ranges::sort(starts, std::ranges::greater(), &ArchivedTip::number);
  for (ArchivedTip& start : starts) {
    start.logged = logged_up_to(start.tag, recorded_in(start.tag));
    if (start.logged.value() != 0) return start;
  }
  return std::nullopt;
}

// By their tags.
std::map<uint64_t, uint64_t> ServerChain::archived_numbers() const {
  std::map<uint64_t, uint64_t> numbers;
  for (const FirstBlocks* log : archived_) {
    for (const auto& [tag, start] : log->starts()) numbers.emplace(tag, start.number);
  }
  return numbers;
}

std::optional<ServerChain::Begin> ServerChain::begin_of(const Uuid& start) {
  auto named = std::ranges::find(control_.incarnations, start, &Incarnation::id);
  if (named != control_.incarnations.end()) return Begin{named->parent, named->number};
  for (const auto* logs : {&server_, &archived_}) {
    if (!know_all(*logs, &failure_)) return std::nullopt;
    if (const FirstBlocks::Start* found = begun_in(*logs, short_identity(start)))
      return Begin{found->begin->parent, found->number};
  }
  return std::nullopt;
}

// The last segment of each log tells.
Epoch ServerChain::recorded_in(uint64_t tag) {
  Epoch recorded;
  for (const FirstBlocks* log : archived_) {
    const FirstBlocks::Start* start = log->start(tag);
    if (start != nullptr)
      static_cast<void>(logged_in(*log, *start->segments.begin(), Epoch(), &recorded));
  }
  return recorded;
}

// The largest epoch of a start's records that is none above `counted`; 0: there is none. The last
// segment of each log that has any tells.
Epoch ServerChain::logged_up_to(uint64_t tag, Epoch counted) {
  Epoch largest;
  for (const FirstBlocks* log : archived_) {
    const FirstBlocks::Start* start = log->start(tag);
    if (start == nullptr) continue;
    Epoch logged;
    for (uint64_t segment : start->segments) {
      if (logged.value() == 0) logged = logged_in(*log, segment, counted);
    }
    largest = std::max(largest, logged);
  }
  return largest;
}

Epoch ServerChain::logged_in(const FirstBlocks& log, uint64_t segment, Epoch counted,
                             Epoch* recorded) {
  const std::string path = log.log().segment_path(segment);
  SegmentReader reader(files_, path, segment, log.log().log());
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
