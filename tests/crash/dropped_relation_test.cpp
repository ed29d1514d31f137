// Recovery restores the catalog's relations first, and of the others only those that its rows name:
// what was dropped, or never committed, takes no memory, and its id is never given out again.
#include <gtest/gtest.h>

#include "base/file_simulated.h"
#include "tests/crash/logged_database.h"
#include "tests/crash/verified.h"
#include "wal/checkpoint/checkpointer.h"
#include "wal/layout/control_file.h"
#include "wal/recovery/opened_checkpoint.h"

namespace pgsilo {
namespace {

class DroppedRelation : public ::testing::Test {
 protected:
  struct Tables {
    RelationId gone;
    RelationId kept;
  };

  static RelationId relation_of(LoggedDatabase& database, const std::string& table) {
    std::string file =
        database.session(0).run("SELECT relfilenode FROM pg_class WHERE relname = '" + table + "'");
    return RelationId(static_cast<uint32_t>(std::stoul(file)));
  }

  static std::string rows_of(LoggedDatabase& database, const std::string& table) {
    return database.session(0).run("SELECT count(*), sum(length(b)) FROM " + table);
  }

  static void fill(LoggedDatabase& database, const std::string& table) {
    testing::SqlSession& session = database.session(0);
    ASSERT_EQ(session.run("CREATE TABLE " + table + " (a int PRIMARY KEY, b text)"),
              "CREATE TABLE");
    ASSERT_EQ(session.run("INSERT INTO " + table +
                          " SELECT i, repeat('x', 100) FROM generate_series(1, 500) i"),
              "INSERT 0 500");
  }

  static void make_durable(LoggedDatabase& database) {
    LoggedEngine& engine = database.engine();
    engine.wal().wait_durable(0, engine.epochs().current());
    engine.wal().prepare_segments();
  }

  static void make_checkpoint(LoggedDatabase& database) {
    std::string why;
    ASSERT_TRUE(database.engine().wal().checkpointer().run_now(CheckpointReason::request, &why))
        << why;
  }

  // What a new catalog logs must find room before there is anybody who prepares more.
  LoggedDatabase start() {
    WalOptions options = LoggedEngine::small_options();
    options.segment_bytes = size_t{1} << 20;
    return LoggedDatabase(disk_, "/data", options);
  }

  void cut_power() {
    disk_.cut_power();
    disk_.restart();
  }

  // Two tables, the first of which is dropped after a checkpoint, or without one.
  void drop_one(bool checkpoint, Tables* tables) {
    LoggedDatabase database = start();
    ASSERT_TRUE(database.start()) << database.why();
    ASSERT_NO_FATAL_FAILURE(fill(database, "kept"));
    ASSERT_NO_FATAL_FAILURE(fill(database, "gone"));
    *tables = {relation_of(database, "gone"), relation_of(database, "kept")};
    if (checkpoint) {
      ASSERT_NO_FATAL_FAILURE(make_checkpoint(database));
    }
    ASSERT_EQ(database.session(0).run("DROP TABLE gone"), "DROP TABLE");
    make_durable(database);
    cut_power();
  }

  void expect_one_left(const Tables& tables, uint64_t rows_in_checkpoint) {
    LoggedDatabase database = start();
    ASSERT_TRUE(database.start()) << database.why();
    RelationDirectory& relations = database.engine().relations();
    EXPECT_EQ(relations.find(tables.gone), nullptr);
    EXPECT_EQ(relations.dropped_count(), 0u);  // it was never there
    EXPECT_GE(relations.id_floor(), tables.gone);
    EXPECT_EQ(rows_of(database, "kept"), "500|50000");
    EXPECT_EQ(database.disagreement(), "");
    EXPECT_EQ(database.engine().recovered().checkpoint_rows, rows_in_checkpoint);
  }

  std::vector<OpenedCheckpointFile> open_files() {
    ControlFile control;
    EXPECT_EQ(read_control_file(disk_, "/data", &control), ControlRead::ok);
    std::vector<OpenedCheckpointFile> opened;
    std::string why;
    EXPECT_TRUE(open_checkpoint(disk_, "/data", {"checkpoint"}, control.database,
                                control.checkpoint, &opened, /*lost=*/nullptr, &why))
        << why;
    return opened;
  }

