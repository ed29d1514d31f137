#include "tests/anomalies/observed_history.h"

#include <algorithm>
#include <istream>
#include <map>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace pgsilo::anomalies {
namespace {

using Kind = MicroOperation::Kind;

bool is_register(const ObservedHistory& history) {
  for (const ObservedTransaction& each : history) {
    for (const MicroOperation& operation : each.operations) {
      if (operation.kind == Kind::write) return true;
      if (operation.kind == Kind::append) return false;
    }
  }
  return false;
}

void write_elements(const MicroOperation& operation, bool registers, std::ostream& to) {
  bool is_one = operation.kind != Kind::read || registers;
  if (!is_one) to << '[';
  for (size_t i = 0; i < operation.elements.size(); ++i)
    to << (i == 0 ? "" : " ") << operation.elements[i];
  if (is_one && operation.elements.empty()) to << "nil";
  if (!is_one) to << ']';
}

void write_value(const ObservedTransaction& transaction, bool answers, bool registers,
                 std::ostream& to) {
  to << '[';
  for (size_t i = 0; i < transaction.operations.size(); ++i) {
    const MicroOperation& each = transaction.operations[i];
    const char* name = each.kind == Kind::append  ? ":append"
                       : each.kind == Kind::write ? ":w"
                                                  : ":r";
    to << (i == 0 ? "[" : " [") << name << ' ' << each.key << ' ';
    if (each.kind == Kind::read && (!answers || !each.is_answered)) {
      to << "nil";
    } else {
      write_elements(each, registers, to);
    }
    to << ']';
  }
  to << ']';
}

const char* word_of(Outcome outcome) {
  return outcome == Outcome::ok ? ":ok" : outcome == Outcome::fail ? ":fail" : ":info";
}

// Words and brackets of a line of EDN.
class Words {
 public:
  explicit Words(const std::string& line) : line_(line) {}

  std::string next() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == ',')) ++at_;
    if (at_ == line_.size()) return "";
    size_t begin = at_++;
    if (std::string_view("[]{}").find(line_[begin]) != std::string_view::npos)
      return line_.substr(begin, 1);
    while (at_ < line_.size() &&
           std::string_view("[]{} ,").find(line_[at_]) == std::string_view::npos)
      ++at_;
    return line_.substr(begin, at_ - begin);
  }
  std::string expect(const char* word) {
    std::string found = next();
    if (found != word) throw std::runtime_error("expected " + std::string(word) + " in " + line_);
    return found;
  }

 private:
  const std::string& line_;
  size_t at_ = 0;
};

// nil: a register that was not there, in the answers to what committed; elsewhere it was not told.
MicroOperation read_operation(Words& words, Outcome outcome) {
  MicroOperation read;
  std::string kind = words.next();
  read.kind = kind == ":append" ? Kind::append : kind == ":w" ? Kind::write : Kind::read;
  read.key = std::stoi(words.next());
  std::string word = words.next();
  bool is_list = word == "[";
  if (is_list) word = words.next();
  read.is_answered = word != "nil" || outcome == Outcome::ok;
  while (word != "]") {
    if (word != "nil") read.elements.push_back(std::stoi(word));
    word = words.next();
  }
  if (is_list) words.expect("]");
  return read;
}

}  // namespace

void write_history(const ObservedHistory& history, std::ostream& to) {
  bool registers = is_register(history);
  struct Event {
    int64_t time;
    bool is_end;
    const ObservedTransaction* transaction;
  };
  std::vector<Event> events;
  events.reserve(history.size() * 2);
  for (const ObservedTransaction& each : history) {
    events.push_back({each.invoked, false, &each});
    events.push_back({each.completed, true, &each});
  }
  // At one time, as they were noted.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tie(a.time, a.transaction, a.is_end) < std::tie(b.time, b.transaction, b.is_end);
  });
  size_t index = 0;
  for (const Event& each : events) {
    to << "{:index " << index++ << ", :time " << each.time << ", :type "
       << (each.is_end ? word_of(each.transaction->outcome) : ":invoke") << ", :process "
       << each.transaction->process << ", :f :txn, :value ";
    write_value(*each.transaction, each.is_end, registers, to);
    to << "}\n";
  }
}

ObservedHistory read_history(std::istream& from) {
  ObservedHistory history;
  std::map<int, int64_t> invoked;  // by process
  for (std::string line; std::getline(from, line);) {
    Words words(line);
    for (const char* word : {"{", ":index"}) words.expect(word);
    words.next();
    words.expect(":time");
    int64_t time = std::stoll(words.next());
    words.expect(":type");
    std::string type = words.next();
    words.expect(":process");
    int process = std::stoi(words.next());
    for (const char* word : {":f", ":txn", ":value", "["}) words.expect(word);
    if (type == ":invoke") {
      invoked[process] = time;
      continue;
    }
    ObservedTransaction read{process, invoked.at(process), time, Outcome::info, {}};
    if (type != ":info") read.outcome = type == ":ok" ? Outcome::ok : Outcome::fail;
    while (words.next() == "[") read.operations.push_back(read_operation(words, read.outcome));
    history.push_back(std::move(read));
  }
  return history;
}

std::string text_of(const ObservedTransaction& transaction) {
  std::ostringstream text;
  text << word_of(transaction.outcome) << " process " << transaction.process << ", "
       << transaction.invoked << " to " << transaction.completed << ' ';
  write_value(transaction, true, is_register({transaction}), text);
  return text.str();
}

}  // namespace pgsilo::anomalies
