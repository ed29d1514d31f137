// What a backup is restored of lies in its directory. Its label may name directories of the server,
// by paths that lead out of there: the server has gone on in them, and may itself have been
// restored of an earlier state, or its disk be damaged, which the backup is for.
#include "wal/backup/backup_places.h"

#include <unistd.h>

#include <filesystem>

#include "tests/crash/archive_bed.h"

namespace pgsilo {
namespace {

constexpr char outside[] = "/logs";

class BackupPlacesTest : public ArchiveEndsTest {
 protected:
  static WalOptions options_with(const std::string& log) {
    WalOptions used = options(1);
    used.log_directories = {log};
    return used;
  }

  // Of the server's second start, with an archive that goes on behind it.
  void begin_with_archive(const WalOptions& used) {
    begin(81);
    ASSERT_NO_FATAL_FAILURE(live_on("/data", used));
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
      ASSERT_NO_FATAL_FAILURE(take_backup(engine, used));
      backed_up_ = states_.back().content;
      ASSERT_NO_FATAL_FAILURE(work(engine, 20));
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
      archived_ = states_.back().content;
      disk_->cut_power();
    }
    disk_->restart();
    ASSERT_NO_FATAL_FAILURE(name_earlier_log(used.log_directories[0]));
  }

  // The label tells of the start before, too, of which it needs no log, and where the server has
  // it, as labels of earlier versions may.
  void name_earlier_log(const std::string& path) {
    BackupLabel label = label_of_backup();
    Incarnation earlier = label.control.incarnations.front();
    earlier.number -= 1;
    earlier.id = Uuid::generate();
    earlier.closed = true;
    ASSERT_FALSE(needs_log(label.control, earlier));
    ASSERT_EQ(earlier.logs.size(), 1U);
    earlier.logs[0].path = path;
    label.control.incarnations.insert(label.control.incarnations.begin(), earlier);
    ASSERT_TRUE(disk_->remove("/backup/backup_label").ok());
    write_test_file(*disk_, "/backup/backup_label", write_backup_label(label));
  }

  BackupLabel label_of_backup() {
    BackupLabel label;
    EXPECT_EQ(read_label_file(*disk_, "/backup", &label, &why_), LabelRead::ok) << why_;
    return label;
  }

  // The server is restored of the backup alone, and goes on in the log directory that it had.
  void go_on_from_backup(const WalOptions& used) {
    WalOptions copys = used;
    ASSERT_NO_FATAL_FAILURE(restore_copy(&copys));
    const std::string log = "/copy/" + copys.log_directories.at(0) + "/";
    for (const std::string directory : {"/data", outside}) {
      for (const auto& [path, content] : files_of(directory)) ASSERT_TRUE(disk_->remove(path).ok());
    }
    for (const auto& [path, content] : files_of("/copy")) {
      std::string to = path.starts_with(log) ? join_path(outside, path.substr(log.size()))
                                             : "/data" + path.substr(sizeof "/copy" - 1);
      ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, to, content));
    }
    ASSERT_NO_FATAL_FAILURE(live_on("/data", used));
  }

  // A backup as the documentation tells to take it by hand; the server goes on.
  void back_up_by_hand(const WalOptions& used, const std::map<std::string, std::string>& copied) {
    begin(82);
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(work(engine, 20));
      ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
      ASSERT_NO_FATAL_FAILURE(work(engine, 10));
      Backup backup(engine.wal().checkpointer(), "test");
      stop(engine, backup);
      backed_up_ = states_.back().content;
      for (const auto& [from, to] : copied)
        ASSERT_NO_FATAL_FAILURE(copy_directory(*disk_, from, to, random_, [] {}));
      write_test_file(*disk_, "/backup/backup_label", backup.label_file());
      ASSERT_NO_FATAL_FAILURE(work(engine, 10));
      disk_->cut_power();
    }
    disk_->restart();
  }

  void expect_backup_restored(const std::string& target) {
    BackupLabel label = label_of_backup();
    std::optional<Content> found =
        restored(source_of_backup("/backup", label), label, options(1), target);
    ASSERT_TRUE(found) << why_;
    EXPECT_EQ(*found, backed_up_);
  }

  void expect_archive_restored(const WalOptions& used, const std::string& target) {
    std::optional<Content> found = last_archived(used, target);
    ASSERT_TRUE(found) << why_;
    EXPECT_EQ(*found, archived_);
  }

  void damage_identity(const std::string& log) {
    ASSERT_NO_FATAL_FAILURE(damage(join_path(log, log_identity_name), 20));
  }

  Content backed_up_;
  Content archived_;
};

TEST_F(BackupPlacesTest, WhereTheServerHasAnotherHistoryOrIsDamagedIsNotRead) {
  WalOptions used = options_with(outside);
  for (bool damaged : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(begin_with_archive(used));
    ASSERT_NO_FATAL_FAILURE(damaged ? damage_identity(outside) : go_on_from_backup(used));
    EXPECT_NO_FATAL_FAILURE(expect_archive_restored(used, "/restored")) << damaged;
    EXPECT_NO_FATAL_FAILURE(expect_backup_restored("/restored2")) << damaged;
  }
}

TEST_F(BackupPlacesTest, WhereTheServerIsAheadOfTheArchiveIsNotRead) {
  WalOptions used = options_with(outside);
  ASSERT_NO_FATAL_FAILURE(begin_with_archive(used));
  ASSERT_NO_FATAL_FAILURE(live_on("/data", used));
  EXPECT_NO_FATAL_FAILURE(expect_archive_restored(used, "/restored"));
}

