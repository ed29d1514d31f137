// Of which files a checkpoint consists: of several generations, of the format before, of a copy of
// the database that went on for itself, of an encoding that is not known.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/file_simulated.h"
#include "tests/crash/logged_engine.h"
#include "tests/unit/wal/old_checkpoint.h"
#include "wal/checkpoint/checkpointer.h"
#include "wal/layout/control_file.h"

namespace pgsilo {
namespace {

class CheckpointFiles : public ::testing::Test {
 protected:
  WalOptions options() const {
    WalOptions options = LoggedEngine::small_options();
    options.workers = 1;
    options.checkpoint_at_stop = false;
    options.checkpoint_directories = directories_;
    return options;
  }

  void commit(LoggedEngine& engine, const std::vector<WriteOperation>& operations) {
    std::optional<Epoch> epoch = engine.commit(0, operations);
    ASSERT_TRUE(epoch.has_value());
    apply_writes(content_, operations);
    engine.wal().wait_durable(0, *epoch);
    engine.wal().prepare_segments();
  }

  // So many that a relation has several blocks.
  void fill(LoggedEngine& engine, uint32_t relation, char letter) {
    for (int i = 10; i < 60; ++i) {
      std::string key = "key" + std::to_string(i);
      ASSERT_NO_FATAL_FAILURE(commit(engine, {{relation, key, std::string(20'000, letter)}}));
    }
  }

  static void make_checkpoint(LoggedEngine& engine) {
    std::string why;
    ASSERT_TRUE(engine.wal().checkpointer().run_now(CheckpointReason::request, &why)) << why;
  }

  ControlFile read_control() {
    ControlFile control;
    EXPECT_EQ(read_control_file(disk_, "/data", &control), ControlRead::ok);
    return control;
  }
  void write_control(const ControlFile& control) {
    ASSERT_TRUE(write_control_file(disk_, "/data", control).ok());
  }

  static std::string path_of(const ControlFile& control, size_t file) {
    return control.checkpoint.files.at(file).path("/data", control.database);
  }

  CheckpointFooter footer_of(const ControlFile& control, size_t number) {
    const CheckpointFile& file = control.checkpoint.files.at(number);
    std::string content = disk_.content(path_of(control, number));
    std::optional<CheckpointFooter> footer = decode_footer(
        content.substr(file.footer_offset, file.footer_bytes), file.identity(control.database));
    EXPECT_TRUE(footer.has_value());
    return footer.value_or(CheckpointFooter{});
  }

  void write_file(const std::string& path, const std::string& content) {
    static_cast<void>(disk_.remove(path));
    std::unique_ptr<File> file;
    ASSERT_TRUE(disk_.open(path, {.write = true, .create = true}, &file).ok());
    ASSERT_TRUE(content.empty() || file->write_at(content.data(), content.size(), 0).ok());
    ASSERT_TRUE(file->sync_data().ok());
    ASSERT_TRUE(disk_.sync_directory(parent_path(path)).ok());
  }

  std::map<std::string, std::string> all_files() {
    std::map<std::string, std::string> all;
    for (const char* directory : {"/data", "/data/wal", "/data/checkpoint"}) {
      std::vector<std::string> names;
      EXPECT_TRUE(disk_.list(directory, &names).ok());
      for (const std::string& name : names) {
        std::string path = join_path(directory, name);
        if (path != "/data/wal" && path != "/data/checkpoint") all[path] = disk_.content(path);
      }
    }
    return all;
  }

  void expect_content() {
    disk_.restart();
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start()) << engine.why();
    EXPECT_EQ(engine.content(), content_);
    EXPECT_GT(engine.recovered().checkpoint_rows, 0u);
    // What the start has removed stays removed.
    ASSERT_TRUE(disk_.sync_directory("/data/checkpoint").ok());
    disk_.cut_power();
    disk_.restart();
  }

  void expect_refused(const std::string& words) {
    disk_.restart();
    LoggedEngine engine(disk_, "/data", options());
    EXPECT_FALSE(engine.start());
    EXPECT_NE(engine.why().find(words), std::string::npos) << engine.why();
    disk_.cut_power();
    disk_.restart();
  }

  SimulatedFileSystem disk_{3};
  Content content_;
  std::vector<std::string> directories_ = {"checkpoint"};
};

// The ranges of blocks for which `counts` is true.
template <typename Counts>
std::vector<BlockRange> ranges_of(const CheckpointFooter& footer, Counts counts) {
  std::vector<BlockRange> ranges;
  for (uint64_t i = 0; i < footer.blocks.size(); ++i) {
    if (!counts(footer.blocks[i])) continue;
    if (!ranges.empty() && ranges.back().first + ranges.back().count == i) {
      ++ranges.back().count;
    } else {
      ranges.push_back({i, 1});
    }
  }
  return ranges;
}

// Relation 1 does not change between two checkpoints: half of it is taken from the first. Each file
// has blocks besides whose keys the other has, too.
TEST_F(CheckpointFiles, AreOfSeveralGenerations) {
  ControlFile before;
  std::string kept;
  {
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(fill(engine, 1, 'a'));
    ASSERT_NO_FATAL_FAILURE(fill(engine, 2, 'b'));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    before = read_control();
    kept = disk_.content(path_of(before, 0));
    ASSERT_NO_FATAL_FAILURE(fill(engine, 2, 'c'));
    ASSERT_NO_FATAL_FAILURE(commit(engine, {{2, "key33", std::nullopt}}));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    ASSERT_NO_FATAL_FAILURE(commit(engine, {{1, "key44", "behind"}, {2, "key11", std::nullopt}}));
    disk_.cut_power();
  }
  disk_.restart();
  ASSERT_NO_FATAL_FAILURE(write_file(path_of(before, 0), kept));
  ControlFile control = read_control();
  const ControlFile whole = control;
  CheckpointFile old = before.checkpoint.files.at(0);
  auto of_old = [](const CheckpointBlock& block) {
    return block.relation == RelationId(1) && block.first_key < "key30";
  };
  auto of_new = [&](const CheckpointBlock& block) { return !of_old(block); };
  old.taken = ranges_of(footer_of(before, 0), of_old);
  control.checkpoint.files[0].taken = ranges_of(footer_of(control, 0), of_new);
  ASSERT_EQ(old.taken.size(), 1u);
  ASSERT_GT(old.taken[0].count, 1u);
  ASSERT_GT(control.checkpoint.files[0].taken.at(0).first, 0u);
  control.checkpoint.files.push_back(old);
  ASSERT_NO_FATAL_FAILURE(write_control(control));
  // Twice: a start removes what the control file does not name.
  ASSERT_NO_FATAL_FAILURE(expect_content());
  ASSERT_NO_FATAL_FAILURE(expect_content());

  // Keys that two of the blocks have are no checkpoint, nor are blocks that are not there.
  control = read_control();
  ControlFile wrong = control;
  wrong.checkpoint.files[0].taken = whole.checkpoint.files[0].taken;
  ASSERT_NO_FATAL_FAILURE(write_control(wrong));
  ASSERT_NO_FATAL_FAILURE(expect_refused("a checkpoint holds a key twice"));
  wrong = control;
  wrong.checkpoint.files[1].taken.back().count += old.blocks;
  ASSERT_NO_FATAL_FAILURE(write_control(wrong));
  ASSERT_NO_FATAL_FAILURE(expect_refused("has not the blocks that the control file names"));

  // The next one is whole again, and nothing else is kept.
  ASSERT_NO_FATAL_FAILURE(write_control(control));
  {
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    std::vector<std::string> names;
    ASSERT_TRUE(disk_.list("/data/checkpoint", &names).ok());
    EXPECT_EQ(names.size(), 2u);  // the lock is one
    disk_.cut_power();
  }
  ASSERT_NO_FATAL_FAILURE(expect_content());
}

TEST_F(CheckpointFiles, OfVersion1AreLoaded) {
  {
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(fill(engine, 1, 'a'));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    ASSERT_NO_FATAL_FAILURE(commit(engine, {{1, "key44", "behind"}}));
    disk_.cut_power();
  }
  disk_.restart();
  ControlFile control = read_control();
  CheckpointFile& file = control.checkpoint.files.at(0);
  OldCheckpointFile old = in_version_1(footer_of(control, 0), file.identity(control.database),
                                       disk_.content(path_of(control, 0)));
  old.content.replace(file.footer_offset, old.footer.size(), old.footer);
  ASSERT_NO_FATAL_FAILURE(write_file(path_of(control, 0), old.content));
  // As a control file of version 7 is read.
  file.incarnation = {};
  file.footer_bytes = old.footer.size();
  file.footer_checksum = 0;
  file.taken.clear();
  ASSERT_NO_FATAL_FAILURE(write_control(control));
  ASSERT_NO_FATAL_FAILURE(expect_content());
  ASSERT_NO_FATAL_FAILURE(expect_content());
}

// A copy at rest goes on with the same numbers: its file of the same name, and even of the same
// length, does not count here.
TEST_F(CheckpointFiles, OfACopyThatWentOnAreRefused) {
  {
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(fill(engine, 1, 'a'));
    engine.wal().stop();
  }
  disk_.restart();
  std::map<std::string, std::string> at_rest = all_files();
  auto go_on = [&](char letter) {
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(commit(engine, {{1, "key20", std::string(20'000, letter)}}));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    disk_.cut_power();
  };
  // The copy's life first; then the original's, from where both had been.
  ASSERT_NO_FATAL_FAILURE(go_on('b'));
  disk_.restart();
  std::string foreign_path = path_of(read_control(), 0);
  std::string foreign = disk_.content(foreign_path);
  for (const auto& [path, content] : all_files()) ASSERT_TRUE(disk_.remove(path).ok());
  for (const auto& [path, content] : at_rest) ASSERT_NO_FATAL_FAILURE(write_file(path, content));
  ASSERT_NO_FATAL_FAILURE(go_on('c'));
  disk_.restart();
  ControlFile control = read_control();
  std::string own = disk_.content(path_of(control, 0));
  ASSERT_EQ(path_of(control, 0), foreign_path);
  ASSERT_EQ(own.size(), foreign.size());
  ASSERT_NO_FATAL_FAILURE(write_file(foreign_path, foreign));
  ASSERT_NO_FATAL_FAILURE(expect_refused("was written by a copy of this database"));
  ASSERT_NO_FATAL_FAILURE(write_file(foreign_path, foreign.substr(0, foreign.size() - 4096)));
  ASSERT_NO_FATAL_FAILURE(expect_refused("was written by a copy of this database"));
  // It does not hide the right one, whose directory has moved.
  directories_.emplace_back("moved");
  ASSERT_TRUE(disk_.create_directory("/data/moved").ok());
  ASSERT_NO_FATAL_FAILURE(write_file("/data/moved" + foreign_path.substr(16), own));
  ASSERT_NO_FATAL_FAILURE(expect_content());
  // And it stays when the right one, which was to be where it is, has been replaced.
  LoggedEngine engine(disk_, "/data", options());
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
  EXPECT_EQ(disk_.content(foreign_path), foreign.substr(0, foreign.size() - 4096));
}

// It is whole, and of this very file; but another than the control file names. Its hidden row ids
// would be given again.
TEST_F(CheckpointFiles, WithAnotherFooterAreRefused) {
  {
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(fill(engine, 1, 'a'));
    EXPECT_GT(engine.relations().find(RelationId(1))->next_row_id(0), 0u);
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    disk_.cut_power();
  }
  disk_.restart();
  ControlFile control = read_control();
  const CheckpointFile& file = control.checkpoint.files.at(0);
  CheckpointFooter footer = footer_of(control, 0);
  ASSERT_EQ(footer.row_ids.size(), 1u);
  footer.row_ids[0].floor = 1;
  std::string other = encode_footer(footer, file.identity(control.database));
  ASSERT_EQ(other.size(), file.footer_bytes);
  std::string own = disk_.content(path_of(control, 0));
  disk_.corrupt(path_of(control, 0), file.footer_offset, other);
  expect_refused("is damaged at offset " + std::to_string(file.footer_offset));
  ASSERT_NO_FATAL_FAILURE(write_file(path_of(control, 0), own));
  ASSERT_NO_FATAL_FAILURE(expect_content());
}

TEST_F(CheckpointFiles, OfAnUnknownEncodingAreRefused) {
  {
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(commit(engine, {{1, "key", "row"}, {2, "key", "row"}}));
    engine.relations().find(RelationId(2))->set_encoding({.keys = 2, .rows = 3});
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    disk_.cut_power();
  }
  expect_refused("holds relation 2 in encoding 2 of keys and 3 of rows");
}

}  // namespace
}  // namespace pgsilo
