// A log that is shorter, older, emptied or another copy's than what the rest of the database knows
// of: refused, by name; and where that is accepted, told, for good, and gone on from
// (docs/recovery.md).
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "base/file_simulated.h"
#include "tests/crash/logged_engine.h"
#include "wal/checkpoint/checkpointer.h"
#include "wal/layout/log_format.h"
#include "wal/layout/progress_file.h"

namespace pgsilo {
namespace {

class LostLog : public ::testing::Test {
 protected:
  using Files = std::map<std::string, std::string>;

  static WalOptions options(unsigned logs = 1, bool accept = false) {
    WalOptions options = LoggedEngine::small_options();
    options.workers = logs;
    options.log_directories = LoggedEngine::log_directories(logs);
    options.accept_data_loss = accept;
    return options;
  }

  // Durable rows of one worker, each of some kilobytes.
  void commit(LoggedEngine& engine, int count) {
    for (int i = 0; i < count; ++i) {
      std::optional<Epoch> epoch =
          engine.commit(0, {{1, "key" + std::to_string(next_key_++), std::string(9000, 'r')}});
      ASSERT_TRUE(epoch.has_value());
      engine.wal().wait_durable(0, *epoch);
      if (engine.wal().status().logs[0].prepared_segments == 0) engine.wal().prepare_segments();
    }
  }

  // What is done with a database, from a start to the power's end.
  template <typename Work>
  void live(const std::string& directory, const WalOptions& wal, Work work) {
    {
      LoggedEngine engine(disk_, directory, wal);
      bool started = engine.start();
      why_ = engine.why();
      loss_ = engine.recovered().data_loss;
      work(engine, started);
      disk_.cut_power();
    }
    disk_.restart();
  }

  enum class End : uint8_t { busy, quiet, clean };  // quiet: the log's end was marked
  void run(int count, End end = End::busy, unsigned logs = 1,
           const std::string& directory = "/data") {
    live(directory, options(logs), [&](LoggedEngine& engine, bool started) {
      ASSERT_TRUE(started) << why_;
      ASSERT_NO_FATAL_FAILURE(commit(engine, count));
      if (end == End::quiet) engine.wal().prepare_segments();
      if (end == End::clean) engine.wal().stop();
    });
  }
  // A checkpoint, which holds `count` rows, then `more`, which only the log does.
  void run_with_checkpoint(int count, int more) {
    live("/data", options(), [&](LoggedEngine& engine, bool started) {
      ASSERT_TRUE(started) << why_;
      ASSERT_NO_FATAL_FAILURE(commit(engine, count));
      std::string why;
      ASSERT_TRUE(engine.wal().checkpointer().run_now(CheckpointReason::request, &why)) << why;
      ASSERT_NO_FATAL_FAILURE(commit(engine, more));
    });
  }

  // The rows there are; -1: refused.
  int start(unsigned logs = 1, bool accept = false, int more = 0) {
    disk_.fail_reads_of(unreadable_);
    int rows = -1;
    live("/data", options(logs, accept), [&](LoggedEngine& engine, bool started) {
      if (!started) return;
      rows = static_cast<int>(engine.content().size());
      ASSERT_NO_FATAL_FAILURE(commit(engine, more));
    });
    return rows;
  }
  // It is refused with `words`; accepted with `rows` rows, then gone on from and started again
  // without a further word.
  void expect_refused(const std::string& words, int rows, unsigned logs = 1) {
    EXPECT_EQ(start(logs), -1);
    EXPECT_NE(why_.find(words), std::string::npos) << why_;
    EXPECT_NE(why_.find("recovery_accept_data_loss"), std::string::npos) << why_;
    EXPECT_EQ(start(logs, true, 3), rows) << why_;
    EXPECT_NE(loss_.find(words), std::string::npos) << loss_;
    EXPECT_EQ(start(logs), rows + 3) << why_;
    EXPECT_EQ(loss_, "");
  }

