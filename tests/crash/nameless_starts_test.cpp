// Starts that die before the control file names them, in an archive of the log: the next start has
// their number, with an id of its own (docs/log_format.md, Begin block).
#include "tests/crash/nameless_bed.h"

namespace pgsilo {
namespace {

class NamelessStartsTest : public NamelessBed {
 protected:
  // A start that logs to one of its logs, is archived, and stops behind a checkpoint.
  void live(const WalOptions& used, unsigned worker) {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine, worker));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    engine.wal().stop();
  }

  void expect_last_state(const std::string& where) {
    std::optional<Content> found =
        last_archived(with(all_logs), "/restored" + std::to_string(++restored_));
    ASSERT_TRUE(found) << where << ": " << why_;
    EXPECT_TRUE(*found == states_.back().content) << where;
  }

  int restored_ = 0;
};

// Whichever logs each of them has, and whichever of them the next one logs to.
TEST_F(NamelessStartsTest, HideNoOtherOfTheirNumber) {
  for (unsigned logs = 1; logs <= all_logs; ++logs) {
    for (unsigned next = 1; next <= all_logs; ++next) {
      if ((logs & ~next) == 0) continue;  // the next one begins in the place of all
      for (unsigned worker = 0; worker < with(next).workers; ++worker) {
        begin(99);
        ASSERT_NO_FATAL_FAILURE(begin_archive(with(all_logs)));
        ASSERT_NO_FATAL_FAILURE(live(with(all_logs), 0));
        ASSERT_NO_FATAL_FAILURE(die_before_it_is_named(with(logs)));
        ASSERT_NO_FATAL_FAILURE(live(with(next), worker));
        LoggedEngine engine(*disk_, "/data", with(all_logs));
        ASSERT_TRUE(engine.start()) << engine.why();
        std::string where =
            std::to_string(logs) + ", then " + std::to_string(next) + "." + std::to_string(worker);
        ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(all_logs)));
        ASSERT_NO_FATAL_FAILURE(expect_last_state(where));
        ASSERT_NO_FATAL_FAILURE(log_to_one(engine));
        ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(all_logs)));
        ASSERT_NO_FATAL_FAILURE(expect_last_state(where + ", and on"));
      }
    }
  }
}

// What was archived of them goes when the next one begins in its place.
TEST_F(NamelessStartsTest, GiveWayInTheArchive) {
  for (unsigned logs : {1u, 2u, 3u, 5u, 7u}) {
    for (unsigned deaths : {1u, 2u}) {
      begin(100);
      ASSERT_NO_FATAL_FAILURE(begin_archive(with(all_logs)));
      ASSERT_NO_FATAL_FAILURE(live(with(all_logs), 0));
      for (unsigned death = 0; death < deaths; ++death)
        ASSERT_NO_FATAL_FAILURE(die_before_it_is_named(with(logs), /*archived=*/true));
      ASSERT_NO_FATAL_FAILURE(expect_last_state(std::to_string(logs)));
      LoggedEngine engine(*disk_, "/data", with(all_logs));
      ASSERT_TRUE(engine.start()) << engine.why();
      for (unsigned worker : {2u, 0u}) {
        ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(all_logs)));
        ASSERT_NO_FATAL_FAILURE(expect_last_state(std::to_string(logs)));
        ASSERT_NO_FATAL_FAILURE(log_to_one(engine, worker));
      }
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(all_logs)));
      ASSERT_NO_FATAL_FAILURE(expect_last_state(std::to_string(logs)));
    }
  }
}

// The original's start logged to its last log, so its begin block in the others, which stands alone
// there, is needed; the copy's starts have its number, or a later one.
TEST_F(NamelessStartsTest, OfAnotherCopyAreRefused) {
  for (unsigned starts : {1u, 2u}) {
    begin(101);
    const WalOptions used = with(all_logs);
    ASSERT_NO_FATAL_FAILURE(begin_archive(used));
    ASSERT_NO_FATAL_FAILURE(live(used, 0));
    std::map<std::string, std::string> copy = files_of("/data");
    ASSERT_NO_FATAL_FAILURE(live(used, 2));
    ASSERT_NO_FATAL_FAILURE(put_back("/data", copy));
    const auto before = files_of("/archive");
    for (unsigned start = 1; start < starts; ++start) {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      engine.wal().stop();
    }
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    EXPECT_FALSE(archive(engine, used, archiver)) << starts;
    EXPECT_NE(why_.find("is not the one that was archived"), std::string::npos) << why_;
    EXPECT_TRUE(files_of("/archive") == before) << starts;
  }
}

}  // namespace
}  // namespace pgsilo
