// Indexes that are built and dropped beside writers, over a simulated disk that loses power at a
// random step, again and again, recovery included (docs/index_build.md). After each restart the
// rows and the valid indexes are what some prefix of the committed transactions leaves, cut at an
// epoch's end, with everything acknowledged in it; no other index and no tree is there, and each
// index agrees with its table. PGSILO_POWER_CUTS sets the number of cuts (200); PGSILO_SEED the
// first seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/file_simulated.h"
#include "base/random.h"
#include "tests/crash/logged_database.h"

namespace pgsilo {
namespace {

constexpr size_t builders = 2;
constexpr size_t sessions = 5;  // the others write
constexpr int table_rows = 700;
// Of Content.
constexpr uint32_t definitions = 0;
constexpr uint32_t rows = 1;

struct Committed {
  std::vector<WriteOperation> changes;
  Epoch epoch;
};

struct Tally {
  uint64_t transactions = 0;
  uint64_t lost = 0;           // of them
  uint64_t builds_cut = 0;     // were under way when the power failed
  uint64_t begun_found = 0;    // indexes found that were not valid yet
  uint64_t indexes_found = 0;  // valid ones
};

class IndexCampaign {
 public:
  // With syncs that lie it is a build that forgets to sync.
  IndexCampaign(uint64_t seed, Tally& tally, bool syncs_lie = false)
      : random_(seed), files_(seed ^ 0x5eed), logs_(1 + 2 * (seed % 2)), tally_(tally) {
    files_.refuse_direct(random_.one_in(2));
    files_.set_syncs_lie(syncs_lie);
  }

  // One run of the database after the other, each ended by a cut. Empty, or what went wrong.
  std::string run(unsigned cuts) {
    for (unsigned cut = 0; cut < cuts; ++cut) {
      std::string fault = life();
      if (!fault.empty()) return fault + " (life " + std::to_string(cut) + ")";
      files_.restart();
    }
    return "";
  }

 private:
  std::string life() {
    WalOptions wal = LoggedEngine::small_options();
    wal.workers = sessions;
    wal.log_directories = LoggedEngine::log_directories(logs_);
    LoggedDatabase database(files_, "/data", wal);
    fault_.clear();
    building_ = 0;
    bool working = false;
    try {
      if (random_.one_in(5)) cut_power_within(60);  // a start needs that many steps
      if (!database.start()) return "refused to start: " + database.why();
      check_recovered(database);
      working = fault_.empty();
      cut_power_within(60);
      if (working) work(database);
      if (fault_.empty()) files_.cut_power();
    } catch (const SimulatedPowerCut&) {
    }
    // What the cut step still made durable counts: a client may have heard of it.
    if (working) note_acknowledged(database);
    tally_.builds_cut += building_;
    return fault_;
  }

  void cut_power_within(uint64_t steps) {
    files_.cut_power_at(files_.steps() + 1 + random_.below(steps));
  }

