#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "tests/unit/catalog/failing_memory.h"

namespace pgsilo {
namespace {

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/pgsilo_file_XXXXXX";
    directory_ = mkdtemp(name);
    files_ = posix_file_system();
  }
  void TearDown() override {
    std::vector<std::string> names;
    ASSERT_TRUE(files_->list(directory_, &names).ok());
    for (const std::string& name : names) ASSERT_TRUE(files_->remove(path(name)).ok());
    rmdir(directory_.c_str());
  }
  std::string path(const std::string& name) const { return join_path(directory_, name); }

  std::string directory_;
  std::unique_ptr<FileSystem> files_;
};

TEST_F(FileTest, ReadsWhatWasWritten) {
  std::unique_ptr<File> file;
  ASSERT_TRUE(files_->open(path("a"), {.write = true, .create = true}, &file).ok());
  ASSERT_TRUE(file->write_at("hello", 5, 3).ok());
  uint64_t bytes = 0;
  ASSERT_TRUE(file->size(&bytes).ok());
  EXPECT_EQ(bytes, 8u);
  char buffer[16];
  size_t got = 0;
  ASSERT_TRUE(file->read_at(buffer, sizeof buffer, 0, &got).ok());
  EXPECT_EQ(std::string(buffer, got), std::string("\0\0\0hello", 8));
}

TEST_F(FileTest, KnowsWhetherItHasItsName) {
  auto made = [&](const std::string& name) {
    std::unique_ptr<File> file;
    EXPECT_TRUE(files_->open(path(name), {.write = true, .create = true}, &file).ok());
    return file;
  };
  auto is_at = [&](const File& file, const std::string& name) {
    bool is = false;
    EXPECT_TRUE(file.is_at(path(name), &is).ok());
    return is;
  };
  std::unique_ptr<File> file = made("a");
  EXPECT_TRUE(is_at(*file, "a"));
  ASSERT_TRUE(files_->rename(path("a"), path("b")).ok());
  bool is = true;
  EXPECT_EQ(file->is_at(path("a"), &is).status, FileStatus::not_found);
  EXPECT_FALSE(is);
  EXPECT_TRUE(is_at(*file, "b"));
  std::unique_ptr<File> other = made("a");
  EXPECT_FALSE(is_at(*file, "a"));
  EXPECT_TRUE(is_at(*other, "a"));
}

// Without waiting for anybody, as long as it takes to open the other end of a FIFO.
TEST_F(FileTest, OpensRegularFilesOnly) {
  std::unique_ptr<File> file;
  auto opened = [&](const std::string& name, OpenFlags flags) {
    return files_->open(name, flags, &file).status;
  };
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  int held = ::open(path("fifo").c_str(), O_RDWR | O_CLOEXEC);
  for (OpenFlags flags :
       {OpenFlags{}, OpenFlags{.write = true}, OpenFlags{.write = true, .create = true}}) {
    ASSERT_EQ(opened(path("fifo"), flags), FileStatus::not_regular);
    EXPECT_EQ(opened(directory_, flags), FileStatus::not_regular);
    EXPECT_EQ(opened("/dev/zero", flags), FileStatus::not_regular);
  }
  ::close(held);
  ASSERT_EQ(opened(path("fifo"), {}), FileStatus::not_regular);
  EXPECT_STREQ(files_->open(path("fifo"), {}, &file).words(), "not a regular file");
  EXPECT_TRUE(files_->remove_gradually(path("fifo")).ok());

  int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(opened(path("socket"), {}), FileStatus::not_regular);
  ::close(socket);

  ASSERT_TRUE(files_->open(path("a"), {.write = true, .create = true}, &file).ok());
  ASSERT_EQ(symlink(path("a").c_str(), path("link").c_str()), 0);
  EXPECT_EQ(opened(path("link"), {}), FileStatus::ok);
}

TEST_F(FileTest, GivesSpaceBackBeforeTheLastOneClosesTheFile) {
  std::unique_ptr<File> file;
  ASSERT_TRUE(files_->open(path("a"), {.write = true, .create = true}, &file).ok());
  ASSERT_TRUE(file->write_at("x", 1, 20 << 20).ok());
  ASSERT_TRUE(files_->remove_gradually(path("a")).ok());
  uint64_t bytes = 1;
  ASSERT_TRUE(file->size(&bytes).ok());
  EXPECT_EQ(bytes, 0u);
  EXPECT_EQ(files_->open(path("a"), {}, &file).status, FileStatus::not_found);
  EXPECT_EQ(files_->remove_gradually(path("a")).status, FileStatus::not_found);
}

