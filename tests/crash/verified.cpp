#include "tests/crash/verified.h"

#include <gtest/gtest.h>

#include <map>

#include "base/clock.h"

namespace pgsilo {
namespace {

// The disk of one who may not even ask to write.
class WatchedFileSystem final : public FileSystem {
 public:
  explicit WatchedFileSystem(FileSystem& files) : files_(files) {}

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    EXPECT_FALSE(flags.write || flags.create) << path;
    return files_.open(path, flags, file);
  }
  FileResult rename(const std::string& from, const std::string&) override { return refuse(from); }
  FileResult remove(const std::string& path) override { return refuse(path); }
  FileResult create_directory(const std::string& path) override { return refuse(path); }
  FileResult list(const std::string& directory, std::vector<std::string>* names) override {
    return files_.list(directory, names);
  }
  FileResult sync_directory(const std::string& directory) override {
    return files_.sync_directory(directory);
  }

 private:
  static FileResult refuse(const std::string& path) {
    ADD_FAILURE() << "\"" << path << "\" would have been changed";
    return {FileStatus::failed, 0};
  }

  FileSystem& files_;
};

std::map<std::string, std::string> contents(SimulatedFileSystem& disk,
                                            const std::vector<std::string>& logs) {
  std::map<std::string, std::string> found;
  std::vector<std::string> directories = {"/data"};
  for (const std::string& log : logs) directories.push_back(join_path("/data", log));
  for (const std::string& directory : directories) {
    std::vector<std::string> names;
    if (!disk.list(directory, &names).ok()) continue;
    for (const std::string& name : names) {
      std::string path = join_path(directory, name);
      found[path] = disk.content(path);
    }
  }
  return found;
}

}  // namespace

Verified verify(SimulatedFileSystem& disk, const std::vector<std::string>& logs) {
  std::map<std::string, std::string> before = contents(disk, logs);
  Verified verified;
  char* text = nullptr;
  size_t bytes = 0;
  std::FILE* out = open_memstream(&text, &bytes);
  MonotonicClock clock;
  VerifyOptions options{.data_directory = "/data", .log_directories = logs, .threads = 1};
  WatchedFileSystem watched(disk);
  verified.verdict = verify_data_directory(watched, clock, options, nullptr, out, &verified.why);
  std::fclose(out);
  verified.text.assign(text, bytes);
  std::free(text);
  EXPECT_TRUE(contents(disk, logs) == before);
  return verified;
}

}  // namespace pgsilo
