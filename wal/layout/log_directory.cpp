#include "wal/layout/log_directory.h"

#include <unistd.h>

#include <algorithm>

#include "base/failed_call.h"
#include "base/server_log.h"
#include "wal/layout/checked_bytes.h"
#include "wal/layout/control_file.h"
#include "wal/layout/log_format.h"

namespace pgsilo {
namespace {

constexpr uint32_t identity_magic = 0x44495350;  // "PSID"
constexpr uint32_t identity_version = 1;

bool failed(std::string* why, const std::string& what, const std::string& path,
            const FileResult& result) {
  *why = could_not(what, path, result);
  return false;
}

bool take_lock(File& file, const std::string& directory, std::string* why) {
  FileResult result = file.try_lock();
  if (result.ok()) return true;
  if (result.status != FileStatus::locked)
    return failed(why, "lock file", join_path(directory, lock_file_name), result);
  char holder[16] = {};
  size_t got = 0;
  std::string pid =
      file.read_at(holder, sizeof holder, 0, &got).ok() ? std::string(holder, got) : "";
  while (!pid.empty() && (pid.back() == ' ' || pid.back() == '\n')) pid.pop_back();
  *why = "data directory \"" + directory + "\" is in use by another server" +
         (pid.empty() ? std::string() : " (process " + pid + ")");
  return false;
}

}  // namespace

std::unique_ptr<File> lock_data_directory(FileSystem& files, const std::string& directory,
                                          std::string* why) {
  std::string path = join_path(directory, lock_file_name);
  std::unique_ptr<File> file;
  FileResult result = files.open(path, {.write = true, .create = true}, &file);
  if (!result.ok()) {
    failed(why, "open lock file", path, result);
    return nullptr;
  }
  if (!take_lock(*file, directory, why)) return nullptr;
  // For the message above; its width is fixed, so that a shorter number leaves nothing of a longer
  // one.
  std::string pid = std::to_string(getpid());
  pid.resize(15, ' ');
  result = file->write_at((pid + "\n").data(), 16, 0);
  // On a full device the lock does without the words.
  if (result.status == FileStatus::no_space) {
    write_server_log(LogLevel::warning,
                     "could not write lock file \"" + path + "\": " + result.text());
  } else if (!result.ok()) {
    failed(why, "write lock file", path, result);
    return nullptr;
  }
  return file;
}

bool hold_data_directory(FileSystem& files, const std::string& directory,
                         std::unique_ptr<File>* lock, std::string* why) {
  std::string path = join_path(directory, lock_file_name);
  FileResult result = files.open(path, {}, lock);
  if (result.status == FileStatus::not_found) return true;
  if (!result.ok()) return failed(why, "open lock file", path, result);
  return take_lock(**lock, directory, why);
}

bool LogDirectory::lock(std::string* why, bool* call_failed) {
  std::string path = join_path(path_, log_identity_name);
  FileResult result = files_.open(path, {}, &lock_);
  if (call_failed != nullptr) *call_failed = !result.ok();
  if (!result.ok()) return failed(why, "open file", path, result);
  result = lock_->try_lock();
  if (result.ok()) return true;
  if (call_failed != nullptr) *call_failed = result.status != FileStatus::locked;
  if (result.status != FileStatus::locked) return failed(why, "lock file", path, result);
  *why = "log directory \"" + path_ + "\" is in use by another server";
  return false;
}

bool LogDirectory::open(std::string* why, bool* call_failed) {
  return read_identity(why, call_failed) && (!has_identity_ || lock(why, call_failed));
}

bool LogDirectory::read_identity(std::string* why, bool* call_failed) {
  std::string path = join_path(path_, log_identity_name);
  std::string content;
  FileResult result = read_whole_file(files_, path, &content);
  if (result.status == FileStatus::not_found) return true;
  if (call_failed != nullptr) *call_failed = !result.ok();
  if (!result.ok()) return failed(why, "read file", path, result);
  CheckedReader reader(content);
  CheckedReader::Head head = reader.head(identity_magic, identity_version);
  database_ = reader.uuid();
  log_ = reader.uuid();
  if (head == CheckedReader::Head::other_version) {
    *why = "file \"" + path + "\" was written by another version of pgsilo";
    return false;
  }
  if (head != CheckedReader::Head::ok || !reader.complete()) {
    *why = "file \"" + path + "\" is damaged";
    return false;
  }
  has_identity_ = true;
  return true;
}

bool LogDirectory::is_unclaimed(std::string* why) const {
  std::vector<uint64_t> segments;
  FileResult result = list_segments(&segments);
  if (result.status == FileStatus::not_found) return true;
  if (!result.ok()) return failed(why, "read log directory", path_, result);
  if (segments.empty()) return true;
  *why = "log directory \"" + path_ + "\" holds log segments but no file \"" + log_identity_name +
         "\" that says whose they are";
  return false;
}

bool LogDirectory::initialise(const Uuid& database, std::string* why) {
  FileResult result = make_directory(files_, path_);
  if (!result.ok()) return failed(why, "create log directory", path_, result);
  database_ = database;
  log_ = Uuid::generate();
  CheckedWriter writer(identity_magic, identity_version);
  writer.uuid(database_);
  writer.uuid(log_);
  std::string path = join_path(path_, log_identity_name);
  result = replace_file(files_, path, writer.finish());
  if (!result.ok()) return failed(why, "write file", path, result);
  has_identity_ = true;
  return lock(why, nullptr);
}

FileResult LogDirectory::list_segments(std::vector<uint64_t>* numbers) const {
  std::vector<std::string> names;
  FileResult result = files_.list(path_, &names);
  numbers->clear();
  for (const std::string& name : names) {
    if (std::optional<uint64_t> number = parse_segment_name(name)) numbers->push_back(*number);
  }
  std::sort(numbers->begin(), numbers->end());
  return result;
}

FileResult LogDirectory::remove_unfinished_segments() const {
  std::vector<std::string> names;
  FileResult result = files_.list(path_, &names);
  for (const std::string& name : names) {
    if (result.ok() && is_unfinished_segment_name(name))
      result = files_.remove(join_path(path_, name));
  }
  return result;
}

std::string LogDirectory::segment_path(uint64_t number) const {
  return join_path(path_, segment_name(number));
}

}  // namespace pgsilo
