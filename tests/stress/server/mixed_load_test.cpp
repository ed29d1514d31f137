// A whole server under a mixed load: transfers between balances as blocks, as one query and as
// prepared statements, rows that move within secondary indexes, duplicates, inserts and deletes,
// COPY, snapshots, definitions beside all that, cancelled statements, clients that come and go;
// once more with sessions that go to another worker behind each transaction. Four sums must agree
// in every answer and at the end, before and after recovery, and indexes must fit their tables.
// PGSILO_STRESS_ROUNDS=n: n rounds for each client.
#include <atomic>
#include <cstdlib>

#include "base/random.h"
#include "tests/stress/sanitized.h"
#include "tests/stress/server/server_support.h"

namespace pgsilo::server_stress {
namespace {

constexpr int ordinary_rounds = sanitized ? 200 : 1000;
constexpr int clients = 6;
constexpr int accounts = 40, tellers = 5, branches = 3, codes = 60;

int rounds() {
  const char* wanted = std::getenv("PGSILO_STRESS_ROUNDS");
  return wanted == nullptr ? ordinary_rounds : std::atoi(wanted);
}

void create_tables(Client& client) {
  auto series = [](int count) {
    return " FROM generate_series(1, " + std::to_string(count) + ") i";
  };
  client.must("CREATE TABLE branch (bid int PRIMARY KEY, balance int NOT NULL)");
  client.must("CREATE TABLE teller (tid int PRIMARY KEY, balance int NOT NULL)");
  client.must(
      "CREATE TABLE account (aid int PRIMARY KEY, bid int NOT NULL, balance int NOT NULL, code int"
      " UNIQUE, filler text)");
  client.must("CREATE INDEX account_bid ON account (bid, balance)");
  client.must("CREATE TABLE history (tid int, bid int, aid int, delta int)");
  client.must("INSERT INTO branch SELECT i, 0" + series(branches));
  client.must("INSERT INTO teller SELECT i, 0" + series(tellers));
  client.must("INSERT INTO account SELECT i, 1, 0, i, 'row'" + series(accounts));
}

// The sums of account, teller, branch and history agree.
void check_sums(Client& client) {
  Answer sums = client.must(
      "SELECT (SELECT sum(balance) FROM account), (SELECT sum(balance) FROM teller),"
      " (SELECT sum(balance) FROM branch), (SELECT coalesce(sum(delta), 0) FROM history)");
  if (::testing::Test::HasFailure()) return;
  for (int column = 1; column < 4; ++column)
    EXPECT_EQ(sums.number(0, column), sums.number(0, 0)) << column;
}

class User {
 public:
  User(const InProcessServer& server, uint64_t seed) : client_(server), random_(seed) {}

  void round() {
    switch (random_.below(13)) {
      case 0:
      case 1:
        return transfer_in_a_block();
      case 2:
      case 3:
        return transfer_in_one_query();
      case 4:
        return transfer_in_a_pipeline();
      case 5:
        return move_to_another_branch();
      case 6:
        return take_a_code();
      case 7:
        return open_or_close_an_account();
      case 8:
        return grow_rows();
      case 9:
        return copy();
      case 10:
        return cancel();
      case 11:
        return look_back();
      default:
        if (random_.one_in(10)) client_.connect();
        return check_sums(client_);
    }
  }

 private:
  std::string any(int count) {
    return std::to_string(1 + random_.below(static_cast<uint64_t>(count)));
  }
  std::string delta() { return std::to_string(static_cast<int>(random_.below(2001)) - 1000); }

  std::vector<Client::Call> transfer() {
    std::string aid = any(accounts), tid = any(tellers), bid = any(branches), amount = delta();
    return {{"UPDATE account SET balance = balance + $1 WHERE aid = $2", {amount, aid}},
            {"SELECT balance FROM account WHERE aid = $1", {aid}},
            {"UPDATE teller SET balance = balance + $1 WHERE tid = $2", {amount, tid}},
            {"UPDATE branch SET balance = balance + $1 WHERE bid = $2", {amount, bid}},
            {"INSERT INTO history (tid, bid, aid, delta) VALUES ($1, $2, $3, $4)",
             {tid, bid, aid, amount}}};
  }

  // Some of them are rolled back; conflicts run again.
  void transfer_in_a_block() {
    std::vector<Client::Call> calls = transfer();
    bool prepared = random_.one_in(2), give_up = random_.one_in(5);
    for (bool done = false; !done && !::testing::Test::HasFailure();) {
      client_.must("BEGIN");
      bool good = true;
      for (size_t i = 0; i < calls.size() && good; ++i) {
        const auto& [sql, parameters] = calls[i];
        Answer answer = prepared ? client_.run_prepared(sql, parameters)
                                 : client_.run_extended(sql, parameters);
        good = answer.good();
        EXPECT_TRUE(good || answer.is_conflict()) << sql << ": " << answer.message();
      }
      Answer end = client_.run(good && !give_up ? "COMMIT" : "ROLLBACK");
      EXPECT_TRUE(end.good() || end.is_conflict()) << end.message();
      done = good && end.good();
    }
  }

  void transfer_in_one_query() {
    std::string text;
    for (const auto& [sql, parameters] : transfer()) {
      for (char letter : sql) {
        if (letter != '$') text += letter;
        if (letter == '$') text += '\0';
      }
      for (size_t zero; (zero = text.find('\0')) != std::string::npos;)
        text.replace(zero, 2, "(" + parameters[static_cast<size_t>(text[zero + 1] - '1')] + ")");
      text += ";";
    }
    expect_good(client_.run_together(text), 5);
  }

