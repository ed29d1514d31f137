// Copies of a database whose logs have the same identities: none goes on in another one's, be it
// at its first start or at a later one, when nothing of the logs is needed any more.
#include "tests/crash/backup_bed.h"
#include "tests/crash/nameless_bed.h"
#include "wal/layout/control_file.h"
#include "wal/layout/copy_mark.h"
#include "wal/layout/log_directory.h"

namespace pgsilo {
namespace {

// Of a used backup label there is no telling whether it is there.
class UnreadableLabel final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    if (path.ends_with(used_label_name)) return {FileStatus::failed, EIO};
    return files_.open(path, flags, file);
  }
};

class CopiesLogs : public BackupTest {
 protected:
  // /copy is restored of a backup of /data, which has gone on since, in log directories elsewhere.
  void restore_beside(uint64_t seed) {
    begin(seed);
    server_ = copy_ = options(2);
    server_.log_directories = {"/server0", "/server1"};
    LoggedEngine engine(*disk_, "/data", server_);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 20));
    Backup backup(engine.wal().checkpointer(), "test");
    stop(engine, backup);
    copied_ = states_.back().content;
    BackupLabel label;
    ASSERT_TRUE(read_backup_label(backup.label_file(), &label, &why_)) << why_;
    BackupSource running{.data_directory = "/data",
                         .log_directories = server_.log_directories,
                         .checkpoint_directories = {}};
    BackupCopyReport report;
    ASSERT_TRUE(copy_backup(*disk_, running, label, "/copy", &report, &why_)) << why_;
    copy_.log_directories = report.log_directories;
    ASSERT_NO_FATAL_FAILURE(work(engine, 20));
    servers_ = states_.back().content;
    if (random_.one_in(2)) engine.wal().stop();
    disk_->cut_power();
  }

  // Its state is found, and goes on. Of one that ends cleanly no log is needed any more.
  void live(const std::string& directory, const WalOptions& used, Content& content,
            bool cleanly = true) {
    disk_->restart();
    {
      LoggedEngine engine(*disk_, directory, used);
      ASSERT_TRUE(engine.start()) << directory << ": " << engine.why();
      ASSERT_EQ(engine.content(), content) << directory;
      states_.assign(1, {.epoch = {}, .content = content, .acknowledged_us = 0});
      ASSERT_NO_FATAL_FAILURE(commit(engine));
      content = states_.back().content;
      for (int turn = 0; turn < 2; ++turn) ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
      if (cleanly) engine.wal().stop();
      disk_->cut_power();
    }
    disk_->restart();
  }

  void expect_refused(const std::string& directory, const WalOptions& used,
                      const std::string& named) {
    disk_->restart();
    LoggedEngine engine(*disk_, directory, used);
    EXPECT_FALSE(engine.start()) << named;
    EXPECT_NE(engine.why().find("log directory \"" + named + "\" is another copy's"),
              std::string::npos)
        << engine.why();
  }

  void forget(const std::string& data, const std::vector<std::string>& marked) {
    ControlFile control;
    ASSERT_EQ(read_control_file(*disk_, data, &control), ControlRead::ok);
    control.own_starts.clear();
    ASSERT_TRUE(write_control_file(*disk_, data, control).ok());
    for (const std::string& directory : marked) {
      std::string marked_one = directory.empty() ? data : join_path(data, directory);
      ASSERT_TRUE(disk_->remove(join_path(marked_one, copy_mark_name)).ok()) << marked_one;
      ASSERT_TRUE(disk_->sync_directory(marked_one).ok()) << marked_one;
    }
  }

  // As an earlier version leaves the copy that marks none, but tells its own starts: of which the
  // copied ones are not any more, if there were many.
  void forget_marks_and_copied_starts() {
    ControlFile control;
    ASSERT_EQ(read_control_file(*disk_, "/copy", &control), ControlRead::ok);
    std::erase_if(control.own_starts, [](const OwnStart& start) { return start.copied; });
    ASSERT_FALSE(control.own_starts.empty());
    ASSERT_TRUE(write_control_file(*disk_, "/copy", control).ok());
    for (const std::string directory : {"/copy", "/copy/wal", "/copy/wal2"})
      ASSERT_TRUE(disk_->remove(join_path(directory, copy_mark_name)).ok());
  }

  void die_before_it_is_named(const std::string& directory, const WalOptions& used) {
    disk_->restart();
    {
      NamelessFiles files(*disk_);
      LoggedEngine engine(files, directory, used);
      ASSERT_FALSE(engine.start());
      EXPECT_NE(engine.why().find("could not write control file"), std::string::npos)
          << engine.why();
      disk_->cut_power();
    }
    disk_->restart();
  }

  // As a start leaves a log directory that dies between preparing its segments and writing there.
  void empty_segments(const std::string& log) {
    std::vector<std::string> names;
    ASSERT_TRUE(disk_->list(log, &names).ok());
    for (const std::string& name : names) {
      if (!parse_segment_name(name)) continue;
      std::string path = join_path(log, name);
      write_test_file(*disk_, path, std::string(disk_->content(path).size(), '\0'));
    }
  }

  // What it is told to do makes them the copy's own.
  void follow_hint(const std::string& from, const std::string& to) {
    LoggedEngine engine(*disk_, "/copy", copy_);
    EXPECT_FALSE(engine.start());
    std::string hint = "copy \"" + join_path(from, copy_mark_name) + "\" into \"" + to + "\"";
    EXPECT_NE(engine.why().find(hint), std::string::npos) << engine.why();
    write_test_file(*disk_, join_path(to, copy_mark_name),
                    disk_->content(join_path(from, copy_mark_name)));
  }

  static WalOptions with(WalOptions used, const std::vector<std::string>& logs) {
    used.log_directories = logs;
    return used;
  }

  WalOptions server_;
  WalOptions copy_;
  Content servers_;
  Content copied_;
};

