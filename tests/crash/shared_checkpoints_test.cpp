// Copies of a database whose checkpoint_directories are the same, one after the other: neither
// removes what another one needs, nor keeps what it does not need itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/crash/backup_bed.h"
#include "wal/layout/control_file.h"

namespace pgsilo {
namespace {

class SharedCheckpoints : public BackupTest {
 protected:
  static constexpr char shared[] = "/shared";

  // A database as it should be found.
  struct Copy {
    std::string directory;
    WalOptions options;
    Content content;
  };

  static WalOptions sharing(unsigned logs) {
    WalOptions used = options(logs);
    used.checkpoint_directories = {shared};
    return used;
  }

  std::set<std::string> files_in(const std::string& directory) {
    std::vector<std::string> names;
    static_cast<void>(disk_->list(directory, &names));
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".checkpoint"); });
    return {names.begin(), names.end()};
  }

  ControlFile control_of(const std::string& directory) {
    ControlFile control;
    EXPECT_EQ(read_control_file(*disk_, directory, &control), ControlRead::ok);
    return control;
  }
  std::set<std::string> named_by(const std::string& directory, const std::string& in = shared) {
    ControlFile control = control_of(directory);
    std::set<std::string> names;
    for (const CheckpointFile& file : control.checkpoint.files) {
      if (file.directory == in) names.insert(file.identity(control.database).name());
    }
    return names;
  }

  // Its state is found, and goes on; checkpoints may be made, and one may be under way at the end.
  void live(Copy& copy, uint64_t turns) {
    disk_->restart();
    {
      LoggedEngine engine(*disk_, copy.directory, copy.options);
      ASSERT_TRUE(engine.start()) << copy.directory << ": " << engine.why();
      ASSERT_EQ(engine.content(), copy.content) << copy.directory;
      states_.assign(1, {.epoch = {}, .content = copy.content, .acknowledged_us = 0});
      ASSERT_NO_FATAL_FAILURE(work(engine, turns));
      copy.content = states_.back().content;
      // What is removed stays removed, sometimes.
      if (turns == 0 || random_.one_in(2)) {
        for (const std::string& name : copy.options.checkpoint_directories)
          ASSERT_TRUE(disk_->sync_directory(join_path(copy.directory, name)).ok());
      }
      disk_->cut_power();
    }
    disk_->restart();
  }

  // What both need is there when each has started once more, and nothing besides.
  void expect_tidy(Copy& one, Copy& other) {
    ASSERT_NO_FATAL_FAILURE(live(one, 0));
    ASSERT_NO_FATAL_FAILURE(live(other, 0));
    std::set<std::string> needed = named_by(one.directory);
    needed.merge(named_by(other.directory));
    EXPECT_EQ(files_in(shared), needed);
  }

  // A backup, restored into /copy; the original has gone on meanwhile, with a newer checkpoint.
  void restore_beside(Copy& original, Copy& copy, bool newer_checkpoint) {
    LoggedEngine engine(*disk_, original.directory, original.options);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 30));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    ASSERT_NO_FATAL_FAILURE(commit(engine));
    copy.content = states_.back().content;
    {
      Backup backup(engine.wal().checkpointer(), "test");
      stop(engine, backup);
      BackupLabel label;
      ASSERT_TRUE(read_backup_label(backup.label_file(), &label, &why_)) << why_;
      BackupSource running{.data_directory = original.directory,
                           .log_directories = original.options.log_directories,
                           .checkpoint_directories = {shared}};
      BackupCopyReport report;
      ASSERT_TRUE(copy_backup(*disk_, running, label, copy.directory, &report, &why_)) << why_;
      copy.options.log_directories = report.log_directories;
    }
    ASSERT_NO_FATAL_FAILURE(commit(engine));
    if (newer_checkpoint) {
      ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
      ASSERT_NO_FATAL_FAILURE(commit(engine));
    }
    original.content = states_.back().content;
    disk_->cut_power();
  }

  // Of the same database, as it is at rest: only its logs and its first checkpoints are copied.
  void copy_at_rest(Copy& original, Copy& copy) {
    original.options.checkpoint_directories = {"checkpoint"};
    {
      LoggedEngine engine(*disk_, original.directory, original.options);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(work(engine, 30));
      original.content = copy.content = states_.back().content;
      disk_->cut_power();
    }
    disk_->restart();
    ASSERT_NO_FATAL_FAILURE(
        copy_directory(*disk_, original.directory, copy.directory, random_, [] {}));
    original.options.checkpoint_directories = {shared};
  }
};

