// Opening a data directory: whose it is, what it consists of, and that nobody else uses it.
#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "base/failed_call.h"
#include "base/server_log.h"
#include "wal/backup/backup_copy.h"
#include "wal/backup/backup_label.h"
#include "wal/foreign_content.h"
#include "wal/layout/shared_device.h"
#include "wal/wal_state.h"

namespace pgsilo {
namespace {

std::string options_fault(const WalOptions& options) {
  if (options.log_directories.empty() && !options.read_only)
    return "log_directories names no directory";
  if (options.workers == 0) return "there must be a worker";
  if (options.buffer_bytes < (size_t{64} << 10) ||
      (options.buffer_bytes & (options.buffer_bytes - 1)) != 0) {
    return "a log buffer's size must be a power of two of at least 64 KiB";
  }
  if (options.segment_bytes < log_format::min_segment_bytes ||
      options.segment_bytes % log_format::segment_granule != 0) {
    return "a log segment's size must be a multiple of 64 KiB of at least 256 KiB";
  }
  return "";
}

// Behind as many as a start writes to stand those of earlier starts, which a recovery reads: of
// several together there may be more, as in what is restored of an archive. One that cannot be read
// is open_logs()'s business.
bool makes_too_many_logs(FileSystem& files, const std::string& directory,
                         const WalOptions& options) {
  for (size_t i = log_format::max_loggers; i < options.log_directories.size(); ++i) {
    LogDirectory log(files, join_path(directory, options.log_directories[i]));
    std::string why;
    if (log.read_identity(&why) && !log.has_identity()) return true;
  }
  return false;
}

std::string features(uint64_t bits) {
  char text[19];
  std::snprintf(text, sizeof text, "0x%" PRIx64, bits);
  return text;
}

std::string unknown_format(const std::string& path, const ControlFile& control) {
  std::string what = "control file \"" + path + "\" ";
  if (control.unknown.incompatible != 0) {
    return what + "needs features (" + features(control.unknown.incompatible) +
           ") that this version of pgsilo does not know\nDETAIL:  It was written by " +
           control.writer + ".";
  }
  return what + "has format version " + std::to_string(control.version) +
         ", which this version of pgsilo does not know";
}

// For one who writes.
bool can_write(const std::string& path, const ControlFile& control, std::string* why) {
  uint64_t unknown = control.unknown.read_only_compatible;
  if (unknown == 0) return true;
  *why = "control file \"" + path + "\" has features (" + features(unknown) +
         ") without which this version of pgsilo may only look at the database\nDETAIL:  It was "
         "written by " +
         control.writer + ".\nHINT:  Start that version, or a later one.";
  return false;
}

bool read_control(FileSystem& files, const std::string& directory, bool read_only,
                  ControlFile* control, bool* missing, std::string* why) {
  std::string path = join_path(directory, control_file_name);
  *missing = false;
  FileResult failure;
  switch (read_control_file(files, directory, control, &failure)) {
    case ControlRead::ok:
      return read_only || can_write(path, *control, why);
    case ControlRead::missing:
      *missing = true;
      return true;
    case ControlRead::unreadable:
      *why = "could not read control file \"" + path + "\": " + failure.text();
      return false;
    case ControlRead::damaged:
      *why = "control file \"" + path + "\" is damaged";
      return false;
    case ControlRead::other_version:
      *why = unknown_format(path, *control);
      return false;
  }
  return false;
}

}  // namespace

std::unique_ptr<Wal> Wal::open(FileSystem& files, const Clock& clock,
                               const std::string& data_directory, const WalOptions& options,
                               std::string* why) {
  *why = options_fault(options);
  if (!why->empty()) return nullptr;
  std::unique_ptr<State> state(new State(files, clock, data_directory, options));
  if (!options.read_only && makes_too_many_logs(files, data_directory, options)) {
    *why = "log_directories names more than 64 directories";
    return nullptr;
  }
  if (!check_data_directory(files, data_directory, options, why)) return nullptr;
  if (!options.read_only && !state->take_directory(why)) return nullptr;
  if (!state->find_control(why) || !state->find_copy(why) || !state->open_logs(why)) return nullptr;
  if (!options.read_only && !state->hold_directories(why)) return nullptr;
  return std::unique_ptr<Wal>(new Wal(std::move(state)));
}

// A backup's own control file is of any moment while it was copied.
bool Wal::State::find_control(std::string* why) {
  BackupLabel label;
  switch (read_label_file(files, directory, &label, why)) {
    case LabelRead::none:
      if (!read_control(files, directory, options.read_only, &control, &new_database, why))
        return false;
      return find_starts_of_copy(why);
    case LabelRead::ok:
      control = control_at_stop(label);
      from_backup = true;
      return true;
    case LabelRead::unusable:
      return false;
  }
  return false;
}

// The label that an earlier start has taken tells that this is a copy, however many starts ago that
// was. And of which starts it was made, where a version has written the control file that did not
// tell whose it names; if the label is damaged, of all.
bool Wal::State::find_starts_of_copy(std::string* why) {
  const std::string path = join_path(directory, used_label_name);
  std::string text;
  FileResult result = read_whole_file(files, path, &text);
  restored = result.status != FileStatus::not_found;
  if (restored && !result.ok()) {
    *why = could_not("read file", path, result);
    return false;
  }
  forgotten = control.own_starts.empty();
  if (forgotten) find_own_starts(control);
  if (!forgotten || !restored) return true;
  BackupLabel label;
  std::string fault;
  bool known = read_backup_label(text, &label, &fault);
  if (known) label.control = control_at_stop(label);
  const std::vector<OwnStart>& copied = label.control.own_starts;
  for (OwnStart& start : control.own_starts)
    start.copied = !known || std::ranges::find(copied, start.id, &OwnStart::id) != copied.end();
  return true;
}

bool Wal::State::take_directory(std::string* why) {
  FileResult result = make_directory(files, directory);
  if (!result.ok()) {
    *why = "could not create directory \"" + directory + "\": " + result.text();
    return false;
  }
  lock = lock_data_directory(files, directory, why);
  return lock != nullptr;
}

// What counts afterwards must not hang on a free descriptor: behind the rename of a control file a
// sync of its directory that fails leaves open which of two counts.
bool Wal::State::hold_directories(std::string* why) {
  std::vector<std::string> held = {directory};
  for (const LogUnit& unit : units) held.push_back(unit.directory->path());
  for (const std::string& path : held) {
    FileResult result = files.hold_directory(path);
    if (result.ok()) continue;
    *why = "could not open directory \"" + path + "\": " + result.text();
    return false;
  }
  return true;
}

bool Wal::State::open_logs(std::string* why) {
  for (const std::string& name : options.log_directories) {
    LogUnit unit;
    unit.directory = std::make_unique<LogDirectory>(files, join_path(directory, name));
    if (!unit.directory->open(why)) return false;
    for (const LogUnit& other : units) {
      bool same = unit.directory->has_identity() && unit.directory->log() == other.directory->log();
      if (!same && unit.directory->path() != other.directory->path()) continue;
      *why = "log directories \"" + other.directory->path() + "\" and \"" + unit.directory->path() +
             "\" are the same";
      return false;
    }
    units.push_back(std::move(unit));
  }
  if (new_database) {
    for (const LogUnit& unit : units) {
      if (!unit.directory->has_identity()) continue;
      // Initialisation may have been cut short before the control file was there; then no segment
      // was.
      std::vector<uint64_t> segments;
      FileResult result = unit.directory->list_segments(&segments);
      if (!result.ok() || !segments.empty()) {
        *why = "log directory \"" + unit.directory->path() + "\" belongs to a database, but \"" +
               directory + "\" has no control file";
        return false;
      }
      control.database = unit.directory->database();
    }
    if (control.database == Uuid{}) control.database = Uuid::generate();
  }
  if (!find_named_logs(why) || !are_backups_logs(why) || !are_this_copys_logs(why)) return false;
  if (!options.read_only) leave_logs_to_read();
  for (LogUnit& unit : units) {
    if (unit.directory->has_identity()) continue;
    if (!unit.directory->is_unclaimed(why)) return false;
    if (!options.read_only && !unit.directory->initialise(control.database, why)) return false;
  }
  if (options.read_only) {
    std::erase_if(units, [](const LogUnit& unit) { return !unit.directory->has_identity(); });
    return true;
  }
  // From here on there is a database, before there is a segment.
  return !new_database || save_control(why);
}

void Wal::State::leave_logs_to_read() {
  if (units.size() <= log_format::max_loggers) return;
  for (size_t i = log_format::max_loggers; i < units.size(); ++i)
    read_logs.push_back(std::move(units[i].directory));
  units.resize(log_format::max_loggers);
  write_server_log(LogLevel::log,
                   "log directories behind the first " + std::to_string(units.size()) +
                       " are read and not written to",
                   "They are not needed any more once a checkpoint is complete.");
}

bool Wal::State::save_control(std::string* why) {
  std::string what = "control file in \"" + directory + "\"";
  auto write = [&] { return write_control_file(files, directory, control); };
  return write_small(what, directory, write, why);
}

// On a full device it is written in the place of an empty log segment there, if one can go.
bool Wal::State::write_small(const std::string& what, const std::string& where,
                             const std::function<FileResult()>& write, std::string* why) {
  FileResult result = write();
  if (result.status == FileStatus::no_space && make_room(where)) {
    write_server_log(LogLevel::warning, "could not write " + what + ": " + result.text(),
                     "It is tried again in the place of an empty log segment.");
    result = write();
  }
  if (result.ok()) return true;
  *why = "could not write " + what + ": " + result.text();
  return false;
}

// Of segments, for a small file in the directory, whose device is full. False: there are none there
// that could go.
bool Wal::State::make_room(const std::string& where) {
  bool any = false;
  for (size_t i = 0; i < units.size(); ++i) {
    if (!lie_together(files, units[i].directory->path(), where)) continue;
    if (units[i].segments != nullptr) {
      any |= units[i].segments->make_room(1, LogUse::idle);
      units[i].segments->end_of_need(/*made=*/false);
    } else if (i < analysis.empty_segments.size()) {
      any |= remove_last_empty(units[i], analysis.empty_segments[i]);
    }
  }
  return any;
}

// Of those that a start has found, before it uses any. The first stays: the incarnation begins in
// it, and it may be one whose begin block the control file does not yet disown.
bool Wal::State::remove_last_empty(const LogUnit& unit, std::vector<uint64_t>& empty) const {
  if (empty.size() < 2) return false;
  std::string path = join_path(unit.directory->path(), segment_name(empty.back()));
  empty.pop_back();
  return files.remove(path).ok() && files.sync_directory(unit.directory->path()).ok();
}

// A restored backup has its logs in its data directory. Others of the same identities are those of
// the server that goes on, and would be written over.
bool Wal::State::are_backups_logs(std::string* why) const {
  for (size_t i = 0; from_backup && i < units.size(); ++i) {
    LogDirectory copied(files, join_path(directory, copied_log_name(i)));
    std::string in_use;  // by this process: it is one of those that are named
    if (!copied.open(&in_use) || !copied.has_identity()) continue;
    for (const LogUnit& unit : units) {
      bool other = unit.directory->has_identity() && unit.directory->log() == copied.log();
      if (!other) continue;
      *why = "log directory \"" + unit.directory->path() +
             "\" is not the one of this backup, which is \"" + copied.path() +
             "\"\nHINT:  Name that one in log_directories; the other may belong to the server "
             "that was backed up.";
      return false;
    }
  }
  return true;
}

// Every log that an incarnation named is here, and no other database's.
bool Wal::State::find_named_logs(std::string* why) {
  for (const LogUnit& unit : units) {
    if (!unit.directory->has_identity() || unit.directory->database() == control.database) continue;
    *why = "log directory \"" + unit.directory->path() + "\" belongs to another database (" +
           unit.directory->database().text() + ", not " + control.database.text() + ")";
    return false;
  }
  for (const Incarnation& incarnation : control.incarnations) {
    if (!needs_log(control, incarnation)) continue;
    for (const LogIdentity& log : incarnation.logs) {
      bool found = std::any_of(units.begin(), units.end(), [&](const LogUnit& unit) {
        return unit.directory->log() == log.log;
      });
      if (found) continue;
      *why =
          "log directory \"" + log.path + "\" (" + log.log.text() +
          ") is missing: part of the database's log is in it\nHINT:  Name it in log_directories.";
      return false;
    }
  }
  return true;
}

}  // namespace pgsilo
