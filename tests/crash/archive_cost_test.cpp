// What an archiver reads, by how many logs and how many starts there are.
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

  void live_once(const WalOptions& used) {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    disk_->cut_power();
    disk_->restart();
  }

  // Behind starts that nobody archived.
  uint64_t calls_behind_starts(int starts) {
    begin(141);
    const WalOptions used = options(2);
    begin_archive(used);
    for (int start = 0; start < starts; ++start) live_once(used);
    LoggedEngine engine(*disk_, "/data", used);
    EXPECT_TRUE(engine.start()) << engine.why();
    return calls_to_archive(engine, used);
  }

  // Where a start that logged nothing began in the place of another one, behind others that were
  // archived.
  uint64_t calls_for_an_idle_start(int starts) {
    begin(142);
    const WalOptions used = options(1);
    begin_archive(used);
    for (int start = 0; start < starts; ++start) live_once(used);
    {
      LoggedEngine engine(*disk_, "/data", used);
      EXPECT_TRUE(engine.start()) << engine.why();
      archive_now(engine, used);
      disk_->cut_power();
    }
    disk_->restart();
    LoggedEngine engine(*disk_, "/data", used);
    EXPECT_TRUE(engine.start()) << engine.why();
    return calls_to_archive(engine, used);
  }
};

TEST_F(ArchiveCostTest, AStartsEndIsLookedAtOnceForEachLog) {
  const uint64_t few = calls_at_a_start(4);
  const uint64_t many = calls_at_a_start(16);
  EXPECT_GT(few, 4U);
  EXPECT_LE(many, 4 * few);
}

TEST_F(ArchiveCostTest, EachOfManyStartsIsLookedAtOnce) {
  const uint64_t few = calls_behind_starts(8);
  const uint64_t many = calls_behind_starts(64);
  EXPECT_GT(few, 8U);
  EXPECT_LE(many, 9 * few);
}

TEST_F(ArchiveCostTest, AnIdleStartAsksEachStartOnce) {
  const uint64_t few = calls_for_an_idle_start(8);
  const uint64_t many = calls_for_an_idle_start(64);
  EXPECT_GT(few, 8U);
  EXPECT_LE(many, 9 * few);
}

}  // namespace
}  // namespace pgsilo
