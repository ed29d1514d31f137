#include "tests/sql/slt_file.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace pgsilo::slt {
namespace {

struct Lines {
  std::vector<std::string> text;
  size_t next = 0;
  std::string path;

  bool more() const { return next < text.size(); }
  const std::string& peek() const { return text[next]; }
  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error(path + ":" + std::to_string(next + 1) + ": " + why);
  }
};

Lines load(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  Lines lines;
  lines.path = path;
  for (std::string line; std::getline(file, line);) lines.text.push_back(line);
  return lines;
}

// Lines up to a blank one, or one that reads `stop`; the stopping line is left unread.
std::string take_block(Lines& lines, const std::string& stop) {
  std::string block;
  while (lines.more() && !lines.peek().empty() && lines.peek() != stop) {
    if (!block.empty()) block += '\n';
    block += lines.peek();
    ++lines.next;
  }
  return block;
}

void read_head(Lines& lines, Record& record) {
  std::istringstream head(lines.peek());
  std::string kind, word;
  head >> kind >> word;
  if (kind == "statement" && word == "ok") {
    record.kind = RecordKind::statement_ok;
    std::getline(head >> std::ws, record.tag);
  } else if (kind == "statement" && word == "error") {
    record.kind = RecordKind::statement_error;
    head >> record.sqlstate;
  } else if (kind == "query") {
    record.kind = RecordKind::query;
    record.types = word;
    head >> word;
    record.row_sort = word == "rowsort";
  } else {
    lines.fail("expected 'statement ok', 'statement error' or 'query'");
  }
  ++lines.next;
}

void read_expected_rows(Lines& lines, Record& record) {
  if (!lines.more() || lines.peek() != "----") lines.fail("a query needs its ---- line");
  ++lines.next;
  for (; lines.more() && !lines.peek().empty(); ++lines.next) {
    if (lines.peek().starts_with("binary ")) {
      record.binary_hash = lines.peek().substr(7);
    } else {
      record.rows.push_back(lines.peek());
    }
  }
}

}  // namespace

std::vector<Record> read_file(const std::string& path) {
  Lines lines = load(path);
  std::vector<Record> records;
  std::vector<std::string> comments;
  while (lines.more()) {
    if (lines.peek().empty() || lines.peek().starts_with('#')) {
      if (!lines.peek().empty()) comments.push_back(lines.peek());
      ++lines.next;
      continue;
    }
    Record record;
    record.line = static_cast<int>(lines.next) + 1;
    record.comments.swap(comments);
    read_head(lines, record);
    record.sql = take_block(lines, "----");
    if (record.kind == RecordKind::query) read_expected_rows(lines, record);
    records.push_back(std::move(record));
  }
  return records;
}

std::vector<Record> read_plain_sql(const std::string& path) {
  Lines lines = load(path);
  std::vector<Record> records;
  std::vector<std::string> comments;
  while (lines.more()) {
    if (lines.peek().empty() || lines.peek().starts_with('#')) {
      if (!lines.peek().empty()) comments.push_back(lines.peek());
      ++lines.next;
      continue;
    }
    Record record;
    record.line = static_cast<int>(lines.next) + 1;
    record.comments.swap(comments);
    record.sql = take_block(lines, "");
    records.push_back(std::move(record));
  }
  return records;
}

void write_file(const std::string& path, const std::vector<Record>& records) {
  std::ofstream file(path, std::ios::trunc);
  bool first = true;
  for (const Record& record : records) {
    if (!first) file << '\n';
    first = false;
    for (const std::string& comment : record.comments) file << comment << '\n';
    switch (record.kind) {
      case RecordKind::statement_ok:
        file << "statement ok" << (record.tag.empty() ? "" : " ") << record.tag << '\n'
             << record.sql << '\n';
        break;
      case RecordKind::statement_error:
        file << "statement error " << record.sqlstate << '\n' << record.sql << '\n';
        break;
      case RecordKind::query:
        file << "query " << record.types << (record.row_sort ? " rowsort" : "") << '\n'
             << record.sql << "\n----\n";
        for (const std::string& row : record.rows) file << row << '\n';
        if (!record.binary_hash.empty()) file << "binary " << record.binary_hash << '\n';
        break;
    }
  }
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace pgsilo::slt
