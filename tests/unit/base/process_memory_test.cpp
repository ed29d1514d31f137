#include "base/process_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

namespace pgsilo {
namespace {

class ProcessMemoryTest : public ::testing::Test {
 protected:
  ProcessMemoryTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "memory.XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    write("/proc/self/cgroup", "");
  }
  ~ProcessMemoryTest() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
};

TEST_F(ProcessMemoryTest, IsTheMachinesWithoutGroups) {
  size_t machine = memory_for_process(0, root_);
  EXPECT_GT(machine, size_t{100} << 20);
  EXPECT_EQ(memory_for_process(0, root_ + "/nowhere"), machine);
}

TEST_F(ProcessMemoryTest, IsWhatTheLimitsOfTheProcessLeave) {
  constexpr size_t room = size_t{200} << 20;
  for (auto [resource, field] : {std::pair{RLIMIT_AS, 0}, std::pair{RLIMIT_DATA, 5}}) {
    std::ifstream statm("/proc/self/statm");
    size_t pages = 0;
    for (int i = 0; i <= field; ++i) statm >> pages;
    rlimit before{};
    ASSERT_EQ(getrlimit(resource, &before), 0);
    rlimit lower = before;
    lower.rlim_cur = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + room;
    ASSERT_EQ(setrlimit(resource, &lower), 0);
    size_t left = memory_for_process(0, root_);
    size_t with_stacks = memory_for_process(room / 2, root_);
    ASSERT_EQ(setrlimit(resource, &before), 0);
    EXPECT_LE(left, room / 2 + (size_t{1} << 20));
    EXPECT_GT(left, room / 4);
    EXPECT_LE(with_stacks, room / 4 + (size_t{1} << 20));
  }
}

TEST_F(ProcessMemoryTest, IsTheLeastLimitOfTheGroupsAbove) {
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  size_t machine = memory_for_process(0, root_);
  write("/sys/fs/cgroup/a/memory.max", "50000000\n");
  EXPECT_EQ(memory_for_process(0, root_), 50000000u);
  EXPECT_LT(memory_for_process(0, root_), machine);
  write("/sys/fs/cgroup/a/b/memory.max", "40000000\n");
  EXPECT_EQ(memory_for_process(0, root_), 40000000u);
  // In a container: what it sees is its own group, whatever its path on the host.
  write("/proc/self/cgroup", "0::/elsewhere/on/the/host\n");
  write("/sys/fs/cgroup/memory.max", "30000000\n");
  EXPECT_EQ(memory_for_process(0, root_), 30000000u);
}

TEST_F(ProcessMemoryTest, KnowsTheFirstVersionOfGroups) {
  write("/proc/self/cgroup", "5:cpu,cpuacct:/c\n4:memory:/a\n0::/\n");
  write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "60000000\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(memory_for_process(0, root_), 60000000u);
  write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "nonsense\n");
  EXPECT_GT(memory_for_process(0, root_), 60000000u);
}

TEST(ProcessMemory, SeesWhatIsAllocated) {
  MemoryUsage before = measure_process_memory();
  EXPECT_GT(before.used, 0u);
  constexpr size_t bytes = size_t{64} << 20;
  auto* block = static_cast<volatile char*>(std::malloc(bytes));
  for (size_t i = 0; i < bytes; i += 4096) block[i] = 1;
  EXPECT_GE(measure_process_memory().used, before.used + bytes / 2);
  std::free(const_cast<char*>(block));
}

}  // namespace
}  // namespace pgsilo