// A start's log that is not needed is not restored; it has the name of what is, if it is that log.
TEST_F(BackupPlacesTest, WhatIsRestoredNamesNoneOutside) {
  WalOptions used = options_with(outside);
  ASSERT_NO_FATAL_FAILURE(begin_with_archive(used));
  ASSERT_NO_FATAL_FAILURE(restore_copy(&used));
  BackupLabel label;
  ASSERT_EQ(read_label_file(*disk_, "/copy", &label, &why_), LabelRead::ok) << why_;
  ASSERT_GT(label.control.incarnations.size(), 1U);
  for (const Incarnation& incarnation : label.control.incarnations)
    EXPECT_EQ(incarnation.logs.at(0).path, "wal");
}

// By a relative path, too, there may be one beside the backup.
TEST_F(BackupPlacesTest, ABackupByHandIsRestoredOfItsOwnLog) {
  for (const std::string named : {outside, "../logs"}) {
    for (const std::string copied : {"/backup/wal", "/backup/anything"}) {
      WalOptions used = options_with(named);
      const std::string log = join_path("/data", named);
      const std::string beside = join_path("/backup", named);
      ASSERT_NO_FATAL_FAILURE(
          back_up_by_hand(used, {{"/data/checkpoint", "/backup/checkpoint"}, {log, copied}}));
      if (beside != log) {
        ASSERT_NO_FATAL_FAILURE(copy_directory(*disk_, copied, beside, random_, [] {}));
      }
      ASSERT_NO_FATAL_FAILURE(damage_identity(beside));
      EXPECT_NO_FATAL_FAILURE(expect_backup_restored("/restored")) << named << " " << copied;
      for (const auto& [path, content] : files_of(beside)) ASSERT_TRUE(disk_->remove(path).ok());
      EXPECT_NO_FATAL_FAILURE(expect_backup_restored("/restored2")) << named << " " << copied;
    }
  }
}

TEST_F(BackupPlacesTest, ABackupByHandIsRestoredOfItsOwnCheckpoint) {
  WalOptions used = options(1);
  used.checkpoint_directories = {"/checkpoints"};
  ASSERT_NO_FATAL_FAILURE(back_up_by_hand(
      used, {{"/checkpoints", "/backup/checkpoint"}, {"/data/wal0", "/backup/wal0"}}));
  size_t damaged = 0;
  for (const auto& [path, content] : files_of("/checkpoints")) {
    if (!path.ends_with(".checkpoint")) continue;
    damage(path, 200);
    ++damaged;
  }
  ASSERT_GT(damaged, 0U);
  EXPECT_NO_FATAL_FAILURE(expect_backup_restored("/restored"));
}

TEST_F(BackupPlacesTest, ALogThatIsNotInTheBackupIsNamed) {
  ASSERT_NO_FATAL_FAILURE(
      back_up_by_hand(options_with(outside), {{"/data/checkpoint", "/backup/checkpoint"}}));
  BackupLabel label = label_of_backup();
  BackupSource source = source_of_backup("/backup", label);
  EXPECT_FALSE(restored(source, label, options(1), "/restored"));
  EXPECT_TRUE(why_.starts_with("log \"/logs\" (")) << why_;
  EXPECT_NE(why_.find(") is not in backup \"/backup\"\nHINT:  "), std::string::npos) << why_;
}

// A log that is there and cannot be read is not taken for one that is missing.
TEST_F(BackupPlacesTest, ALogOfTheBackupThatIsDamagedIsNamed) {
  ASSERT_NO_FATAL_FAILURE(
      back_up_by_hand(options_with(outside),
                      {{"/data/checkpoint", "/backup/checkpoint"}, {outside, "/backup/wal"}}));
  ASSERT_NO_FATAL_FAILURE(damage_identity("/backup/wal"));
  BackupLabel label = label_of_backup();
  BackupSource source = source_of_backup("/backup", label);
  EXPECT_FALSE(restored(source, label, options(1), "/restored"));
  EXPECT_EQ(why_, "file \"/backup/wal/log.identity\" is damaged");
}

TEST(BackupPlaces, AreNotBehindLinksThatLeadOutOfIt) {
  char name[] = "/tmp/pgsilo_places_XXXXXX";
  const std::filesystem::path root = mkdtemp(name);
  for (const char* made : {"backup/logs/m8", "backup/wal", "live/logs"})
    std::filesystem::create_directories(root / made);
  std::filesystem::create_symlink("../live/logs", root / "backup/a");
  std::filesystem::create_symlink("wal", root / "backup/b");
  std::unique_ptr<FileSystem> files = posix_file_system();
  std::vector<std::string> found;
  std::string why;
  EXPECT_TRUE(list_inside(*files, root / "backup",
                          {"/srv/data/logs/m8", "../live/logs", root / "live/logs", "a", "./wal"},
                          &found, &why))
      << why;
  EXPECT_EQ(found, (std::vector<std::string>{"logs/m8", "logs", "./wal", "wal", "b"}));
  EXPECT_FALSE(list_inside(*files, root / "missing", {}, &found, &why));
  EXPECT_TRUE(why.starts_with("could not read directory ")) << why;
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace pgsilo