  // What a start should load: the catalog's rows and those of the tables that are left.
  uint64_t rows_in_checkpoint_without(RelationId relation) {
    uint64_t rows = 0;
    for (const OpenedCheckpointFile& file : open_files()) {
      for (const CheckpointBlock& block : file.footer.blocks) {
        if (block.relation != relation) rows += block.records;
      }
    }
    EXPECT_GT(rows, 500u);
    return rows;
  }

  // A byte of each of its blocks in the checkpoint.
  void damage(RelationId relation) {
    int damaged = 0;
    for (const OpenedCheckpointFile& file : open_files()) {
      for (const CheckpointBlock& block : file.footer.blocks) {
        if (block.relation != relation) continue;
        disk_.corrupt(file.path, block.offset + checkpoint_format::block_header_bytes + 5, "?!");
        ++damaged;
      }
    }
    ASSERT_GT(damaged, 0);
  }

  static std::vector<RelationId> live_in(RelationDirectory& relations, Reclaimer& reclaimer) {
    ReclaimerHandle handle(reclaimer);
    Catalog catalog(relations);
    catalog.create_system_relations();
    return catalog.live_relations(handle);
  }
  Verified verify_all() { return verify(disk_, {"wal"}, {"checkpoint"}, live_in); }

  SimulatedFileSystem disk_{11};
};

TEST_F(DroppedRelation, IsNotRestoredFromTheLog) {
  Tables tables;
  ASSERT_NO_FATAL_FAILURE(drop_one(false, &tables));
  expect_one_left(tables, 0);
}

TEST_F(DroppedRelation, IsNotRestoredFromACheckpoint) {
  Tables tables;
  ASSERT_NO_FATAL_FAILURE(drop_one(true, &tables));
  expect_one_left(tables, rows_in_checkpoint_without(tables.gone));
}

// Nor are its blocks missed, by a start or by who tells what one would do.
TEST_F(DroppedRelation, IsNotReadFromACheckpoint) {
  Tables tables;
  ASSERT_NO_FATAL_FAILURE(drop_one(true, &tables));
  ASSERT_NO_FATAL_FAILURE(damage(tables.gone));
  Verified verified = verify_all();
  EXPECT_EQ(verified.verdict, Verdict::sound) << verified.why;
  EXPECT_EQ(verified.text.find("DAMAGED"), std::string::npos) << verified.text;
  expect_one_left(tables, rows_in_checkpoint_without(tables.gone));
}

TEST_F(DroppedRelation, DamageOfOthersIsTold) {
  Tables tables;
  ASSERT_NO_FATAL_FAILURE(drop_one(true, &tables));
  ASSERT_NO_FATAL_FAILURE(damage(tables.gone));
  ASSERT_NO_FATAL_FAILURE(damage(tables.kept));
  Verified verified = verify_all();
  EXPECT_EQ(verified.verdict, Verdict::damaged);
  EXPECT_NE(verified.text.find("with 500 rows, which"), std::string::npos) << verified.text;
  LoggedDatabase database = start();
  ASSERT_FALSE(database.start());
  EXPECT_EQ(verified.why, database.why());
}

// Catalog rows that fit into no block are found among the pieces of long records.
TEST_F(DroppedRelation, LongCatalogRowsComeFirstToo) {
  std::string text(200'000, 'd');
  {
    LoggedDatabase database = start();
    ASSERT_TRUE(database.start()) << database.why();
    ASSERT_EQ(database.session(0).run("CREATE TABLE long_default (a int PRIMARY KEY, b text "
                                      "DEFAULT '" +
                                      text + "')"),
              "CREATE TABLE");
    ASSERT_EQ(database.session(0).run("INSERT INTO long_default VALUES (1)"), "INSERT 0 1");
    make_durable(database);
    cut_power();
  }
  LoggedDatabase database = start();
  ASSERT_TRUE(database.start()) << database.why();
  ASSERT_EQ(database.session(0).run("INSERT INTO long_default VALUES (2)"), "INSERT 0 1");
  EXPECT_EQ(rows_of(database, "long_default"), "2|400000");
}

}  // namespace
}  // namespace pgsilo
