// Copies of a database whose checkpoint_directories are the same, one after the other: neither
// removes what another one needs, nor keeps what it does not need itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "base/file_forwarding.h"
#include "tests/crash/backup_bed.h"
#include "wal/layout/control_file.h"

namespace pgsilo {
namespace {

// With symbolic links to directories.
class LinkedFiles final : public ForwardingFileSystem {
 public:
  using Links = std::map<std::string, std::string>;
  LinkedFiles(FileSystem& files, const Links& links) : ForwardingFileSystem(files), links_(links) {}

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    return files_.open(follow(path), flags, file);
  }
  FileResult rename(const std::string& from, const std::string& to) override {
    return files_.rename(follow(from), follow(to));
  }
  FileResult remove(const std::string& path) override { return files_.remove(follow(path)); }
  FileResult create_directory(const std::string& path) override {
    return files_.create_directory(follow(path));
  }
  FileResult list(const std::string& directory, std::vector<std::string>* names) override {
    return files_.list(follow(directory), names);
  }
  FileResult sync_directory(const std::string& directory) override {
    return files_.sync_directory(follow(directory));
  }
  FileResult real_path(const std::string& directory, std::string* real) override {
    *real = follow(directory);
    return {};
  }

 private:
  std::string follow(const std::string& path) const {
    for (const auto& [link, target] : links_) {
      if ((path + "/").starts_with(link + "/")) return target + path.substr(link.size());
    }
    return path;
  }

  const Links& links_;
};

class StubbornFiles final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  FileResult remove(const std::string& path) override {
    bool refused = refuses && path.ends_with(".checkpoint");
    return refused ? FileResult{FileStatus::failed, EIO} : files_.remove(path);
  }
  bool refuses = false;
};

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
      LinkedFiles files(*disk_, links_);
      LoggedEngine engine(files, copy.directory, copy.options);
      ASSERT_TRUE(engine.start()) << copy.directory << ": " << engine.why();
      ASSERT_EQ(engine.content(), copy.content) << copy.directory;
      states_.assign(1, {.epoch = {}, .content = copy.content, .acknowledged_us = 0});
      ASSERT_NO_FATAL_FAILURE(work(engine, turns));
      copy.content = states_.back().content;
      // What is removed stays removed, sometimes.
      if (turns == 0 || random_.one_in(2)) {
        for (const std::string& name : copy.options.checkpoint_directories)
          ASSERT_TRUE(files.sync_directory(join_path(copy.directory, name)).ok());
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
                           .checkpoint_directories = original.options.checkpoint_directories};
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

  // A backup of /data in /copy, as cp makes it between pg_backup_start and pg_backup_stop.
  void copy_by_hand(LoggedEngine& engine) {
    ASSERT_NO_FATAL_FAILURE(work(engine, 20));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    Backup backup(engine.wal().checkpointer(), "test");
    stop(engine, backup);
    ASSERT_NO_FATAL_FAILURE(copy_directory(*disk_, "/data", "/copy", random_, [] {}));
    write_test_file(*disk_, label_path, backup.label_file());
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

  LinkedFiles::Links links_;
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

// None fails for a name that is taken.
TEST_F(SharedCheckpoints, OfACopyHaveNumbersAboveTheOriginals) {
  begin(40);
  Copy original{.directory = "/data", .options = sharing(1), .content = {}};
  Copy copy{.directory = "/copy", .options = sharing(1), .content = {}};
  ASSERT_NO_FATAL_FAILURE(restore_beside(original, copy, /*newer_checkpoint=*/true));
  disk_->restart();
  for (const Copy* each : {&copy, &original, &copy}) {
    LoggedEngine engine(*disk_, each->directory, each->options);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine)) << each->directory;
    engine.wal().stop();
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

// The process died before it had removed what the checkpoint replaced: the backup's own files. An
// absolute name of their directory is as good as a relative one.
TEST_F(SharedCheckpoints, OfABackupGoFromItsDataDirectoryOnceReplaced) {
  for (const std::string name : {"checkpoint", "/copy/checkpoint"}) {
    begin(1);
    Copy original{.directory = "/data", .options = sharing(1), .content = {}};
    Copy copy{.directory = "/copy", .options = sharing(1), .content = {}};
    ASSERT_NO_FATAL_FAILURE(restore_beside(original, copy, true));
    copy.options.checkpoint_directories = {name};
    disk_->restart();
    std::set<std::string> base = files_in("/copy/checkpoint");
    ASSERT_EQ(base.size(), 1u);
    std::string path = "/copy/checkpoint/" + *base.begin();
    std::string content = disk_->content(path);
    {
      LoggedEngine engine(*disk_, "/copy", copy.options);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
      EXPECT_EQ(files_in("/copy/checkpoint"), named_by("/copy", name));
      disk_->cut_power();
    }
    disk_->restart();
    write_test_file(*disk_, path, content);
    ASSERT_NO_FATAL_FAILURE(live(copy, 0));
    EXPECT_EQ(files_in("/copy/checkpoint"), named_by("/copy", name));
    EXPECT_EQ(files_in(shared), named_by("/data"));
  }
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
    ASSERT_NO_FATAL_FAILURE(copy_by_hand(engine));
    ASSERT_NO_FATAL_FAILURE(copy_directory(*disk_, shared, "/copy/checkpoint", random_, [] {}));
    original.content = copy.content = states_.back().content;
    disk_->cut_power();
  }
  for (int life = 0; life < 3; ++life) ASSERT_NO_FATAL_FAILURE(live(copy, 20));
  EXPECT_TRUE(std::ranges::includes(files_in(shared), named_by("/data")));
  ASSERT_NO_FATAL_FAILURE(live(original, 0));
}