TEST_F(CopiesLogs, OfTheServerAreRefusedToEachStartOfARestoredBackup) {
  for (uint64_t round = 0; round < 12; ++round) {
    ASSERT_NO_FATAL_FAILURE(restore_beside(round));
    bool cleanly = round % 2 == 0;
    for (uint64_t life = 0; life <= round % 3; ++life)
      ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_, cleanly));
    const std::string own = copy_.log_directories.front();
    expect_refused("/copy", with(copy_, {"/server0", "/server1"}), "/server0");
    expect_refused("/copy", with(copy_, {own, "/server1"}), "/server1");
    if (cleanly) expect_refused("/copy", with(copy_, {"/server1"}), "/server1");
    ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
    ASSERT_NO_FATAL_FAILURE(live("/data", server_, servers_));
  }
}

TEST_F(CopiesLogs, OfARestoredBackupAreRefusedToTheServer) {
  ASSERT_NO_FATAL_FAILURE(restore_beside(1));
  ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
  for (int life = 0; life < 3; ++life) ASSERT_NO_FATAL_FAILURE(live("/data", server_, servers_));
  expect_refused("/data", with(server_, {"/copy/wal", "/copy/wal2"}), "/copy/wal");
  ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
}

TEST_F(CopiesLogs, OfARestoredBackupMoveComeAndGo) {
  ASSERT_NO_FATAL_FAILURE(restore_beside(2));
  ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
  ASSERT_NO_FATAL_FAILURE(copy_directory(*disk_, "/copy/wal", "/moved", random_, [] {}));
  for (const std::vector<std::string>& logs :
       std::vector<std::vector<std::string>>{{"/moved", "wal2"},
                                             {"/moved"},
                                             {"/moved", "new"},
                                             {"new", "wal2"},
                                             {"wal2", "/moved", "new"}})
    ASSERT_NO_FATAL_FAILURE(live("/copy", with(copy_, logs), copied_)) << logs.size();
}

// It drops what the control file says of whose the starts are, and marks no directory that it
// makes.
TEST_F(CopiesLogs, AreKnownBehindAVersionThatKnowsNoCopies) {
  ASSERT_NO_FATAL_FAILURE(restore_beside(3));
  ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
  const WalOptions more = with(copy_, {"wal", "wal2", "new"});
  ASSERT_NO_FATAL_FAILURE(live("/copy", more, copied_));
  ASSERT_NO_FATAL_FAILURE(forget("/copy", {"new"}));
  expect_refused("/copy", with(copy_, {"/server0", "/server1"}), "/server0");
  ASSERT_NO_FATAL_FAILURE(live("/copy", more, copied_));
  expect_refused("/copy", with(copy_, {"/server0", "/server1"}), "/server0");
  ASSERT_NO_FATAL_FAILURE(live("/copy", more, copied_));
}