  void transfer_in_a_pipeline() { expect_good(client_.run_pipeline(transfer()), 5); }

  static void expect_good(const std::vector<Answer>& answers, size_t count) {
    EXPECT_EQ(answers.size(), count);
    for (const Answer& answer : answers) EXPECT_TRUE(answer.good()) << answer.message();
  }

  void move_to_another_branch() {
    Answer answer = client_.run_prepared("UPDATE account SET bid = $1 WHERE aid = $2",
                                         {any(branches), any(accounts)});
    EXPECT_TRUE(answer.good()) << answer.message();
  }

  void take_a_code() {
    Answer answer =
        client_.run("UPDATE account SET code = " + any(codes) + " WHERE aid = " + any(accounts));
    EXPECT_TRUE(answer.good() || answer.state() == "23505") << answer.message();
  }

  // Accounts without money.
  void open_or_close_an_account() {
    std::string aid = std::to_string(accounts) + any(9);
    Answer answer = random_.one_in(2)
                        ? client_.run_prepared("INSERT INTO account VALUES ($1, $2, 0, $3, 'new')",
                                               {aid, any(branches), any(codes)})
                        : client_.run_prepared("DELETE FROM account WHERE aid = $1", {aid});
    EXPECT_TRUE(answer.good() || answer.state() == "23505") << answer.message();
  }

  void grow_rows() {
    Answer answer = client_.run("UPDATE account SET filler = repeat('x', " + any(300) +
                                ") WHERE bid = " + any(branches));
    EXPECT_TRUE(answer.good()) << answer.message();
  }

  void copy() {
    EXPECT_EQ(client_.run("COPY history FROM STDIN").status(), PGRES_COPY_IN);
    std::string rows = "1\t1\t1\t0\n2\t2\t2\t0\n";
    EXPECT_EQ(PQputCopyData(client_.connection(), rows.data(), static_cast<int>(rows.size())), 1);
    EXPECT_EQ(PQputCopyEnd(client_.connection(), nullptr), 1);
    while (Answer answer{PQgetResult(client_.connection())})
      EXPECT_TRUE(answer.good()) << answer.message();
    client_.must("DELETE FROM history WHERE delta = 0");
  }

  // No conflict, whatever is changed or defined meanwhile.
  void look_back() {
    client_.must("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE");
    std::string note = "SELECT count(*) FROM pg_attribute WHERE attname = 'note'";
    int64_t notes = client_.must(note).number(0, 0);
    for (int i = 0; i < 3 && !::testing::Test::HasFailure(); ++i) {
      check_sums(client_);
      EXPECT_EQ(client_.must("SELECT * FROM teller").columns(), notes == 0 ? 2 : 3);
      EXPECT_EQ(client_.must(note).number(0, 0), notes);
      std::this_thread::yield();
    }
    client_.must("COMMIT");
  }

  void cancel() {
    EXPECT_EQ(
        PQsendQuery(client_.connection(), "SELECT count(*) FROM account a, account b, account c"),
        1);
    std::unique_ptr<PGcancel, decltype(&PQfreeCancel)> cancel(PQgetCancel(client_.connection()),
                                                              PQfreeCancel);
    char why[256];
    EXPECT_EQ(PQcancel(cancel.get(), why, sizeof why), 1) << why;
    while (Answer answer{PQgetResult(client_.connection())})
      EXPECT_TRUE(answer.good() || answer.state() == "57014") << answer.message();
    // The request may arrive after the answer has been sent, and then ends the next statement.
    for (;;) {
      Answer answer = client_.run("SELECT 1");
      if (answer.good()) return;
      ASSERT_EQ(answer.state(), "57014") << answer.message();
    }
  }

  Client client_;
  Random random_;
};

void define_until(const std::atomic<int>& running, const InProcessServer& server) {
  Client client(server);
  for (int round = 0; running.load() > 0 && !::testing::Test::HasFailure(); ++round) {
    client.must("CREATE INDEX account_balance ON account (balance)");
    client.must("ALTER TABLE teller ADD COLUMN note int DEFAULT 7");
    client.must("CREATE TABLE scratch (id int PRIMARY KEY, value int)");
    client.must("INSERT INTO scratch SELECT i, i FROM generate_series(1, 50) i");
    if (round % 2 == 0) client.must("TRUNCATE scratch");
    client.must("DROP TABLE scratch");
    client.must("ALTER TABLE teller DROP COLUMN note");
    client.must("DROP INDEX account_balance");
  }
}

void run_mixed_load(const std::string& session_balancing) {
  InProcessServer server(session_balancing);
  {
    Client client(server);
    create_tables(client);
  }
  std::atomic<int> running = clients;
  in_threads(clients + 1, [&](int thread) {
    if (thread == clients) {
      define_until(running, server);
      return;
    }
    User user(server, static_cast<uint64_t>(thread) + 1);
    for (int left = rounds(); left > 0 && !::testing::Test::HasFailure(); --left) user.round();
    --running;
  });
  server.stop_and_check();
  server.restart();
  Client client(server);
  check_sums(client);
  server.stop_and_check();
}

TEST(MixedLoad, SumsAndIndexesAgree) { run_mixed_load("on"); }

TEST(MixedLoad, WithSessionsThatMoveAllTheTime) { run_mixed_load("always"); }

}  // namespace
}  // namespace pgsilo::server_stress