TEST_F(FileTest, GivesSpaceBackInPieces) {
  struct Pace final : RemovalPace {
    explicit Pace(File& watched) : file(watched) {}
    void rest(std::chrono::nanoseconds) override {
      uint64_t left = 0;
      ASSERT_TRUE(file.size(&left).ok());
      sizes.push_back(left >> 20);
    }
    File& file;
    std::vector<uint64_t> sizes;
  };
  std::unique_ptr<File> file;
  ASSERT_TRUE(files_->open(path("a"), {.write = true, .create = true}, &file).ok());
  ASSERT_TRUE(file->write_unsynced("x", 1, (20 << 20) - 1).ok());
  Pace pace(*file);
  ASSERT_TRUE(files_->remove_in_pieces(path("a"), pace).ok());
  EXPECT_EQ(pace.sizes, (std::vector<uint64_t>{12, 4, 0}));
}

TEST_F(FileTest, OtherNamesKeepTheContent) {
  std::unique_ptr<File> file;
  ASSERT_TRUE(files_->open(path("a"), {.write = true, .create = true}, &file).ok());
  ASSERT_TRUE(file->write_at("x", 1, 20 << 20).ok());
  ASSERT_EQ(link(path("a").c_str(), path("kept").c_str()), 0);
  ASSERT_EQ(symlink(path("kept").c_str(), path("link").c_str()), 0);
  ASSERT_TRUE(files_->remove_gradually(path("a")).ok());
  ASSERT_TRUE(files_->remove_gradually(path("link")).ok());
  uint64_t bytes = 0;
  ASSERT_TRUE(file->size(&bytes).ok());
  EXPECT_EQ(bytes, (20u << 20) + 1);
  EXPECT_TRUE(files_->open(path("kept"), {}, &file).ok());
}

TEST_F(FileTest, KnowsWhatIsSynced) {
  std::unique_ptr<File> file;
  ASSERT_TRUE(files_->open(path("a"), {.write = true, .create = true}, &file).ok());
  ASSERT_TRUE(file->write_at("hello", 5, 0).ok());
  EXPECT_EQ(file->synced_end(), 0u);
  ASSERT_TRUE(file->sync_data().ok());
  EXPECT_EQ(file->synced_end(), 5u);
  ASSERT_TRUE(file->write_at("x", 1, 9).ok());
  EXPECT_EQ(file->synced_end(), 5u);
  std::unique_ptr<File> synchronous;
  ASSERT_TRUE(files_->open(path("a"), {.write = true, .synchronous = true}, &synchronous).ok());
  ASSERT_TRUE(synchronous->write_at("x", 1, 9).ok());
  EXPECT_EQ(synchronous->synced_end(), 10u);
}

TEST_F(FileTest, WritesDirectly) {
  std::unique_ptr<File> file;
  OpenFlags flags{.write = true, .create = true, .direct = true, .synchronous = true};
  FileResult result = files_->open(path("a"), flags, &file);
  if (result.status == FileStatus::unsupported) GTEST_SKIP() << "no direct I/O here";
  ASSERT_TRUE(result.ok());
  ASSERT_TRUE(file->allocate(4 * file_block_bytes).ok());
  auto* block =
      static_cast<char*>(::operator new[](file_block_bytes, std::align_val_t{file_block_bytes}));
  std::memset(block, 'x', file_block_bytes);
  ASSERT_TRUE(file->write_at(block, file_block_bytes, file_block_bytes).ok());
  std::memset(block, 0, file_block_bytes);
  size_t got = 0;
  ASSERT_TRUE(file->read_at(block, file_block_bytes, file_block_bytes, &got).ok());
  EXPECT_EQ(got, file_block_bytes);
  EXPECT_EQ(block[17], 'x');
  ::operator delete[](block, std::align_val_t{file_block_bytes});
}

TEST_F(FileTest, SaysWhatIsWrong) {
  std::unique_ptr<File> file;
  EXPECT_EQ(files_->open(path("missing"), {}, &file).status, FileStatus::not_found);
  ASSERT_TRUE(files_->open(path("a"), {.write = true, .create = true}, &file).ok());
  std::unique_ptr<File> again;
  EXPECT_EQ(
      files_->open(path("a"), {.write = true, .create = true, .exclusive = true}, &again).status,
      FileStatus::already_exists);
  EXPECT_EQ(files_->create_directory(directory_).status, FileStatus::already_exists);
  EXPECT_EQ(files_->remove(path("missing")).status, FileStatus::not_found);
  EXPECT_EQ(files_->open(path("missing"), {}, &again).text(), "No such file or directory");
}