  Files save(const std::string& directory) {
    std::vector<std::string> names;
    EXPECT_TRUE(disk_.list(directory, &names).ok());
    Files files;
    for (const std::string& name : names) files[name] = disk_.content(directory + "/" + name);
    return files;
  }
  // The directory holds these files and no other.
  void put(const std::string& directory, const Files& files) {
    static_cast<void>(disk_.create_directory(directory));
    ASSERT_TRUE(disk_.sync_directory(parent_path(directory)).ok());
    for (const auto& [name, content] : save(directory))
      ASSERT_TRUE(disk_.remove(directory + "/" + name).ok());
    for (const auto& [name, content] : files) {
      std::unique_ptr<File> file;
      ASSERT_TRUE(disk_.open(directory + "/" + name, {.write = true, .create = true}, &file).ok());
      ASSERT_TRUE(content.empty() || file->write_at(content.data(), content.size(), 0).ok());
      ASSERT_TRUE(file->sync_data().ok());
    }
    ASSERT_TRUE(disk_.sync_directory(directory).ok());
  }
  // The last segment with a block in it.
  std::string live_segment(const Files& files) {
    std::string live;
    for (const auto& [name, content] : files) {
      if (parse_segment_name(name) && load_magic(content)) live = name;
    }
    return live;
  }
  static bool load_magic(const std::string& content) { return content.substr(8, 4) == "PSLG"; }
  // Where its last block begins.
  static size_t last_block(const std::string& content) {
    size_t last = 0;
    for (size_t at = 0; at + 12 < content.size(); at += log_format::block_unit) {
      if (load_magic(content.substr(at, 12))) last = at;
    }
    return last;
  }
  void damage_live_segment(void (*change)(std::string&)) {
    Files files = save("/data/wal0");
    live_ = live_segment(files);
    change(files[live_]);
    ASSERT_NO_FATAL_FAILURE(put("/data/wal0", files));
  }
  static void empty(std::string& content) { content.clear(); }
  static void zero(std::string& content) { content.assign(content.size(), '\0'); }
  static void cut_between_blocks(std::string& content) { content.resize(last_block(content)); }
  static void lose_last_block(std::string& content) {
    size_t at = last_block(content);
    content.replace(at, content.size() - at, content.size() - at, '\0');
  }

  void zero_second_log() {
    Files files = save("/data/wal1");
    for (auto& [name, content] : files) {
      if (parse_segment_name(name)) zero(content);
    }
    ASSERT_NO_FATAL_FAILURE(put("/data/wal1", files));
  }

  void copy_to(const std::string& directory) {
    Files top = save("/data");
    top.erase("wal0");
    top.erase("checkpoint");
    ASSERT_NO_FATAL_FAILURE(put(directory, top));
    for (const char* inside : {"/wal0", "/checkpoint"})
      ASSERT_NO_FATAL_FAILURE(put(directory + inside, save(std::string("/data") + inside)));
  }

