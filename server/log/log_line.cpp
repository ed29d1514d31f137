#include "server/log/log_line.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "server/limits.h"
#include "sql/types/text.h"

namespace pgsilo {
namespace {

// In UTC, which log_timezone says.
std::string time_text(int64_t at_us, bool with_milliseconds) {
  time_t seconds = at_us / 1'000'000;
  tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 48> text;
  size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  std::string written(text.data(), length);
  if (with_milliseconds) {
    std::snprintf(text.data(), text.size(), ".%03d", static_cast<int>(at_us / 1000 % 1000));
    written += text.data();
  }
  return written + " UTC";
}

std::string epoch_text(int64_t at_us) {
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), "%lld.%03d", static_cast<long long>(at_us / 1'000'000),
                static_cast<int>(at_us / 1000 % 1000));
  return text.data();
}

std::string session_id(const LogSpeaker& speaker) {
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), "%llx.%x",
                static_cast<unsigned long long>(speaker.start_us / 1'000'000),
                static_cast<unsigned>(speaker.process));
  return text.data();
}

std::string or_unknown(const LogSpeaker& speaker, std::string_view text) {
  if (!speaker.is_session) return {};
  return std::string(text.empty() ? "[unknown]" : text);
}

std::string remote(const LogSpeaker& speaker) {
  std::string host(speaker.host);
  return speaker.port < 0 ? host : host + "(" + std::to_string(speaker.port) + ")";
}

std::string escape_text(char code, const LogSpeaker& speaker, std::string_view state,
                        int64_t now_us) {
  switch (code) {
    case 'a':
      return or_unknown(speaker, speaker.application);
    case 'b':
      return speaker.is_session ? "client backend" : "postmaster";
    case 'c':
      return session_id(speaker);
    case 'd':
      return or_unknown(speaker, speaker.database);
    case 'e':
      return std::string(state);
    case 'h':
      return std::string(speaker.host);
    case 'i':
      return std::string(speaker.command);
    case 'l':
      return std::to_string(speaker.line);
    case 'm':
      return time_text(now_us, true);
    case 'n':
      return epoch_text(now_us);
    case 'p':
      return std::to_string(speaker.process);
    case 'Q':
      return std::to_string(speaker.query_id);
    case 'r':
      return remote(speaker);
    case 's':
      return time_text(speaker.start_us, false);
    case 't':
      return time_text(now_us, false);
    case 'u':
      return or_unknown(speaker, speaker.user);
    case 'x':
      return "0";  // as there while a transaction has written nothing: we have no such numbers
    default:
      return {};
  }
}

// %5p and %-5p; false: what stands there is no number.
bool read_padding(std::string_view format, size_t* at, int* padding) {
  bool left = *at < format.size() && format[*at] == '-';
  if (left) ++*at;
  int width = 0;
  while (*at < format.size() && format[*at] >= '0' && format[*at] <= '9') {
    width = std::min(width * 10 + (format[*at] - '0'), 1000);
    ++*at;
  }
  *padding = left ? -width : width;
  return *at < format.size();
}

void append_padded(std::string* to, const std::string& text, int padding) {
  auto width = static_cast<size_t>(padding < 0 ? -padding : padding);
  size_t blanks = text.size() < width ? width - text.size() : 0;
  if (padding > 0) to->append(blanks, ' ');
  *to += text;
  if (padding < 0) to->append(blanks, ' ');
}

class EntryText {
 public:
  EntryText(const LogSpeaker& speaker, std::string_view format, std::string_view state,
            int64_t now_us)
      : prefix_(format_log_prefix(format, speaker, state, now_us)) {}

  void field(std::string_view name, std::string_view text) {
    if (text.empty()) return;
    text_ += prefix_;
    text_ += name;
    text_ += ":  ";
    rest(text);
    text_ += '\n';
  }
  void begin(std::string_view name) {
    text_ += prefix_;
    text_ += name;
    text_ += ":  ";
  }
  // Longer ones had no place in the queue, and whoever waits for this may not give way.
  void rest(std::string_view text) {
    bool cut = text.size() > limits::logged_text_bytes;
    if (cut) text = text_clip(text, limits::logged_text_bytes);
    for (char c : text) {
      text_ += c;
      if (c == '\n') text_ += '\t';
    }
    if (cut) text_ += "...";
  }
  void end_line() { text_ += '\n'; }
  std::string take() { return std::move(text_); }

 private:
  const std::string prefix_;
  std::string text_;
};

}  // namespace

std::string format_log_prefix(std::string_view format, const LogSpeaker& speaker,
                              std::string_view state, int64_t now_us) {
  std::string text;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text += format[i];
      continue;
    }
    int padding = 0;
    if (!read_padding(format, &++i, &padding)) break;
    if (format[i] == '%') {
      text += '%';
    } else if (format[i] == 'q') {
      // Who is no session says nothing of what follows.
      if (!speaker.is_session) break;
    } else {
      append_padded(&text, escape_text(format[i], speaker, state, now_us), padding);
    }
  }
  return text;
}

std::string format_log_entry(const LogEntry& entry, const LogSpeaker& speaker,
                             std::string_view prefix_format, LogVerbosity verbosity,
                             int64_t now_us) {
  EntryText text(speaker, prefix_format, entry.state, now_us);
  text.begin(log_level_name(entry.level));
  if (verbosity == LogVerbosity::verbose) {
    text.rest(entry.state);
    text.rest(": ");
  }
  text.rest(entry.message.empty() ? "missing error text" : entry.message);
  if (entry.position > 0) text.rest(" at character " + std::to_string(entry.position));
  text.end_line();
  if (verbosity != LogVerbosity::terse) {
    text.field("DETAIL", entry.detail);
    text.field("HINT", entry.hint);
    text.field("QUERY", entry.query);
    text.field("CONTEXT", entry.context);
    if (verbosity == LogVerbosity::verbose && !entry.file.empty()) {
      text.field("LOCATION", std::string(entry.routine) + ", " + std::string(entry.file) + ":" +
                                 std::to_string(entry.source_line));
    }
  }
  text.field("STATEMENT", entry.statement);
  return text.take();
}

}  // namespace pgsilo
