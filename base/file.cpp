#include "base/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace pgsilo {

const char* FileResult::words() const {
  if (error_number != 0) return std::strerror(error_number);
  switch (status) {
    case FileStatus::ok:
      return "ok";
    case FileStatus::not_found:
      return "No such file or directory";
    case FileStatus::already_exists:
      return "File exists";
    case FileStatus::no_space:
      return "No space left on device";
    case FileStatus::locked:
      return "locked by another process";
    case FileStatus::unsupported:
      return "not supported by the file system";
    case FileStatus::not_regular:
      return "not a regular file";
    case FileStatus::failed:
      break;
  }
  return "Input/output error";
}

FileResult File::write_unsynced(const void* data, size_t bytes, uint64_t offset) {
  const char* from = static_cast<const char*>(data);
  uint64_t at = offset;
  size_t left = bytes;
  while (left != 0) {
    size_t done = 0;
    FileResult result = do_write(from, left, at, &done);
    if (!result.ok()) return result;
    if (done == 0) return {FileStatus::failed, 0};
    from += done;
    at += done;
    left -= done;
  }
  return {};
}

FileResult File::write_at(const void* data, size_t bytes, uint64_t offset) {
  FileResult result = write_unsynced(data, bytes, offset);
  if (!result.ok()) return result;
  written_end_ = std::max(written_end_, offset + bytes);
  if (synchronous_) synced_end_ = written_end_;
  return {};
}

FileResult File::read_at(void* data, size_t bytes, uint64_t offset, size_t* got) {
  *got = 0;
  while (*got < bytes) {
    size_t done = 0;
    FileResult result =
        do_read(static_cast<char*>(data) + *got, bytes - *got, offset + *got, &done);
    if (!result.ok()) return result;
    if (done == 0) break;
    *got += done;
    if (*got % file_block_bytes != 0)
      break;  // the end of the file; direct reads cannot go on from here
  }
  return {};
}

FileResult File::sync_data() {
  uint64_t written = written_end_;
  FileResult result = do_sync();
  if (result.ok()) synced_end_ = written;
  return result;
}

std::string join_path(const std::string& directory, const std::string& name) {
  if (!name.empty() && name.front() == '/') return name;
  if (directory.empty()) return name;
  return directory.back() == '/' ? directory + name : directory + "/" + name;
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  std::filesystem::path absolute;
  for (const std::filesystem::path& part : std::filesystem::absolute(path, error)) {
    if (!part.empty() && part != ".") absolute /= part;
  }
  return error ? path : absolute.string();
}

std::string parent_path(const std::string& path) {
  size_t last = path.find_last_not_of('/');
  size_t slash = path.find_last_of('/', last);
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool lies_inside(FileSystem& files, const std::string& directory, const std::string& outer) {
  std::string inner_path, outer_path;
  if (!files.real_path(directory, &inner_path).ok() || !files.real_path(outer, &outer_path).ok())
    return false;
  if (outer_path.back() != '/') outer_path += '/';
  inner_path += '/';
  return inner_path.starts_with(outer_path) && inner_path.find("/../") == std::string::npos;
}

FileResult make_directory(FileSystem& files, const std::string& path) {
  FileResult made = files.create_directory(path);
  bool found = made.status == FileStatus::already_exists;
  if (!made.ok() && !found) return made;
  FileResult synced = files.sync_directory(parent_path(path));
  // What lies in a directory that we may not read, or on a file system without syncs, is not ours
  // to keep.
  bool foreign = synced.error_number == EACCES || synced.status == FileStatus::unsupported;
  return found && foreign ? FileResult{} : synced;
}

FileResult make_directories(FileSystem& files, const std::string& path, std::string* part) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    *part = path.substr(0, slash);
    FileResult result = make_directory(files, *part);
    if (!result.ok() || slash == std::string::npos) return result;
  }
}

FileResult replace_file(FileSystem& files, const std::string& path, const std::string& content,
                        bool* replaced) {
  std::string temporary = path + ".new";
  std::string directory = parent_path(path);
  if (replaced != nullptr) *replaced = false;
  FileResult result = files.remove(temporary);
  if (!result.ok() && result.status != FileStatus::not_found) return result;
  std::unique_ptr<File> file;
  result = files.open(temporary, {.write = true, .create = true, .exclusive = true}, &file);
  if (result.ok()) result = file->write_at(content.data(), content.size(), 0);
  if (result.ok()) result = file->sync_data();
  bool written = result.ok();
  file.reset();
  if (written) result = files.rename(temporary, path);
  // A network file system may say of a rename that it has done that it failed.
  if (replaced != nullptr)
    *replaced = written && (result.ok() || !files.open(temporary, {}, &file).ok());
  if (result.ok()) result = files.sync_directory(directory);
  return result;
}

FileResult read_whole_file(FileSystem& files, const std::string& path, std::string* content) {
  std::unique_ptr<File> file;
  FileResult result = files.open(path, {}, &file);
  uint64_t bytes = 0;
  if (result.ok()) result = file->size(&bytes);
  if (!result.ok()) return result;
  content->resize(bytes);
  size_t got = 0;
  result = file->read_at(content->data(), bytes, 0, &got);
  content->resize(got);
  return result;
}

}  // namespace pgsilo
