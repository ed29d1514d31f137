#include "base/file_read_only.h"

#include <gtest/gtest.h>

#include "base/file_simulated.h"

namespace pgsilo {
namespace {

TEST(ReadOnlyFileSystem, ChangesNothing) {
  SimulatedFileSystem disk(1);
  ASSERT_TRUE(replace_file(disk, "/there", "content").ok());
  ASSERT_TRUE(disk.create_directory("/directory").ok());
  ASSERT_TRUE(replace_file(disk, "/directory/file", "").ok());
  ReadOnlyFileSystem files(disk);
  std::unique_ptr<File> file;
  ASSERT_TRUE(files.open("/there", {.write = true, .create = true}, &file).ok());
  EXPECT_FALSE(file->write_at("other", 5, 0).ok());
  EXPECT_FALSE(file->allocate(4096).ok());
  EXPECT_TRUE(file->sync_data().ok());
  EXPECT_FALSE(files.open("/new", {.write = true, .create = true}, &file).ok());
  EXPECT_FALSE(files.rename("/there", "/elsewhere").ok());
  EXPECT_FALSE(files.remove("/there").ok());
  EXPECT_FALSE(files.create_directory("/new").ok());
  EXPECT_EQ(files.create_directory("/directory").status, FileStatus::already_exists);
  EXPECT_FALSE(replace_file(files, "/there", "other").ok());
  EXPECT_EQ(disk.content("/there"), "content");
  std::vector<std::string> names;
  ASSERT_TRUE(files.list("/directory", &names).ok());
  EXPECT_EQ(names.size(), 1u);
}

}  // namespace
}  // namespace pgsilo