  // --- what is there ---
  static std::vector<std::string> lines(const std::string& answer) {
    std::vector<std::string> lines;
    std::istringstream in(answer);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  Content content(LoggedDatabase& database) {
    testing::SqlSession& session = database.session(0);
    Content found;
    std::string table = session.run("SELECT id, u, v FROM item");
    if (table.starts_with("ERROR: 42P01")) return found;
    found[{definitions, "item"}] = "";
    for (const std::string& line : lines(table)) {
      size_t bar = line.find('|');
      found[{rows, line.substr(0, bar)}] = line.substr(bar + 1);
    }
    for (const std::string& name : lines(session.run(
             "SELECT relname FROM pg_class WHERE relkind = 'i' AND relname LIKE 'made%'"))) {
      found[{definitions, name}] = "";
      ++tally_.indexes_found;
    }
    return found;
  }

  void check_recovered(LoggedDatabase& database) {
    tally_.begun_found += database.indexes_found_unfinished();
    fault_ = database.disagreement();
    if (!fault_.empty()) return;
    std::string orphans = database.session(0).run(
        "SELECT count(*) FROM pg_attribute WHERE attrelid NOT IN (SELECT oid FROM pg_class)");
    std::string lone = database.session(0).run(
        "SELECT count(*) FROM pg_class c FULL JOIN pg_index i ON c.oid = indexrelid"
        " WHERE (relkind = 'i' OR relkind IS NULL) AND (indisvalid AND indisready) IS NOT TRUE");
    if (orphans != "0" || lone != "0") {
      fault_ = "the catalog has left-overs: " + orphans + " of pg_attribute, " + lone +
               " of pg_class and pg_index";
      return;
    }
    match_history(content(database));
  }

  // The committed transactions that the recovered content shows; the others are gone for ever.
  void match_history(Content found) {
    Content expected = base_;
    size_t matches = SIZE_MAX;
    for (size_t count = 0;; ++count) {
      bool at_epoch_end = count == 0 || count == history_.size() ||
                          history_[count - 1].epoch != history_[count].epoch;
      if (count >= acknowledged_ && at_epoch_end && expected == found) matches = count;
      if (count == history_.size()) break;
      apply_writes(expected, history_[count].changes);
    }
    if (matches == SIZE_MAX) {
      fault_ = "the recovered content is no prefix that holds all " +
               std::to_string(acknowledged_) + " acknowledged of " +
               std::to_string(history_.size()) + " transactions";
      return;
    }
    tally_.lost += history_.size() - matches;
    present_ = base_ = std::move(found);
    history_.clear();
    acknowledged_ = 0;
  }

  // --- the run ---
  void work(LoggedDatabase& database) {
    for (size_t i = 0; i < sessions; ++i) {
      database.spawn(i, [this, i](SessionFiber& fiber) {
        while (!fiber.cancelled() && fault_.empty()) {
          if (i < builders) {
            build("made" + std::to_string(i), fiber);
          } else {
            write(fiber);
          }
          fiber.pause();
        }
      });
    }
    LoggedEngine& engine = database.engine();
    do {
      auto session = static_cast<unsigned>(random_.below(sessions));
      database.resume(session);
      if (random_.one_in(20)) engine.step(session, engine.epochs().current());
      if (random_.one_in(30)) engine.wal().prepare_segments();
      if (random_.one_in(8)) engine.epochs().advance();
      if (random_.one_in(4)) static_cast<void>(database.session(session).worker.housekeep());
      note_acknowledged(database);
    } while (fault_.empty() && !random_.one_in(3000));
  }

  void note_acknowledged(LoggedDatabase& database) {
    Epoch durable = database.engine().wal().durable_epoch();
    while (acknowledged_ < history_.size() && history_[acknowledged_].epoch <= durable)
      ++acknowledged_;
  }

  // Called at once behind the commit, so in the order of commits.
  void note_committed(SessionFiber& fiber, std::vector<WriteOperation> changes) {
    if (changes.empty() || fiber.cancelled()) return;
    Epoch epoch = fiber.session().transaction.newest_epoch();
    if (!history_.empty() && epoch < history_.back().epoch)
      fault_ = "a commit is told after one of a later epoch";
    apply_writes(present_, changes);
    history_.push_back({std::move(changes), epoch});
    ++tally_.transactions;
  }

  // False: the statement has failed, as it may.
  bool run(SessionFiber& fiber, const std::string& sql, std::string* answer) {
    testing::SqlSession& session = fiber.session();
    session.context.is_alone = !session.in_block;
    *answer = session.run(sql);
    if (!answer->starts_with("ERROR: ")) return true;
    std::string state = answer->substr(7, 5);
    bool usual = state == "40001" || state == "40P01" || state == "23505" ||
                 (state == "57014" && fiber.cancelled());
    if (!usual) fault_ = sql + ": " + *answer;
    return false;
  }

  // --- writers ---
  struct Statement {
    std::string sql;
    std::string gone;  // the row that it takes away, if it finds one
  };

  // Rows all over the table that meet each other often.
  std::string hot_id() { return std::to_string(1 + 11 * random_.below(table_rows / 11)); }
  std::string random_value() { return std::to_string(random_.below(1000)); }

  Statement random_statement() {
    std::string id = hot_id();
    // Rarely that of another row.
    std::string unique = (random_.one_in(10) ? hot_id() : id) + "000 + " +
                         (random_.one_in(2) ? "0" : std::to_string(random_.below(900)));
    switch (random_.below(7)) {
      case 0:
        return {"DELETE FROM item WHERE id = " + id, id};
      case 1:
      case 2:
        return {"INSERT INTO item VALUES (" + id + ", " + unique + ", " + random_value() +
                    ") ON CONFLICT DO NOTHING",
                ""};
      case 3:
        return {"UPDATE item SET u = " + unique + ", v = " + random_value() + " WHERE id = " + id,
                ""};
      case 4:
        return {"UPDATE item SET v = v + 1 WHERE id BETWEEN " + id + " AND " + id + " + 40", ""};
      case 5:
        return {"UPDATE item SET id = " + hot_id() + ", u = " + unique + " WHERE id = " + id, id};
      default:
        return {"UPDATE item SET v = " + random_value() + " WHERE id = " + id, ""};
    }
  }

  bool run_write(SessionFiber& fiber, std::vector<WriteOperation>* changes) {
    Statement statement = random_statement();
    std::string answer;
    if (!run(fiber, statement.sql + " RETURNING id, u, v", &answer)) return false;
    if (answer.empty()) return true;
    if (!statement.gone.empty()) changes->push_back({rows, statement.gone, std::nullopt});
    if (statement.sql.starts_with("DELETE")) return true;
    for (const std::string& line : lines(answer)) {
      size_t bar = line.find('|');
      changes->push_back({rows, line.substr(0, bar), line.substr(bar + 1)});
    }
    return true;
  }

  void write(SessionFiber& fiber) {
    if (!present_.contains({definitions, "item"})) return;
    std::vector<WriteOperation> changes;
    if (random_.one_in(2)) {
      if (run_write(fiber, &changes)) note_committed(fiber, std::move(changes));
      return;
    }
    Isolation isolation = random_.one_in(2) ? Isolation::serializable : Isolation::read_committed;
    fiber.session().begin_block(TransactionMode::interactive, isolation);
    bool good = true;
    for (uint64_t left = 1 + random_.below(4); good && left > 0; --left) {
      good = run_write(fiber, &changes);
      for (uint64_t pauses = random_.below(4); pauses > 0; --pauses) fiber.pause();
    }
    end_block(fiber, good && !random_.one_in(4), std::move(changes));
  }

  void end_block(SessionFiber& fiber, bool commit, std::vector<WriteOperation> changes) {
    if (!commit) return fiber.session().abort_block();
    if (fiber.session().commit_block() == "ok") note_committed(fiber, std::move(changes));
  }

  // --- builders ---
  void build(const std::string& name, SessionFiber& fiber) {
    if (!present_.contains({definitions, "item"})) {
      if (name == "made0") create_table(fiber);
      return;
    }
    std::string answer;
    if (present_.contains({definitions, name})) {
      for (uint64_t pauses = random_.below(10); pauses > 0; --pauses) fiber.pause();
      if (run(fiber, "DROP INDEX " + name, &answer))
        note_committed(fiber, {{definitions, name, std::nullopt}});
      return;
    }
    ++building_;
    if (random_.one_in(5)) {
      build_in_block(name, fiber);
    } else {
      static constexpr const char* forms[] = {
          "CREATE INDEX # ON item (v)",
          "CREATE INDEX CONCURRENTLY # ON item (v DESC, u)",
          "CREATE UNIQUE INDEX CONCURRENTLY # ON item (u)",
          "CREATE UNIQUE INDEX # ON item (u)",
          "CREATE INDEX # ON item ((v % 7), u) WHERE v % 2 = 0",
          "CREATE INDEX CONCURRENTLY # ON item ((u + v)) WHERE v < 500",
          "CREATE UNIQUE INDEX CONCURRENTLY # ON item ((u - 1)) WHERE v % 3 <> 0",
          "CREATE UNIQUE INDEX # ON item ((-u))",
      };
      std::string sql = forms[random_.below(std::size(forms))];
      sql.replace(sql.find('#'), 1, name);
      if (run(fiber, sql, &answer)) note_committed(fiber, {{definitions, name, ""}});
    }
    --building_;
  }

  void build_in_block(const std::string& name, SessionFiber& fiber) {
    std::vector<WriteOperation> changes;
    std::string answer;
    fiber.session().begin_block();
    bool good = run_write(fiber, &changes) &&
                run(fiber, "CREATE INDEX " + name + " ON item (v, id)", &answer);
    changes.push_back({definitions, name, ""});
    fiber.pause();
    good = good && run_write(fiber, &changes);
    end_block(fiber, good, std::move(changes));
  }

  void create_table(SessionFiber& fiber) {
    std::vector<WriteOperation> changes = {{definitions, "item", ""}};
    std::string answer;
    fiber.session().begin_block();
    bool good = run(fiber, "CREATE TABLE item (id int PRIMARY KEY, u int, v int)", &answer) &&
                run(fiber,
                    "INSERT INTO item SELECT i, i * 1000, i % 100 FROM generate_series(1, " +
                        std::to_string(table_rows) + ") i",
                    &answer);
    for (int i = 1; i <= table_rows; ++i) {
      changes.push_back(
          {rows, std::to_string(i), std::to_string(i * 1000) + "|" + std::to_string(i % 100)});
    }
    end_block(fiber, good, std::move(changes));
  }

  Random random_;
  SimulatedFileSystem files_;
  const uint64_t logs_;
  Tally& tally_;
  Content base_;                    // as last recovered
  std::vector<Committed> history_;  // since then
  Content present_;                 // behind all of it
  size_t acknowledged_ = 0;
  uint64_t building_ = 0;
  std::string fault_;
};

uint64_t setting(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

constexpr unsigned lives_per_database = 8;

TEST(IndexPowerCut, NoIndexOrOneThatAgreesWithItsTable) {
  uint64_t databases =
      std::max<uint64_t>(1, setting("PGSILO_POWER_CUTS", 200) / lives_per_database);
  uint64_t seed = setting("PGSILO_SEED", 1);
  Tally tally;
  for (uint64_t i = 0; i < databases; ++i) {
    IndexCampaign campaign(seed + i, tally);
    ASSERT_EQ(campaign.run(lives_per_database), "") << "PGSILO_SEED=" << seed + i;
  }
  // Else the campaign shows nothing.
  EXPECT_GT(tally.lost, databases);
  EXPECT_GT(tally.builds_cut, databases);
  EXPECT_GT(tally.begun_found, 0u);
  EXPECT_GT(tally.indexes_found, databases);
}

TEST(IndexPowerCut, NoticesAMissingSync) {
  Tally tally;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    if (!IndexCampaign(seed, tally, /*syncs_lie=*/true).run(lives_per_database).empty()) return;
  }
  FAIL() << "nothing was noticed";
}

}  // namespace
}  // namespace pgsilo
