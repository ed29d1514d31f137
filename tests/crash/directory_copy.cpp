#include "tests/crash/directory_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace pgsilo {
namespace {

std::vector<std::string> files_below(SimulatedFileSystem& disk, const std::string& directory) {
  std::vector<std::string> names;
  EXPECT_TRUE(disk.list(directory, &names).ok());
  std::vector<std::string> files;
  for (const std::string& name : names) {
    std::string path = join_path(directory, name);
    std::vector<std::string> inside;
    if (disk.list(path, &inside).ok()) {
      for (const std::string& file : files_below(disk, path)) files.push_back(file);
    } else {
      files.push_back(path);
    }
  }
  return files;
}

void copy_file(SimulatedFileSystem& disk, const std::string& from, const std::string& to) {
  std::unique_ptr<File> source;
  if (!disk.open(from, {}, &source).ok()) return;  // removed meanwhile
  write_test_file(disk, to, disk.content(from));
}

}  // namespace

void write_test_file(SimulatedFileSystem& disk, const std::string& path,
                     const std::string& content) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    static_cast<void>(disk.create_directory(path.substr(0, slash)));
  std::unique_ptr<File> file;
  ASSERT_TRUE(disk.open(path, {.write = true, .create = true}, &file).ok());
  ASSERT_TRUE(content.empty() || file->write_at(content.data(), content.size(), 0).ok());
  ASSERT_TRUE(file->sync_data().ok());
  for (std::string at = path; at != "/";) {
    at = parent_path(at);
    static_cast<void>(disk.sync_directory(at));
  }
}

void copy_directory(SimulatedFileSystem& disk, const std::string& from, const std::string& to,
                    Random& random, const std::function<void()>& between) {
  std::vector<std::string> files = files_below(disk, from);
  for (size_t i = files.size(); i > 1; --i) std::swap(files[i - 1], files[random.below(i)]);
  for (const std::string& file : files) {
    ASSERT_NO_FATAL_FAILURE(copy_file(disk, file, to + file.substr(from.size())));
    ASSERT_NO_FATAL_FAILURE(between());
  }
}

}  // namespace pgsilo
