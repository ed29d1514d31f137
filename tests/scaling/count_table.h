// The table of docs/scaling.md, which says how many lines each kind of transaction writes and
// fetches with 2, 8 and 32 workers, and why. Thread safety: one thread.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tests/scaling/measurement.h"

namespace pgsilo::scaling {

inline constexpr std::array<unsigned, 3> worker_counts = {2, 8, 32};
using Figures = std::array<double, worker_counts.size()>;

struct CountRow {
  std::string part;
  std::string line;  // or locked_instructions
  Figures written{};
  Figures transfers{};
  std::string why;
  bool is_rough = false;  // a matter of addresses: "~1.25" is anything up to half a line away
};
inline constexpr std::string_view locked_instructions = "locked instructions";

class CountTable {
 public:
  CountTable() = default;
  // What was measured.
  explicit CountTable(const std::vector<Counts>& counts);
  // What a page says. False: it cannot be read, or has no such table.
  bool read(const std::string& path);
  // Writes these rows in place of the page's of the same parts, with the page's reasons.
  bool replace_in(const std::string& path) const;

  // How the measured rows differ from these, one line each. Parts that were not measured are
  // another program's.
  std::vector<std::string> differences(const CountTable& measured) const;
  std::string text() const;

 private:
  const CountRow* find(const CountRow& like) const;
  bool has_part(std::string_view part) const;
  void add_part(const CountTable& from, std::string_view part);
  CountRow& row(std::string_view part, std::string_view line);

  std::vector<CountRow> rows_;
};

}  // namespace pgsilo::scaling