// One that was left open would take the number of the next.
TEST_F(FileTest, LeavesNoDescriptorOpenWithoutMemory) {
  const std::string name = path("a-name-that-no-string-has-room-for");
  ASSERT_TRUE(replace_file(*files_, name, "").ok());
  auto next_descriptor = [] {
    int descriptor = ::open("/dev/null", O_RDONLY);
    ::close(descriptor);
    return descriptor;
  };
  int before = next_descriptor();
  for (size_t successes = 0; successes < 4; ++successes) {
    std::unique_ptr<File> file;
    std::vector<std::string> names;
    bool opened = false;
    bool listed = false;
    try {
      testing::FailingMemory memory(successes);
      opened = files_->open(name, {}, &file).ok();
    } catch (const std::bad_alloc&) {
    }
    try {
      testing::FailingMemory memory(successes);
      listed = files_->list(directory_, &names).ok();
    } catch (const std::bad_alloc&) {
    }
    EXPECT_EQ(opened, successes > 0);
    EXPECT_EQ(listed, successes > 1);
    file.reset();
    EXPECT_EQ(next_descriptor(), before) << successes;
  }
}

TEST_F(FileTest, LocksAgainstEverybodyElse) {
  std::unique_ptr<File> mine, other;
  ASSERT_TRUE(files_->open(path("lock"), {.write = true, .create = true}, &mine).ok());
  ASSERT_TRUE(files_->open(path("lock"), {.write = true}, &other).ok());
  ASSERT_TRUE(mine->try_lock().ok());
  EXPECT_EQ(other->try_lock().status, FileStatus::locked);
  mine.reset();
  EXPECT_TRUE(other->try_lock().ok());
}

TEST_F(FileTest, ReplacesWholeFiles) {
  ASSERT_TRUE(replace_file(*files_, path("a"), "old content").ok());
  ASSERT_TRUE(replace_file(*files_, path("a"), "new").ok());
  std::string content;
  ASSERT_TRUE(read_whole_file(*files_, path("a"), &content).ok());
  EXPECT_EQ(content, "new");
}

TEST_F(FileTest, KnowsWhereDirectoriesReallyLie) {
  const std::string data = path("data");
  auto is_inside = [&](const std::string& name) {
    return lies_inside(*files_, join_path(data, name), data);
  };
  for (const std::string& made : {data, data + "/a..b", path("data2")})
    ASSERT_TRUE(files_->create_directory(made).ok());
  ASSERT_EQ(symlink("../data2", (data + "/out").c_str()), 0);
  ASSERT_EQ(symlink("..", (data + "/up").c_str()), 0);
  ASSERT_EQ(symlink("a..b", (data + "/in").c_str()), 0);
  for (const std::string& name : {std::string("a..b"), std::string("../data/a..b/"),
                                  std::string("in"), std::string("up/data/in"), data + "/a..b"})
    EXPECT_TRUE(is_inside(name)) << name;
  for (const std::string name : {"out", "up", "up/data2", "..", "../data2", "/", "missing"})
    EXPECT_FALSE(is_inside(name)) << name;
  for (const std::string name : {"out", "up", "in"})
    ASSERT_TRUE(files_->remove(join_path(data, name)).ok());
  for (const std::string& made : {data + "/a..b", data, path("data2")})
    ASSERT_EQ(rmdir(made.c_str()), 0);
}

TEST(Paths, AreJoinedAndSplit) {
  EXPECT_EQ(join_path("/data", "wal"), "/data/wal");
  EXPECT_EQ(join_path("/data/", "wal"), "/data/wal");
  EXPECT_EQ(join_path("/data", "/other"), "/other");
  std::array<char, 4096> here;
  ASSERT_NE(getcwd(here.data(), here.size()), nullptr);
  EXPECT_EQ(absolute_path("data"), join_path(here.data(), "data"));
  EXPECT_EQ(absolute_path("./link/../data/"), join_path(here.data(), "link/../data"));
  EXPECT_EQ(absolute_path("/data//wal/."), "/data/wal");
  EXPECT_EQ(absolute_path("/"), "/");
  EXPECT_EQ(parent_path("/data/wal"), "/data");
  EXPECT_EQ(parent_path("/data"), "/");
  EXPECT_EQ(parent_path("data"), ".");
  EXPECT_EQ(parent_path("/data/wal//"), "/data");
  EXPECT_EQ(parent_path("/data/"), "/");
  EXPECT_EQ(parent_path("data/"), ".");
  EXPECT_EQ(parent_path("/"), "/");
}

}  // namespace
}  // namespace pgsilo
