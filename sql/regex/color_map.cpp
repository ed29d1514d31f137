#include "sql/regex/color_map.h"

#include <algorithm>
#include <map>

#include "base/long_work.h"
#include "sql/regex/regex_error.h"

namespace pgsilo::regex {
namespace {

// Stands for which sets a character is in: the sum of the sets' numbers, each a random one of 128
// bits. Two different memberships have the same sum once in 2^128 times.
struct Signature {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Signature&) const = default;
};

uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

struct Event {
  uint32_t code;
  Signature change;
};

AskingVector<Event> events_of(const AskingVector<CodeSet>& sets) {
  AskingVector<Event> events;
  for (size_t i = 0; i < sets.size(); ++i) {
    Signature begin{mixed(2 * i), mixed(2 * i + 1)};
    Signature end{0 - begin.high, 0 - begin.low};
    for (CodeRange range : sets[i]) {
      events.push_back({range.first, begin});
      if (range.last < highest_code) events.push_back({range.last + 1, end});
    }
    did_work(sets[i].size() * 64);
  }
  std::ranges::sort(events, {}, &Event::code);
  did_work(events.size() * 64);
  return events;
}

constexpr size_t most_colors = 32767;

}  // namespace

void ColorMap::make(const AskingVector<CodeSet>& sets) {
  std::map<Signature, Color> known;
  Signature now;
  auto begin_interval = [&](uint32_t code) {
    if (known.size() == most_colors && !known.contains(now)) throw_invalid(error::too_many_colors);
    Color color = known.try_emplace(now, static_cast<Color>(known.size())).first->second;
    if (!colors_.empty() && colors_.back() == color) return;
    starts_.push_back(code);
    colors_.push_back(color);
    did_work(256);
  };
  AskingVector<Event> events = events_of(sets);
  if (events.empty() || events.front().code != 0) begin_interval(0);
  for (size_t i = 0; i < events.size();) {
    uint32_t code = events[i].code;
    for (; i < events.size() && events[i].code == code; ++i) {
      now.high += events[i].change.high;
      now.low += events[i].change.low;
    }
    begin_interval(code);
  }
  count_ = known.size();
  last_start_ = starts_.back();
  last_color_ = colors_.back();
  for (uint32_t code = 0; code < ascii_.size(); ++code) ascii_[code] = search(code);
}

Color ColorMap::search(uint32_t code) const {
  auto behind = std::ranges::upper_bound(starts_, code);
  return colors_[static_cast<size_t>(behind - starts_.begin()) - 1];
}

AskingVector<Color> ColorMap::colors_of(const CodeSet& set) const {
  AskingVector<Color> colors;
  for (CodeRange range : set) {
    auto at =
        static_cast<size_t>(std::ranges::upper_bound(starts_, range.first) - starts_.begin()) - 1;
    for (; at < starts_.size() && starts_[at] <= range.last; ++at) {
      did_work(16);
      colors.push_back(colors_[at]);
    }
  }
  std::ranges::sort(colors);
  colors.erase(std::unique(colors.begin(), colors.end()), colors.end());
  return colors;
}

}  // namespace pgsilo::regex