  SimulatedFileSystem disk_{29};
  int next_key_ = 0;
  std::string why_;
  std::string loss_;
  std::string live_;
  std::string unreadable_;  // a path
};

// --- one log, of which a checkpoint holds the beginning ---

TEST_F(LostLog, ASegmentCutToNothing) {
  run_with_checkpoint(3, 5);
  damage_live_segment(empty);
  expect_refused(live_ + "\" has 0 bytes", 3);
}

TEST_F(LostLog, ASegmentCutBetweenTwoBlocks) {
  run_with_checkpoint(3, 5);
  damage_live_segment(cut_between_blocks);
  expect_refused("bytes, instead of 262144: it was cut", 7);
}

TEST_F(LostLog, AZeroedSegment) {
  run_with_checkpoint(3, 5);
  damage_live_segment(zero);
  expect_refused("log \"/data/wal0\" ends too early", 3);
}

TEST_F(LostLog, AnOlderLogBelowANewerCheckpoint) {
  ASSERT_NO_FATAL_FAILURE(run(4));
  Files older = save("/data/wal0");
  run_with_checkpoint(3, 5);
  Files right = save("/data/wal0");
  ASSERT_NO_FATAL_FAILURE(put("/data/wal0", older));
  EXPECT_EQ(start(), -1);
  // One mistaken start makes nothing worse.
  ASSERT_NO_FATAL_FAILURE(put("/data/wal0", right));
  EXPECT_EQ(start(), 12) << why_;
}

// --- without a checkpoint ---

TEST_F(LostLog, AnOlderLogOfTheSameStart) {
  Files older;
  live("/data", options(), [&](LoggedEngine& engine, bool started) {
    ASSERT_TRUE(started) << why_;
    ASSERT_NO_FATAL_FAILURE(commit(engine, 3));
    older = save("/data/wal0");
    ASSERT_NO_FATAL_FAILURE(commit(engine, 60));  // some segments
  });
  ASSERT_NO_FATAL_FAILURE(put("/data/wal0", older));
  expect_refused("log \"/data/wal0/0000000000000001.segment\" ends too early", 3);
}

TEST_F(LostLog, AnOlderLogOfAnEarlierStart) {
  ASSERT_NO_FATAL_FAILURE(run(4, End::clean));
  Files older = save("/data/wal0");
  ASSERT_NO_FATAL_FAILURE(run(5));
  Files right = save("/data/wal0");
  ASSERT_NO_FATAL_FAILURE(put("/data/wal0", older));
  EXPECT_EQ(start(), -1);
  EXPECT_NE(why_.find("log \"/data/wal0\" ends too early"), std::string::npos) << why_;
  ASSERT_NO_FATAL_FAILURE(put("/data/wal0", right));
  EXPECT_EQ(start(), 9) << why_;
}

TEST_F(LostLog, WithTwoTheOneThatNobodyUsed) {
  ASSERT_NO_FATAL_FAILURE(run(4, End::busy, 2));
  ASSERT_NO_FATAL_FAILURE(zero_second_log());
  expect_refused("log \"/data/wal1\" ends too early", 4, 2);
}

// Each start has begun each of its logs, whatever else nobody knows of them.
TEST_F(LostLog, WithTwoTheOneThatNobodyUsedIsToldWithoutMarks) {
  ASSERT_NO_FATAL_FAILURE(run(4, End::busy, 2));
  ASSERT_NO_FATAL_FAILURE(zero_second_log());
  ASSERT_TRUE(disk_.remove(std::string("/data/") + progress_file_name).ok());
  ASSERT_TRUE(disk_.sync_directory("/data").ok());
  EXPECT_EQ(start(2), -1);
  EXPECT_EQ(start(2, /*accept=*/true), 4) << why_;
  EXPECT_NE(loss_.find("how far the logs had got, is missing"), std::string::npos) << loss_;
  EXPECT_NE(loss_.find("log \"/data/wal1\" ends too early"), std::string::npos) << loss_;
}

// The other log, which only one start's first block is in, knows nothing of it.
TEST_F(LostLog, WithTwoAnOlderOne) {
  ASSERT_NO_FATAL_FAILURE(run(4, End::quiet, 2));
  Files older = save("/data/wal0");
  ASSERT_NO_FATAL_FAILURE(run(5, End::busy, 2));
  ASSERT_NO_FATAL_FAILURE(put("/data/wal0", older));
  expect_refused("log \"/data/wal0\" ends too early", 4, 2);
}

// --- what later starts say of it, of which no more is left than how they began ---

class BelowALaterStart : public LostLog {
 protected:
  using Moment = std::array<Files, 2>;  // the data directory's own files, and the log that is used

