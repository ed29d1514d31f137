#include "tests/crash/verified.h"

#include <gtest/gtest.h>

#include <map>

#include "base/clock.h"
#include "base/file_forwarding.h"

namespace pgsilo {
namespace {

// The disk of one who may not even ask to write.
class WatchedFileSystem final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    EXPECT_FALSE(flags.write || flags.create) << path;
    return files_.open(path, flags, file);
  }
  FileResult rename(const std::string& from, const std::string&) override { return refuse(from); }
  FileResult remove(const std::string& path) override { return refuse(path); }
  FileResult create_directory(const std::string& path) override { return refuse(path); }

 private:
  static FileResult refuse(const std::string& path) {
    ADD_FAILURE() << "\"" << path << "\" would have been changed";
    return {FileStatus::failed, 0};
  }
};

std::map<std::string, std::string> contents(SimulatedFileSystem& disk,
                                            std::vector<std::string> directories) {
  std::map<std::string, std::string> found;
  directories.emplace_back("/data");
  for (const std::string& name : directories) {
    std::string directory = join_path("/data", name);
    std::vector<std::string> names;
    if (!disk.list(directory, &names).ok()) continue;
    for (const std::string& file : names) {
      std::string path = join_path(directory, file);
      found[path] = disk.content(path);
    }
  }
  return found;
}

}  // namespace

Verified verify(SimulatedFileSystem& disk, const std::vector<std::string>& logs,
                const std::vector<std::string>& checkpoints, const LiveRelationsIn& live) {
  std::vector<std::string> directories = logs;
  directories.insert(directories.end(), checkpoints.begin(), checkpoints.end());
  std::map<std::string, std::string> before = contents(disk, directories);
  Verified verified;
  char* text = nullptr;
  size_t bytes = 0;
  std::FILE* out = open_memstream(&text, &bytes);
  MonotonicClock clock;
  VerifyOptions options{.data_directory = "/data",
                        .log_directories = logs,
                        .checkpoint_directories = checkpoints,
                        .threads = 1,
                        .live = live};
  WatchedFileSystem watched(disk);
  verified.verdict = verify_data_directory(watched, clock, options, nullptr, out, &verified.why);
  std::fclose(out);
  verified.text.assign(text, bytes);
  std::free(text);
  EXPECT_TRUE(contents(disk, directories) == before);
  return verified;
}

}  // namespace pgsilo
