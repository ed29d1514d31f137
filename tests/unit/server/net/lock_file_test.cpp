// Lock files: whom they keep away, and whom what is left of one does not.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "server/net/listener.h"

namespace pgsilo {
namespace {

class LockFileTest : public ::testing::Test {
 protected:
  LockFileTest() : path_(testing::TempDir() + "lock_file_test." + std::to_string(getpid())) {}
  ~LockFileTest() override { std::filesystem::remove(path_); }

  void lay(const std::string& text) const { std::ofstream(path_) << text; }
  std::string found() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  // Of files that grow beyond `bytes` only so much is written.
  static void limit_files(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }

  const std::string path_;
  // Names the one process that always runs.
  const std::string text_ = "1\n/data\n1764252000\n5432\n";
};

TEST_F(LockFileTest, OfAnotherProgramThatRunsIsLeftToIt) {
  lay(text_);
  LockFile lock;
  int owner = 0;
  EXPECT_FALSE(lock.acquire(path_, &owner));
  EXPECT_EQ(owner, 1);
  EXPECT_EQ(found(), text_);
}

TEST_F(LockFileTest, OfOneOfOursThatHasGoneIsTaken) {
  lay(text_ + "pgsilo\n");
  LockFile lock;
  int owner = 0;
  EXPECT_TRUE(lock.acquire(path_, &owner)) << owner;
}

// Its writer died before there was a whole line. PostgreSQL writes its first one in one piece.
TEST_F(LockFileTest, WithoutAWholeNumberIsNobodys) {
  lay("1");
  LockFile lock;
  int owner = 0;
  EXPECT_TRUE(lock.acquire(path_, &owner)) << owner;
}

TEST_F(LockFileTest, OfOneOfOursThatDiedWhileItWroteIsTaken) {
  for (size_t written = 1; written < text_.size() + 7; ++written) {
    std::string left;
    {
      LockFile dying;
      int owner = 0;
      ASSERT_TRUE(dying.acquire(path_, &owner));
      ASSERT_NO_FATAL_FAILURE(limit_files(written));
      dying.write(text_);
      ASSERT_NO_FATAL_FAILURE(limit_files(RLIM_INFINITY));
      left = found();
    }
    lay(left);
    LockFile lock;
    int owner = 0;
    EXPECT_TRUE(lock.acquire(path_, &owner)) << "behind " << written << " bytes: " << left;
  }
}

// Another start has the lock, and writes the first line last.
TEST_F(LockFileTest, OfOneThatIsBeingWrittenTellsWhoseItWillBe) {
  LockFile writing;
  int owner = 0;
  ASSERT_TRUE(writing.acquire(path_, &owner));
  std::jthread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    writing.write(text_);
  });
  LockFile lock;
  EXPECT_FALSE(lock.acquire(path_, &owner));
  EXPECT_EQ(owner, 1);
}

// It stopped there.
TEST_F(LockFileTest, WhoseNobodyWroteIsHeldBySomebody) {
  LockFile silent;
  int owner = 0;
  ASSERT_TRUE(silent.acquire(path_, &owner));
  LockFile lock;
  EXPECT_FALSE(lock.acquire(path_, &owner));
  EXPECT_EQ(owner, LockFile::somebody);
  EXPECT_EQ(LockFile::refusal("it", owner, "using it"),
            "lock file \"it\" already exists\nHINT:  Is another postmaster using it?");
}

}  // namespace
}  // namespace pgsilo