TEST_F(SharedCheckpoints, OfARestoredCopyAreLeftAloneAndItsOwnToo) {
  for (uint64_t round = 0; round < 40; ++round) {
    begin(round);
    unsigned logs = 1 + static_cast<unsigned>(round) % 2;
    Copy original{.directory = "/data", .options = sharing(logs), .content = {}};
    Copy copy{.directory = "/copy", .options = sharing(logs), .content = {}};
    ASSERT_NO_FATAL_FAILURE(restore_beside(original, copy, random_.one_in(2)));
    for (int life = 0; life < 6; ++life) {
      ASSERT_NO_FATAL_FAILURE(live(random_.one_in(2) ? original : copy, random_.below(15)))
          << "round " << round;
    }
    ASSERT_NO_FATAL_FAILURE(expect_tidy(original, copy)) << "round " << round;
    EXPECT_LE(files_in("/copy/checkpoint").size(), 1u);
  }
}

TEST_F(SharedCheckpoints, OfACopyAtRestAreLeftAloneAndItsOwnToo) {
  for (uint64_t round = 0; round < 40; ++round) {
    begin(round);
    Copy original{.directory = "/data", .options = sharing(1), .content = {}};
    Copy copy{.directory = "/copy", .options = sharing(1), .content = {}};
    ASSERT_NO_FATAL_FAILURE(copy_at_rest(original, copy));
    for (int life = 0; life < 6; ++life) {
      ASSERT_NO_FATAL_FAILURE(live(random_.one_in(2) ? original : copy, random_.below(15)))
          << "round " << round;
    }
    ASSERT_NO_FATAL_FAILURE(live(original, 10));
    ASSERT_NO_FATAL_FAILURE(live(copy, 10));
    ASSERT_NO_FATAL_FAILURE(live(original, 0));
  }
}

// The process died before it had removed what the checkpoint replaced: the backup's own files.
TEST_F(SharedCheckpoints, OfABackupGoFromItsDataDirectoryOnceReplaced) {
  begin(1);
  Copy original{.directory = "/data", .options = sharing(1), .content = {}};
  Copy copy{.directory = "/copy", .options = sharing(1), .content = {}};
  ASSERT_NO_FATAL_FAILURE(restore_beside(original, copy, true));
  copy.options.checkpoint_directories = {"checkpoint"};
  disk_->restart();
  std::set<std::string> base = files_in("/copy/checkpoint");
  ASSERT_EQ(base.size(), 1u);
  std::string path = "/copy/checkpoint/" + *base.begin();
  std::string content = disk_->content(path);
  {
    LoggedEngine engine(*disk_, "/copy", copy.options);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    EXPECT_EQ(files_in("/copy/checkpoint"), named_by("/copy", "checkpoint"));
    disk_->cut_power();
  }
  disk_->restart();
  write_test_file(*disk_, path, content);
  ASSERT_NO_FATAL_FAILURE(live(copy, 0));
  EXPECT_EQ(files_in("/copy/checkpoint"), named_by("/copy", "checkpoint"));
  EXPECT_EQ(files_in(shared), named_by("/data"));
}

// A copy that cp made has the original's own name for the file. It is the original's.
TEST_F(SharedCheckpoints, OfTheOriginalStayWhereALabelNamesThem) {
  begin(2);
  Copy original{.directory = "/data", .options = sharing(1), .content = {}};
  Copy copy{.directory = "/copy", .options = sharing(1), .content = {}};
  copy.options.checkpoint_directories = {"checkpoint"};
  {
    LoggedEngine engine(*disk_, "/data", original.options);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 20));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    Backup backup(engine.wal().checkpointer(), "test");
    stop(engine, backup);
    ASSERT_NO_FATAL_FAILURE(copy_directory(*disk_, "/data", "/copy", random_, [] {}));
    ASSERT_NO_FATAL_FAILURE(copy_directory(*disk_, shared, "/copy/checkpoint", random_, [] {}));
    write_test_file(*disk_, label_path, backup.label_file());
    original.content = copy.content = states_.back().content;
    disk_->cut_power();
  }
  for (int life = 0; life < 3; ++life) ASSERT_NO_FATAL_FAILURE(live(copy, 20));
  EXPECT_TRUE(std::ranges::includes(files_in(shared), named_by("/data")));
  ASSERT_NO_FATAL_FAILURE(live(original, 0));
}

TEST_F(SharedCheckpoints, OfOthersAreNamed) {
  begin(7);
  Copy original{.directory = "/data", .options = sharing(1), .content = {}};
  Copy copy{.directory = "/copy", .options = sharing(1), .content = {}};
  ASSERT_NO_FATAL_FAILURE(restore_beside(original, copy, true));
  disk_->restart();
  std::string name = *named_by("/data").begin();
  testing::internal::CaptureStderr();
  ASSERT_NO_FATAL_FAILURE(live(copy, 0));
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("checkpoint directory \"/shared\" holds files that another copy"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find(name), std::string::npos) << said;
  EXPECT_NE(said.find("checkpoint_directories"), std::string::npos) << said;
}