  Moment look() { return {save("/data"), save("/data/wal0")}; }
  void put_back(const Moment& moment) {
    ASSERT_NO_FATAL_FAILURE(put_small_back(moment));
    ASSERT_NO_FATAL_FAILURE(put("/data/wal0", moment[1]));
  }
  void put_small_back(const Moment& moment) {
    for (const char* name : {"pgsilo.control", progress_file_name}) {
      std::string path = std::string("/data/") + name;
      ASSERT_TRUE(replace_file(disk_, path, moment[0].at(name)).ok());
    }
  }
  // Of the log that is used.
  void lose_last_block_of(const Moment& moment) {
    std::string segment = live_segment(moment[1]);
    const std::string& content = moment[1].at(segment);
    size_t at = last_block(content);
    disk_.corrupt("/data/wal0/" + segment, at, std::string(content.size() - at, '\0'));
  }
  // Three rows, of which it returns the moment, and five more.
  void run_on_from(Moment* moment) {
    live("/data", options(2), [&](LoggedEngine& engine, bool started) {
      ASSERT_TRUE(started) << why_;
      ASSERT_NO_FATAL_FAILURE(commit(engine, 3));
      engine.wal().prepare_segments();
      *moment = look();
      ASSERT_NO_FATAL_FAILURE(commit(engine, 5));
      engine.wal().prepare_segments();
    });
  }
  // A start that came no further than its begin blocks.
  void die(bool accept = false) {
    Moment before = look();
    ASSERT_GE(start(2, accept), 0) << why_;
    ASSERT_NO_FATAL_FAILURE(put_small_back(before));
  }
};

TEST_F(BelowALaterStart, OneThatLoggedNothing) {
  Moment older;
  ASSERT_NO_FATAL_FAILURE(run_on_from(&older));
  ASSERT_NO_FATAL_FAILURE(run(0, End::busy, 2));
  ASSERT_NO_FATAL_FAILURE(put_back(older));
  expect_refused("the logs of start 1 of the server end too early: start 2 of the server", 3, 2);
}

TEST_F(BelowALaterStart, SomeThatLogged) {
  Moment older;
  ASSERT_NO_FATAL_FAILURE(run_on_from(&older));
  ASSERT_NO_FATAL_FAILURE(run(4, End::busy, 2));
  ASSERT_NO_FATAL_FAILURE(run(4, End::clean, 2));
  Moment right = look();
  ASSERT_NO_FATAL_FAILURE(put_back(older));
  EXPECT_EQ(start(2), -1);
  EXPECT_NE(why_.find("start 2 of the server began in \"/data/wal1/"), std::string::npos) << why_;
  // One mistaken start makes nothing worse.
  ASSERT_NO_FATAL_FAILURE(put_back(right));
  EXPECT_EQ(start(2), 16) << why_;
}

TEST_F(BelowALaterStart, WhoDiedFoundWhatIsThere) {
  Moment older;
  ASSERT_NO_FATAL_FAILURE(run_on_from(&older));
  for (int i = 0; i < 3; ++i) ASSERT_NO_FATAL_FAILURE(die());
  EXPECT_EQ(start(2, /*accept=*/false, 2), 8) << why_;
  for (int i = 0; i < 3; ++i) ASSERT_NO_FATAL_FAILURE(die());
  EXPECT_EQ(start(2), 10) << why_;
}

TEST_F(BelowALaterStart, WhoDiedBeforeALossThatIsAccepted) {
  Moment older;
  ASSERT_NO_FATAL_FAILURE(run_on_from(&older));
  Moment right = look();
  ASSERT_NO_FATAL_FAILURE(die());
  lose_last_block_of(right);
  expect_refused("ends too early", 7, 2);
}

// It gave something up, which is not accepted yet.
TEST_F(BelowALaterStart, WhoDiedAcceptingALoss) {
  Moment older;
  ASSERT_NO_FATAL_FAILURE(run_on_from(&older));
  Moment right = look();
  lose_last_block_of(right);
  ASSERT_NO_FATAL_FAILURE(die(/*accept=*/true));
  EXPECT_EQ(start(2), -1);
  ASSERT_NO_FATAL_FAILURE(put_back(right));
  EXPECT_EQ(start(2), 8) << why_;
}

// --- what could not be read ---

// What was accepted is accepted for good, and what is committed afterwards is reached when the disk
// can be read again.
TEST_F(LostLog, AnUnreadableSegmentThatCanBeReadAgain) {
  ASSERT_NO_FATAL_FAILURE(run(4, End::clean));
  for (bool checkpoint : {false, true}) {
    int rows = start();
    if (checkpoint) {
      run_with_checkpoint(0, 5);
    } else {
      ASSERT_NO_FATAL_FAILURE(run(5));
    }
    live_ = live_segment(save("/data/wal0"));
    unreadable_ = "/data/wal0/" + live_;
    EXPECT_EQ(start(), -1);
    EXPECT_EQ(why_.find("Set recovery_accept_data_loss"), std::string::npos) << why_;
    EXPECT_EQ(start(1, true, 6), rows) << why_;
    EXPECT_NE(loss_.find(live_), std::string::npos) << loss_;
    unreadable_ = "";
    EXPECT_EQ(start(), rows + 6) << why_;
    EXPECT_EQ(loss_, "");
  }
}

// --- copies that went on apart ---

TEST_F(LostLog, AnotherCopysSegments) {
  ASSERT_NO_FATAL_FAILURE(run(4, End::clean));
  ASSERT_NO_FATAL_FAILURE(copy_to("/copy"));
  ASSERT_NO_FATAL_FAILURE(run(3));
  Files right = save("/data/wal0");
  ASSERT_NO_FATAL_FAILURE(run(5, End::busy, 1, "/copy"));
  Files others = save("/copy/wal0");
  ASSERT_NO_FATAL_FAILURE(put("/data/wal0", others));
  EXPECT_EQ(start(), -1);
  EXPECT_NE(why_.find("was written by another copy of this database"), std::string::npos) << why_;
  ASSERT_NO_FATAL_FAILURE(put("/data/wal0", right));
  EXPECT_EQ(start(), 7) << why_;
}

TEST_F(LostLog, AnotherCopysMarks) {
  ASSERT_NO_FATAL_FAILURE(run(4, End::clean));
  ASSERT_NO_FATAL_FAILURE(copy_to("/copy"));
  ASSERT_NO_FATAL_FAILURE(run(3, End::quiet));
  ASSERT_NO_FATAL_FAILURE(run(5, End::quiet, 1, "/copy"));
  std::string others = disk_.content(std::string("/copy/") + progress_file_name);
  ASSERT_TRUE(replace_file(disk_, std::string("/data/") + progress_file_name, others).ok());
  expect_refused("in another copy of this database", 7);
}

// The control file of before the last start, with all else of after it.
TEST_F(LostLog, AnOlderControlFile) {
  ASSERT_NO_FATAL_FAILURE(run(4, End::quiet));
  std::string older = disk_.content("/data/pgsilo.control");
  ASSERT_NO_FATAL_FAILURE(run(3, End::quiet));
  ASSERT_TRUE(replace_file(disk_, "/data/pgsilo.control", older).ok());
  expect_refused("of which the control file knows nothing", 4);
}

// --- marks of progress ---

TEST_F(LostLog, TheLastBatchIsMissedOnceThereWasAQuietMoment) {
  ASSERT_NO_FATAL_FAILURE(run(5, End::quiet));
  damage_live_segment(lose_last_block);
  expect_refused("ends too early", 4);
}

// It could be one that was torn while it was written.
TEST_F(LostLog, TheLastBatchIsNotMissedBefore) {
  ASSERT_NO_FATAL_FAILURE(run(5, End::busy));
  damage_live_segment(lose_last_block);
  EXPECT_EQ(start(), 4) << why_;
}

TEST_F(LostLog, MarksThatAreMissingOrDamaged) {
  std::string path = std::string("/data/") + progress_file_name;
  ASSERT_NO_FATAL_FAILURE(run(4, End::quiet));
  disk_.corrupt(path, 100, "?");
  EXPECT_EQ(start(), 4) << why_;  // one of them, as a write that was cut short leaves it
  ASSERT_NO_FATAL_FAILURE(run(3, End::quiet));
  disk_.corrupt(path, 100, "?");
  disk_.corrupt(path, log_format::block_unit + 100, "?");
  expect_refused("which says how far the logs had got, is damaged", 7);
  ASSERT_TRUE(disk_.remove(path).ok());
  ASSERT_TRUE(disk_.sync_directory("/data").ok());
  expect_refused("which says how far the logs had got, is missing", 10);
}

// --- starts that came no further ---

// Wherever a start is cut, the next one finds what was there, and none uses up the disk.
TEST_F(LostLog, StartsThatAreCutShortLeaveNothingBehind) {
  ASSERT_NO_FATAL_FAILURE(run(4, End::busy, 2));
  size_t before = save("/data/wal0").size();
  int cut = 0;
  bool started = false;
  for (uint64_t step = 1; !started; ++step) {
    disk_.cut_power_at(disk_.steps() + step);
    try {
      LoggedEngine engine(disk_, "/data", options(2));
      started = engine.start();
      ASSERT_TRUE(started) << engine.why();
      disk_.cut_power();
    } catch (const SimulatedPowerCut&) {
      ++cut;
    }
    disk_.restart();
  }
  EXPECT_GT(cut, 10);
  EXPECT_EQ(start(2, false, 2), 4) << why_;
  EXPECT_EQ(start(2), 6) << why_;
  EXPECT_LE(save("/data/wal0").size(), before + 4);
}

TEST_F(LostLog, StartsWithoutWorkUseNoSegments) {
  ASSERT_NO_FATAL_FAILURE(run(4, End::clean));
  ASSERT_NO_FATAL_FAILURE(run(0, End::clean));
  size_t files = save("/data/wal0").size();
  for (int i = 0; i < 5; ++i) ASSERT_NO_FATAL_FAILURE(run(0, End::clean));
  for (int i = 0; i < 5; ++i) ASSERT_NO_FATAL_FAILURE(run(0));
  EXPECT_EQ(save("/data/wal0").size(), files);
  EXPECT_EQ(start(), 4) << why_;
}

}  // namespace
}  // namespace pgsilo