// A version has restored it that knows no copies. Its first start by one that does may name the
// server's.
TEST_F(CopiesLogs, AreMarkedByTheFirstVersionThatCan) {
  for (bool tells_starts : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(restore_beside(4));
    ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
    if (tells_starts) {
      ASSERT_NO_FATAL_FAILURE(forget_marks_and_copied_starts());
    } else {
      ASSERT_NO_FATAL_FAILURE(forget("/copy", {"", "wal", "wal2"}));
    }
    expect_refused("/copy", with(copy_, {"/server0", "/server1"}), "/server0");
    expect_refused("/copy", with(copy_, {"wal", "/server1"}), "/server1");
    ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
    expect_refused("/copy", with(copy_, {"/server0", "/server1"}), "/server0");
    ASSERT_NO_FATAL_FAILURE(live("/data", server_, servers_));
  }
}

// They do not lie where restore puts them, nor do they say anything: what was written in them last
// tells.
TEST_F(CopiesLogs, ElsewhereAreMarkedByTheFirstVersionThatCan) {
  ASSERT_NO_FATAL_FAILURE(restore_beside(5));
  ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
  ASSERT_NO_FATAL_FAILURE(forget("/copy", {"", "wal", "wal2"}));
  for (const std::string name : {"wal", "wal2"}) {
    ASSERT_NO_FATAL_FAILURE(
        copy_directory(*disk_, join_path("/copy", name), "/far/" + name, random_, [] {}));
    ASSERT_TRUE(disk_->remove(join_path("/copy/" + name, log_identity_name)).ok());
  }
  expect_refused("/copy", with(copy_, {"/server0", "/server1"}), "/server0");
  ASSERT_NO_FATAL_FAILURE(live("/copy", with(copy_, {"/far/wal", "/far/wal2"}), copied_));
  expect_refused("/copy", with(copy_, {"/server0", "/server1"}), "/server0");
}

// Its last start was cut short before the control file named it, or before it wrote to a log
// directory of its own.
TEST_F(CopiesLogs, ElsewhereAreMarkedBehindAStartThatWasCutShort) {
  ASSERT_NO_FATAL_FAILURE(restore_beside(10));
  ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
  for (const std::string name : {"wal", "wal2"})
    ASSERT_NO_FATAL_FAILURE(
        copy_directory(*disk_, join_path("/copy", name), "/far/" + name, random_, [] {}));
  const WalOptions far = with(copy_, {"/far/wal", "/far/wal2", "/far/new"});
  ASSERT_NO_FATAL_FAILURE(live("/copy", with(copy_, {"/far/wal", "/far/wal2"}), copied_));
  ASSERT_NO_FATAL_FAILURE(die_before_it_is_named("/copy", far));
  ASSERT_NO_FATAL_FAILURE(empty_segments("/far/new"));
  ASSERT_NO_FATAL_FAILURE(forget("/copy", {"", "/far/wal", "/far/wal2", "/far/new"}));
  expect_refused("/copy", with(copy_, {"/server0", "/server1"}), "/server0");
  for (int start = 0; start < 2; ++start)
    ASSERT_NO_FATAL_FAILURE(live("/copy", far, copied_)) << start;
}

// The power failed while it wrote its begin block.
TEST_F(CopiesLogs, ElsewhereAreMarkedBehindABeginThatIsTorn) {
  ASSERT_NO_FATAL_FAILURE(restore_beside(12));
  ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
  for (const std::string name : {"wal", "wal2"})
    ASSERT_NO_FATAL_FAILURE(
        copy_directory(*disk_, join_path("/copy", name), "/far/" + name, random_, [] {}));
  const WalOptions far = with(copy_, {"/far/wal", "/far/wal2"});
  ASSERT_NO_FATAL_FAILURE(live("/copy", far, copied_));
  ASSERT_NO_FATAL_FAILURE(die_before_it_is_named("/copy", far));
  std::vector<std::string> names;
  ASSERT_TRUE(disk_->list("/far/wal", &names).ok());
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".segment"); });
  disk_->corrupt(join_path("/far/wal", *std::ranges::max_element(names)), 100, "?");
  ASSERT_NO_FATAL_FAILURE(forget("/copy", {"", "/far/wal", "/far/wal2"}));
  ASSERT_NO_FATAL_FAILURE(live("/copy", far, copied_));
}