// Whatever the name says: they do not lie in the copy's data directory.
TEST_F(SharedCheckpoints, OfTheOriginalStayWhereALinkLeadsToThem) {
  for (const std::string name : {"ck", "up/ck"}) {
    for (bool newer_checkpoint : {false, true}) {
      begin(8);
      ASSERT_TRUE(make_directory(*disk_, "/outer").ok());
      Copy original{.directory = "/data", .options = sharing(1), .content = {}};
      original.options.checkpoint_directories = {"/outer/ck"};
      Copy copy{.directory = "/copy", .options = sharing(1), .content = {}};
      ASSERT_NO_FATAL_FAILURE(restore_beside(original, copy, newer_checkpoint));
      links_ = {{"/copy/ck", "/outer/ck"}, {"/copy/up", "/outer"}};
      copy.options.checkpoint_directories = {name};
      for (int life = 0; life < 2; ++life) ASSERT_NO_FATAL_FAILURE(live(copy, 10)) << name;
      ASSERT_NO_FATAL_FAILURE(live(original, 10)) << name;
    }
  }
}

// As `cp -a` and `tar` copy it.
TEST_F(SharedCheckpoints, OfTheOriginalStayWhereItsOwnLinkIsCopied) {
  begin(9);
  ASSERT_TRUE(make_directory(*disk_, "/outer").ok());
  links_ = {{"/data/checkpoint", "/outer"}, {"/copy/checkpoint", "/outer"}};
  Copy original{.directory = "/data", .options = options(1), .content = {}};
  original.options.checkpoint_directories = {"checkpoint"};
  Copy copy = original;
  copy.directory = "/copy";
  {
    LinkedFiles files(*disk_, links_);
    LoggedEngine engine(files, "/data", original.options);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(copy_by_hand(engine));
    original.content = copy.content = states_.back().content;
    disk_->cut_power();
  }
  for (int life = 0; life < 3; ++life) ASSERT_NO_FATAL_FAILURE(live(copy, 20));
  ASSERT_NO_FATAL_FAILURE(live(original, 10));
}

// The label that the first start has taken tells whose the copied starts are.
TEST_F(SharedCheckpoints, OfTheOriginalStayBehindAVersionThatKnowsNoOwnStarts) {
  for (bool damaged : {false, true}) {
    begin(11);
    Copy original{.directory = "/data", .options = sharing(1), .content = {}};
    Copy copy{.directory = "/copy", .options = sharing(1), .content = {}};
    ASSERT_NO_FATAL_FAILURE(restore_beside(original, copy, true));
    copy.options.checkpoint_directories = {"checkpoint"};
    ASSERT_NO_FATAL_FAILURE(live(copy, 0));
    ControlFile control = control_of("/copy");
    control.own_starts.clear();
    ASSERT_TRUE(write_control_file(*disk_, "/copy", control).ok());
    if (damaged) disk_->corrupt(std::string(label_path) + ".old", 40, "?");
    copy.options.checkpoint_directories = {shared};
    ASSERT_NO_FATAL_FAILURE(live(copy, 10));
    ASSERT_NO_FATAL_FAILURE(live(original, 10));
  }
}

// They may be as large as the database.
TEST_F(SharedCheckpoints, ThatCouldNotBeRemovedAreLater) {
  for (bool unreadable : {false, true}) {
    begin(12);
    StubbornFiles files(*disk_);
    LoggedEngine engine(files, "/data", sharing(1));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(commit(engine));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    const std::string first = *named_by("/data").begin();
    files.refuses = !unreadable;
    if (unreadable) disk_->fail_reads_of(join_path(shared, first));
    ASSERT_NO_FATAL_FAILURE(commit(engine));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    EXPECT_TRUE(files_in(shared).contains(first) && !named_by("/data").contains(first));
    files.refuses = false;
    disk_->fail_reads_of("");
    ASSERT_NO_FATAL_FAILURE(commit(engine));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    EXPECT_EQ(files_in(shared), named_by("/data"));
    disk_->cut_power();
  }
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
