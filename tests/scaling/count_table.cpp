#include "tests/scaling/count_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

namespace pgsilo::scaling {

namespace {

constexpr std::string_view heading =
    "| transaction | line | written | transfers | why |\n|---|---|---|---|---|\n";
// Which lines nodes and records share with their neighbours depends on where they happen to lie.
constexpr double slack = 0.06;
constexpr double slack_share = 0.06;

constexpr double rough_slack = 0.5;

bool agree(double left, double right, bool roughly = false) {
  double room = roughly ? rough_slack : slack;
  return std::abs(left - right) <= room + slack_share * std::max(left, right);
}

bool agree(const Figures& left, const Figures& right, bool roughly = false) {
  for (size_t i = 0; i < left.size(); ++i) {
    if (!agree(left[i], right[i], roughly)) return false;
  }
  return true;
}

// Too little to be told from what lies beside it.
bool is_nothing(const Figures& figures) { return agree(figures, Figures{}); }

// With two digits at most.
std::string text_of(double figure) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.2f", figure);
  std::string text = digits;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// "1", or "0 / 0.5 / 1" where the number of workers matters.
std::string text_of(const Figures& figures, bool is_rough = false) {
  std::string all;
  bool same = true;
  for (double figure : figures) {
    all += (all.empty() ? "" : " / ") + text_of(figure);
    same &= agree(figure, figures.front(), is_rough);
  }
  return (is_rough ? "~" : "") + (same ? text_of(figures.back()) : all);
}

Figures figures_of(const std::string& text) {
  Figures figures{};
  std::istringstream words(text.starts_with('~') ? text.substr(1) : text);
  size_t count = 0;
  for (std::string word; words >> word && count < figures.size();) {
    if (word != "/") figures[count++] = std::strtod(word.c_str(), nullptr);
  }
  for (size_t i = std::max<size_t>(count, 1); i < figures.size(); ++i) figures[i] = figures[0];
  return figures;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream rest(line.substr(1));
  for (std::string cell; std::getline(rest, cell, '|');) {
    size_t begin = cell.find_first_not_of(' ');
    cells.push_back(begin == std::string::npos
                        ? ""
                        : cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin));
  }
  return cells;
}

bool read_page(const std::string& path, std::string* before, std::string* table,
               std::string* after) {
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  std::string text = content.str();
  size_t begin = text.find(heading);
  if (begin == std::string::npos) return false;
  size_t rows = begin + heading.size();
  size_t end = rows;
  while (text.substr(end, 1) == "|") end = std::min(text.find('\n', end), text.size() - 1) + 1;
  *before = text.substr(0, begin);
  *table = text.substr(rows, end - rows);
  *after = text.substr(end);
  return true;
}

}  // namespace

CountTable::CountTable(const std::vector<Counts>& counts) {
  for (const Counts& count : counts) {
    size_t at =
        static_cast<size_t>(std::find(worker_counts.begin(), worker_counts.end(), count.workers) -
                            worker_counts.begin());
    row(count.part, locked_instructions).written[at] = count.locked;
    for (const auto& [name, line] : count.lines) {
      row(count.part, name).written[at] = line.written;
      row(count.part, name).transfers[at] = line.transfers;
    }
  }
  std::erase_if(rows_, [](const CountRow& row) {
    return is_nothing(row.written) && is_nothing(row.transfers);
  });
}

// Rows of one part stand together.
CountRow& CountTable::row(std::string_view part, std::string_view line) {
  auto behind = rows_.end();
  for (auto at = rows_.begin(); at != rows_.end(); ++at) {
    if (at->part != part) continue;
    if (at->line == line) return *at;
    behind = at + 1;
  }
  return *rows_.insert(behind, CountRow{std::string(part), std::string(line), {}, {}, {}, false});
}

const CountRow* CountTable::find(const CountRow& like) const {
  for (const CountRow& row : rows_) {
    if (row.part == like.part && row.line == like.line) return &row;
  }
  return nullptr;
}

bool CountTable::has_part(std::string_view part) const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [part](const CountRow& row) { return row.part == part; });
}

bool CountTable::read(const std::string& path) {
  std::string before, table, after;
  if (!read_page(path, &before, &table, &after)) return false;
  std::istringstream lines(table);
  std::string part;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells = cells_of(line);
    if (cells.size() < 5) return false;
    if (!cells[0].empty()) part = cells[0];  // else that of the row above
    CountRow& found = row(part, cells[1]);
    found.written = figures_of(cells[2]);
    found.transfers = figures_of(cells[3]);
    found.why = cells[4];
    found.is_rough = cells[2].starts_with('~');
  }
  return true;
}

void CountTable::add_part(const CountTable& from, std::string_view part) {
  for (const CountRow& row : from.rows_) {
    if (row.part == part) rows_.push_back(row);
  }
}

bool CountTable::replace_in(const std::string& path) const {
  std::string before, table, after;
  CountTable old;
  if (!old.read(path) || !read_page(path, &before, &table, &after)) return false;
  CountTable fresh;
  std::string part;
  for (const CountRow& row : old.rows_) {
    if (row.part == part) continue;
    part = row.part;
    fresh.add_part(has_part(part) ? *this : old, part);
  }
  for (const CountRow& row : rows_) {
    if (!fresh.has_part(row.part)) fresh.add_part(*this, row.part);
  }
  for (CountRow& row : fresh.rows_) {
    if (const CountRow* known = old.find(row)) {
      row.why = known->why;
      row.is_rough = known->is_rough;
    }
  }
  std::ofstream file(path);
  file << before << fresh.text() << after;
  return file.good();
}

std::string CountTable::text() const {
  std::string all(heading);
  std::string part;
  for (const CountRow& row : rows_) {
    bool counts_lines = row.line != locked_instructions;
    all += "| " + (row.part == part ? "" : row.part + " ") + "| " + row.line + " | " +
           text_of(row.written, row.is_rough) + " | " +
           (counts_lines ? text_of(row.transfers, row.is_rough) + " " : "") + "| " +
           (row.why.empty() ? "" : row.why + " ") + "|\n";
    part = row.part;
  }
  return all;
}

std::vector<std::string> CountTable::differences(const CountTable& measured) const {
  std::vector<std::string> found;
  auto tell = [&](const CountRow& row, const CountRow& expected, const CountRow& actual) {
    if (agree(expected.written, actual.written, expected.is_rough) &&
        agree(expected.transfers, actual.transfers, expected.is_rough)) {
      return;
    }
    std::string text = row.part + ": " + row.line + " " + text_of(actual.written) + ", not " +
                       text_of(expected.written);
    if (row.line != locked_instructions) {
      text = row.part + ": " + row.line + ", written " + text_of(actual.written) + ", not " +
             text_of(expected.written) + "; transfers " + text_of(actual.transfers) + ", not " +
             text_of(expected.transfers);
    }
    found.push_back(std::move(text));
  };
  for (const CountRow& row : rows_) {
    if (!measured.has_part(row.part)) continue;
    const CountRow* actual = measured.find(row);
    tell(row, row, actual != nullptr ? *actual : CountRow());
  }
  for (const CountRow& row : measured.rows_) {
    if (find(row) == nullptr) tell(row, CountRow(), row);
  }
  return found;
}

}  // namespace pgsilo::scaling
