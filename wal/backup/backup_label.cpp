#include "wal/backup/backup_label.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <optional>

#include "base/checksum.h"
#include "base/file.h"
#include "wal/backup/timestamp.h"
#include "wal/layout/lsn_text.h"

namespace pgsilo {
namespace {

constexpr std::string_view start_line = "START WAL LOCATION: ";
constexpr std::string_view time_line = "START TIME: ";
constexpr std::string_view label_line = "LABEL: ";
constexpr std::string_view stop_line = "STOP WAL LOCATION: ";
constexpr std::string_view control_line = "CONTROL FILE: ";
constexpr std::string_view checksum_line = "CHECKSUM: ";

std::string time_text(int64_t unix_us) {
  auto seconds = static_cast<time_t>(unix_us / 1'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text;
  size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return {text.data(), size};
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::optional<std::string> unhex(std::string_view text) {
  std::string bytes;
  if (text.size() % 2 != 0) return std::nullopt;
  for (size_t i = 0; i < text.size(); i += 2) {
    int high = digit(text[i]);
    int low = digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

std::string checksum_text(std::string_view before) {
  std::array<char, 17> text;
  std::snprintf(text.data(), text.size(), "%016" PRIx64, checksum64(before.data(), before.size()));
  return text.data();
}

// What stands behind `name` in its last line: the label, which is the user's, comes before all that
// is read.
std::optional<std::string_view> line_of(std::string_view text, std::string_view name) {
  std::optional<std::string_view> found;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.starts_with(name)) found = line.substr(name.size());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::optional<Epoch> parse_lsn(std::string_view text) {
  uint32_t high = 0;
  uint32_t low = 0;
  int used = 0;
  std::string copy(text);
  if (std::sscanf(copy.c_str(), "%8" SCNx32 "/%8" SCNx32 "%n", &high, &low, &used) != 2 ||
      static_cast<size_t>(used) != copy.size()) {
    return std::nullopt;
  }
  return Epoch((uint64_t{high} << 32) | low);
}

}  // namespace

std::string write_backup_label(const BackupLabel& label) {
  const CheckpointManifest& checkpoint = label.control.checkpoint;
  uint64_t segment = checkpoint.cuts.empty() ? 1 : checkpoint.cuts.front().segment;
  std::array<char, 64> file;
  std::snprintf(file.data(), file.size(), " (file %016" PRIx64 ")\n", segment);
  std::string text = std::string(start_line) + lsn_text(checkpoint.begun) + file.data() +
                     "CHECKPOINT LOCATION: " + lsn_text(checkpoint.begun) +
                     "\nBACKUP METHOD: streamed\nBACKUP FROM: primary\n" + std::string(time_line) +
                     time_text(label.started_us) + "\n" + std::string(label_line) + label.label +
                     "\nSTART TIMELINE: " + std::to_string(label.control.last_incarnation) + "\n" +
                     std::string(stop_line) + lsn_text(label.stop) + "\n" +
                     std::string(control_line) + hex(encode_control(label.control)) + "\n";
  return text + std::string(checksum_line) + checksum_text(text) + "\n";
}

bool read_backup_label(std::string_view text, BackupLabel* label, std::string* why) {
  size_t end = text.rfind(checksum_line);
  if (end == std::string_view::npos ||
      text.substr(end) != std::string(checksum_line) + checksum_text(text.substr(0, end)) + "\n") {
    *why = "is damaged, or not whole";
    return false;
  }
  text = text.substr(0, end);
  std::optional<std::string_view> name = line_of(text, label_line);
  std::optional<std::string_view> started = line_of(text, time_line);
  std::optional<std::string_view> stop = line_of(text, stop_line);
  std::optional<std::string_view> control = line_of(text, control_line);
  std::optional<Epoch> epoch = stop ? parse_lsn(*stop) : std::nullopt;
  std::optional<std::string> bytes = control ? unhex(*control) : std::nullopt;
  ControlRead read = bytes ? decode_control(*bytes, &label->control) : ControlRead::damaged;
  if (read == ControlRead::other_version || label->control.unknown.read_only_compatible != 0) {
    *why = "is of a format that this version of pgsilo does not know";
    return false;
  }
  if (!epoch || read != ControlRead::ok || label->control.incarnations.empty()) {
    *why = "is not one of pgsilo";
    return false;
  }
  label->label = name.value_or("");
  uint64_t started_us = 0;
  if (started && parse_timestamp(*started, &started_us))
    label->started_us = static_cast<int64_t>(started_us);
  label->stop = *epoch;
  return true;
}

Epoch earliest_stop(const BackupLabel& label) {
  const Incarnation& copied = label.control.incarnations.back();
  return std::max(label.control.checkpoint.ended, Epoch(copied.first_epoch.value() - 1));
}

ControlFile control_at_stop(const BackupLabel& label) {
  ControlFile control = label.control;
  Incarnation& copied = control.incarnations.back();
  copied.closed = true;
  copied.clean = false;
  copied.durable = label.stop;
  // The server itself goes on, and its files outside of the copy are its own.
  find_own_starts(control);
  for (OwnStart& start : control.own_starts) start.copied = true;
  return control;
}

LabelRead read_label_file(FileSystem& files, const std::string& directory, BackupLabel* label,
                          std::string* why) {
  std::string path = join_path(directory, backup_label_name);
  std::string text;
  FileResult result = read_whole_file(files, path, &text);
  if (result.status == FileStatus::not_found) return LabelRead::none;
  if (!result.ok()) {
    *why = "could not read backup label \"" + path + "\": " + result.text();
    return LabelRead::unusable;
  }
  std::string fault;
  if (read_backup_label(text, label, &fault)) return LabelRead::ok;
  *why =
      "backup label \"" + path + "\" " + fault +
      "\nHINT:  If the directory is a backup, write the file again as pg_backup_stop gave it. If "
      "it is the server's own, remove the file.";
  return LabelRead::unusable;
}

FileResult put_label_away(FileSystem& files, const std::string& directory) {
  FileResult result =
      files.rename(join_path(directory, backup_label_name), join_path(directory, used_label_name));
  return result.ok() ? files.sync_directory(directory) : result;
}

}  // namespace pgsilo