// Left by starts that are long forgotten, torn or empty: in a directory that was away, say.
TEST_F(SharedCheckpoints, ThatNobodyNeedsDoNotPileUp) {
  begin(3);
  Copy original{.directory = "/data", .options = sharing(1), .content = {}};
  std::vector<std::pair<std::string, std::string>> earlier;
  for (int life = 0; life < 5; ++life) {
    ASSERT_NO_FATAL_FAILURE(live(original, 20));
    for (const std::string& name : named_by("/data"))
      earlier.emplace_back(name, disk_->content(join_path(shared, name)));
  }
  std::string start = earlier.front().first.substr(0, 17);
  write_test_file(*disk_, join_path(shared, start + "00000000000000aa-0000.checkpoint"), "");
  write_test_file(*disk_, join_path(shared, start + "00000000000000ab-0000.checkpoint"),
                  std::string(40'000, '\0'));
  for (const auto& [name, content] : earlier) {
    std::string torn = content;
    torn.replace(300, 8, 8, '\0');
    write_test_file(*disk_, join_path(shared, name), name == earlier.back().first ? content : torn);
  }
  EXPECT_GT(files_in(shared).size(), 4u);
  ASSERT_NO_FATAL_FAILURE(live(original, 0));
  EXPECT_EQ(files_in(shared), named_by("/data"));
}

TEST_F(SharedCheckpoints, AreKnownHoweverManyStartsAgoTheyWereMade) {
  begin(6);
  Copy original{.directory = "/data", .options = sharing(1), .content = {}};
  ASSERT_NO_FATAL_FAILURE(live(original, 20));
  std::set<std::string> first = named_by("/data");
  ASSERT_EQ(first.size(), 1u);
  for (size_t i = 0; i < most_own_starts + 5; ++i) {
    LoggedEngine engine(*disk_, "/data", original.options);
    ASSERT_TRUE(engine.start()) << engine.why();
    engine.wal().stop();
  }
  ASSERT_EQ(named_by("/data"), first);
  LoggedEngine engine(*disk_, "/data", original.options);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
  EXPECT_EQ(files_in(shared), named_by("/data"));
  EXPECT_LE(control_of("/data").own_starts.size(), most_own_starts + 1);
}

// Whoever put it there may need it; the next checkpoint has another number.
TEST_F(SharedCheckpoints, OfTheNextNamesAreNotRemovedByAFailure) {
  for (bool direct : {true, false}) {
    begin(4);
    disk_->refuse_direct(!direct);
    LoggedEngine engine(*disk_, "/data", sharing(1));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(commit(engine));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    std::string name = *named_by("/data").begin();
    name[32] = static_cast<char>(name[32] + 1);
    write_test_file(*disk_, join_path(shared, name), "another's");
    std::string why;
    EXPECT_FALSE(engine.wal().checkpointer().run_now(CheckpointReason::request, &why));
    EXPECT_NE(why.find("exists"), std::string::npos) << why;
    EXPECT_EQ(disk_->content(join_path(shared, name)), "another's");
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    EXPECT_EQ(disk_->content(join_path(shared, name)), "another's");
    disk_->cut_power();
  }
}

// All that a start may be refused for comes before it removes anything.
TEST_F(SharedCheckpoints, AreNotRemovedByAStartThatIsRefused) {
  begin(5);
  Copy original{.directory = "/data", .options = sharing(1), .content = {}};
  ASSERT_NO_FATAL_FAILURE(live(original, 20));
  std::string stale = named_by("/data").begin()->substr(0, 17) + "00000000000000aa-0000.checkpoint";
  write_test_file(*disk_, join_path(shared, stale), "");
  write_test_file(*disk_, "/data/pgsilo.slots", "damaged");
  {
    LoggedEngine engine(*disk_, "/data", original.options);
    EXPECT_FALSE(engine.start());
    EXPECT_NE(engine.why().find("pgsilo.slots"), std::string::npos) << engine.why();
  }
  EXPECT_TRUE(files_in(shared).contains(stale));
  ASSERT_TRUE(disk_->remove("/data/pgsilo.slots").ok());
  ASSERT_NO_FATAL_FAILURE(live(original, 0));
  EXPECT_FALSE(files_in(shared).contains(stale));
}

}  // namespace
}  // namespace pgsilo