// Only an earlier version has had the copy. The server has had more starts since than it.
TEST_F(CopiesLogs, WithoutAMarkAreRefusedToTheServer) {
  for (bool cleanly : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(restore_beside(11));
    for (int life = 0; life < 2; ++life)
      ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_, cleanly));
    ASSERT_NO_FATAL_FAILURE(forget("/copy", {"", "wal", "wal2"}));
    for (int life = 0; life < 6; ++life) {
      if (life >= 4) {
        ASSERT_NO_FATAL_FAILURE(die_before_it_is_named("/data", server_));
      }
      ASSERT_NO_FATAL_FAILURE(live("/data", server_, servers_));
      for (bool losing : {false, true}) {
        WalOptions used = server_;
        used.skip_damaged_blocks = losing;
        expect_refused("/data", with(used, {"/copy/wal", "/copy/wal2"}), "/copy/wal");
        expect_refused("/data", with(used, {"/server0", "/copy/wal2"}), "/copy/wal2");
      }
    }
    ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
  }
}

// Whichever starts the list has yet, and whichever have died before they were in it.
TEST_F(CopiesLogs, OfTheServerAreNotTakenForAnothers) {
  ASSERT_NO_FATAL_FAILURE(restore_beside(12));
  const std::vector<std::vector<std::string>> sets = {
      {"/server0", "/server1", "/new"}, {"/server0", "/server1"}, {"/server0"}, {"/server1"}};
  bool needs_none = false;
  for (uint64_t round = 0; round < 90; ++round) {
    const WalOptions used = with(server_, sets[needs_none ? random_.below(sets.size()) : 0]);
    disk_->restart();
    if (round == 8) {
      ASSERT_NO_FATAL_FAILURE(forget("/data", {}));
    }
    for (uint64_t deaths = random_.below(3); deaths > 0; --deaths)
      ASSERT_NO_FATAL_FAILURE(die_before_it_is_named("/data", used)) << round;
    needs_none = random_.one_in(2);
    ASSERT_NO_FATAL_FAILURE(live("/data", used, servers_, needs_none)) << round;
    if (random_.one_in(2)) continue;
    LoggedEngine idle(*disk_, "/data", with(server_, sets[0]));
    ASSERT_TRUE(idle.start()) << round << ": " << idle.why();
    if (needs_none) idle.wal().stop();
    needs_none = false;
    disk_->cut_power();
  }
}

// The server had a version last that knows no copies.
TEST_F(CopiesLogs, WithAMarkAreRefusedToAServerOfAnotherVersion) {
  ASSERT_NO_FATAL_FAILURE(restore_beside(6));
  ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
  ASSERT_NO_FATAL_FAILURE(live("/data", server_, servers_));
  ASSERT_NO_FATAL_FAILURE(forget("/data", {}));
  expect_refused("/data", with(server_, {"/copy/wal", "/copy/wal2"}), "/copy/wal");
  ASSERT_NO_FATAL_FAILURE(live("/data", server_, servers_));
  ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
}

// A start was cut short between the marks, or the data directory has lost its own, when the starts
// of the backup are long forgotten.
TEST_F(CopiesLogs, TellWhichCopyItIs) {
  ASSERT_NO_FATAL_FAILURE(restore_beside(7));
  ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
  for (const std::string lost : {"/copy", "/copy/wal2"}) {
    ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
    const std::string mark = disk_->content(join_path("/copy/wal", copy_mark_name));
    ASSERT_NO_FATAL_FAILURE(forget_marks_and_copied_starts());
    write_test_file(*disk_, join_path("/copy/wal", copy_mark_name), mark);
    if (lost == "/copy") write_test_file(*disk_, join_path("/copy/wal2", copy_mark_name), mark);
    ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_)) << lost;
    for (const std::string marked : {"/copy", "/copy/wal2"})
      EXPECT_EQ(disk_->content(join_path(marked, copy_mark_name)), mark) << lost;
    expect_refused("/copy", with(copy_, {"/server0", "/server1"}), "/server0");
  }
}

