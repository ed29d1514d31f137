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

}  // namespace
}  // namespace pgsilo
