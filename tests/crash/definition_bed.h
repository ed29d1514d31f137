// What is defined in SQL, after starts: lives of one database, each of which ends with a power cut.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/file_simulated.h"
#include "executor/catalog_names.h"
#include "tests/crash/logged_database.h"
#include "wal/checkpoint/checkpointer.h"

namespace pgsilo {

class DefinitionBed : public ::testing::Test {
 protected:
  // Runs what the database is asked to between a start and a power cut.
  template <typename F>
  void live(F&& run) {
    {
      WalOptions options = LoggedEngine::small_options();
      options.segment_bytes = size_t{1} << 20;
      LoggedDatabase database(disk_, "/data", options);
      ASSERT_TRUE(database.start()) << database.why();
      testing::SqlSession& session = database.session(0);
      CatalogNames names(session.view, session.transaction);
      names.set_session(session.context);
      session.context.types.object_names = &names;
      run(database, session);
      EXPECT_EQ(database.disagreement(), "");
      session.context.types.object_names = nullptr;
      LoggedEngine& engine = database.engine();
      engine.wal().wait_durable(0, engine.epochs().current());
      engine.wal().prepare_segments();
    }
    disk_.cut_power();
    disk_.restart();
  }

  // What is defined is expected then, behind a start from the log, and behind one from a
  // checkpoint.
  void live_thrice(void (*define)(testing::SqlSession&), void (*expect)(testing::SqlSession&)) {
    live([&](LoggedDatabase&, testing::SqlSession& session) {
      define(session);
      expect(session);
    });
    live([&](LoggedDatabase& database, testing::SqlSession& session) {
      expect(session);
      ASSERT_NO_FATAL_FAILURE(make_checkpoint(database.engine()));
    });
    live([&](LoggedDatabase&, testing::SqlSession& session) { expect(session); });
  }

  static void make_checkpoint(LoggedEngine& engine) {
    std::string why;
    ASSERT_TRUE(engine.wal().checkpointer().run_now(CheckpointReason::request, &why)) << why;
  }

  // What a statement answers; of an error, its SQLSTATE.
  static std::string state(testing::SqlSession& session, std::string_view sql) {
    std::string answer = session.run(sql);
    return answer.starts_with("ERROR: ") ? answer.substr(7, 5) : answer;
  }

  SimulatedFileSystem disk_{7};
};

}  // namespace pgsilo
