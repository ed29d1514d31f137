// What an archiver reads at the end of a start, by how many logs there are.
#include "tests/crash/counting_files.h"
#include "tests/crash/returning_bed.h"

namespace pgsilo {
namespace {

class ArchiveCostTest : public ReturningLogTest {
 protected:
  uint64_t calls_to_archive(LoggedEngine& engine, const WalOptions& used) {
    CountingFiles files(*disk_);
    LogArchive archiver(files, "/archive");
    EXPECT_TRUE(archiver.open(&why_)) << why_;
    files.calls = 0;
    EXPECT_TRUE(archive(engine, used, archiver)) << why_;
    return files.calls;
  }

  // Behind a restart, where all logs have something of both starts.
  uint64_t calls_at_a_start(unsigned logs) {
    begin(140);
    const WalOptions used = options(logs);
    begin_archive(used);
    LoggedEngine engine(*disk_, "/data", used);
    EXPECT_TRUE(engine.start()) << engine.why();
    log_to_all(engine);
    return calls_to_archive(engine, used);
  }
};

TEST_F(ArchiveCostTest, AStartsEndIsLookedAtOnceForEachLog) {
  const uint64_t few = calls_at_a_start(4);
  const uint64_t many = calls_at_a_start(16);
  EXPECT_GT(few, 4U);
  EXPECT_LE(many, 4 * few);
}

}  // namespace
}  // namespace pgsilo