// By a first start that was cut short, before the next one, without that directory, made up
// another.
TEST_F(CopiesLogs, ThatNobodyHasWrittenToAreTaken) {
  ASSERT_NO_FATAL_FAILURE(restore_beside(9));
  const WalOptions more = with(copy_, {"/copy/wal", "/copy/wal2", "/new"});
  ASSERT_NO_FATAL_FAILURE(live("/copy", more, copied_));
  ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
  std::vector<std::string> names;
  ASSERT_TRUE(disk_->list("/new", &names).ok());
  for (const std::string& name : names) {
    if (!name.ends_with(".segment")) continue;
    ASSERT_TRUE(disk_->remove(join_path("/new", name)).ok());
  }
  ASSERT_TRUE(write_copy_mark(*disk_, "/new", Uuid::generate()).ok());
  expect_refused("/data", with(server_, {"/server0", "/server1", "/new"}), "/new");
  for (int start = 0; start < 2; ++start)
    ASSERT_NO_FATAL_FAILURE(live("/copy", more, copied_)) << start;
}

// One failed read would make it a copy for good.
TEST_F(CopiesLogs, OfAServerAreNotMarkedForALabelThatCannotBeRead) {
  ASSERT_NO_FATAL_FAILURE(restore_beside(14));
  disk_->restart();
  {
    UnreadableLabel files(*disk_);
    LoggedEngine engine(files, "/data", server_);
    EXPECT_FALSE(engine.start());
    EXPECT_NE(engine.why().find("could not read file \"/data/backup_label.old\""),
              std::string::npos)
        << engine.why();
  }
  ASSERT_NO_FATAL_FAILURE(live("/data", server_, servers_));
  for (const std::string directory : {"/data", "/server0", "/server1"}) {
    Uuid marked;
    EXPECT_TRUE(read_copy_mark(*disk_, directory, &marked, &why_)) << why_;
    EXPECT_EQ(marked, Uuid{}) << directory;
  }
}

TEST_F(CopiesLogs, WithADamagedMarkGetAnotherOnes) {
  ASSERT_NO_FATAL_FAILURE(restore_beside(13));
  ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
  for (const std::string damaged : {"/copy", "/copy/wal2"}) {
    write_test_file(*disk_, join_path(damaged, copy_mark_name), "no mark");
    EXPECT_FALSE(start_copy(copy_));
    EXPECT_NE(why_.find("\" is damaged\nHINT:  "), std::string::npos) << why_;
    write_test_file(*disk_, join_path(damaged, copy_mark_name),
                    disk_->content(join_path("/copy/wal", copy_mark_name)));
    ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_)) << damaged;
  }
}

// One was out when the others were marked, say.
TEST_F(CopiesLogs, ThatAreRefusedCanBeMadeItsOwn) {
  ASSERT_NO_FATAL_FAILURE(restore_beside(8));
  ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
  ASSERT_TRUE(disk_->remove(join_path("/copy/wal2", copy_mark_name)).ok());
  ASSERT_NO_FATAL_FAILURE(follow_hint("/copy", "/copy/wal2"));
  ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
  // Nothing tells any more that this is a copy.
  ASSERT_TRUE(disk_->remove(std::string(label_path) + ".old").ok());
  const std::string mark = disk_->content(join_path("/copy/wal", copy_mark_name));
  ASSERT_NO_FATAL_FAILURE(forget_marks_and_copied_starts());
  write_test_file(*disk_, join_path("/copy/wal", copy_mark_name), mark);
  write_test_file(*disk_, join_path("/copy/wal2", copy_mark_name), mark);
  ASSERT_NO_FATAL_FAILURE(follow_hint("/copy/wal", "/copy"));
  ASSERT_NO_FATAL_FAILURE(live("/copy", copy_, copied_));
}

}  // namespace
}  // namespace pgsilo
