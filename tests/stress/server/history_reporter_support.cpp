#include "tests/stress/server/history_reporter_support.h"

namespace pgsilo::server_stress {

using history::Version;

namespace {

std::string note_of(Version version) {
  return "INSERT INTO note VALUES (" + std::to_string(version) + ")";
}

}  // namespace

void Reporter::transaction() {
  switch (author_.random(5)) {
    case 0:
    case 1:
      block();
      break;
    case 2:
      endangered_ ? endangered_together() : together();
      break;
    case 3:
      endangered_ ? endangered_together() : pipeline();
      break;
    default:
      endangered_ ? endangered_query() : alone();
  }
  if (endangered_ && client_.lost()) reconnect();
  read_back();
}

// Without an answer the question is asked again.
void Reporter::read_back() {
  while (!::testing::Test::HasFailure()) {
    std::optional<Statement> query = author_.reading_back();
    if (!query) return;
    recorder_.begin();
    bool good = note(*query, run(*query), /*may_conflict=*/false) == Told::done;
    good ? recorder_.commit() : recorder_.abort();
    if (good) author_.has_read_back();
    if (endangered_ && client_.lost()) reconnect();
  }
}

void Reporter::reconnect() {
  client_.connect();
  publish();
}

std::vector<Statement> Reporter::statements(bool in_block) {
  std::vector<Statement> made;
  for (uint64_t left = 1 + author_.random(4); left > 0; --left)
    made.push_back(author_.statement(in_block));
  return made;
}

Answer Reporter::run(const Statement& statement) {
  switch (author_.random(3)) {
    case 0:
      return client_.run(statement.literal());
    case 1:
      return client_.run_extended(statement.sql, statement.texts());
    default:
      return client_.run_prepared(statement.sql, statement.texts());
  }
}

Reporter::Told Reporter::note(const Statement& statement, const Answer& answer, bool may_conflict) {
  if (answer.good()) {
    statement.note(answer);
    return Told::done;
  }
  if (answer.state() == "23505" && statement.note_duplicate) {
    statement.note_duplicate(answer);
    recorder_.acknowledge();
    return Told::duplicate;
  }
  bool ended = endangered_ && (answer.state() == "57014" || client_.lost());
  EXPECT_TRUE(ended || (may_conflict && answer.is_conflict()))
      << statement.literal() << ": " << answer.message();
  return Told::failed;
}

bool Reporter::command(const std::string& sql) {
  Answer answer = client_.run(sql);
  EXPECT_TRUE(answer.good() || endangered_) << sql << ": " << answer.message();
  return answer.good();
}

// What was meant for the statement before may still cancel this one.
void Reporter::roll_back() {
  while (!command("ROLLBACK") && !client_.lost()) {
  }
}

void Reporter::block() {
  recorder_.begin();
  Version mark = endangered_ ? recorder_.new_version() : history::no_version;
  bool good = command("BEGIN") && (!endangered_ || command(note_of(mark)));
  if (good && statements_of_block() && author_.random(10) != 0) return end_block(mark);
  if (!client_.lost()) roll_back();
  recorder_.abort();
}

// False if the block has failed.
bool Reporter::statements_of_block() {
  bool savepoint = false;
  for (const Statement& statement : statements(/*in_block=*/true)) {
    if (author_.random(4) == 0) {
      if (!command("SAVEPOINT here")) return false;
      recorder_.mark();
      savepoint = true;
    }
    Told told = note(statement, run(statement), /*may_conflict=*/true);
    if (told != Told::failed) recorder_.acknowledge();
    bool give_up = told != Told::done || (savepoint && author_.random(6) == 0);
    if (give_up && !back_to_savepoint(savepoint, told)) return false;
  }
  return true;
}

bool Reporter::back_to_savepoint(bool there_is_one, Told told) {
  if (!there_is_one || client_.lost() || (told == Told::failed && author_.random(2) == 0))
    return false;
  if (!command("ROLLBACK TO here")) return false;
  recorder_.back();
  return true;
}

// Sends it and goes without an answer. Whatever comes of it has come when the session is gone.
void Reporter::abandon(const std::string& sql) {
  int process = client_.process();
  EXPECT_EQ(PQsendQuery(client_.connection(), sql.c_str()), 1);
  std::string gone = "SELECT count(*) FROM pg_stat_activity WHERE pid = " + std::to_string(process);
  for (bool there = true; there;) {
    if (process == client_.process() || client_.lost()) reconnect();
    Answer answer = client_.run(gone);
    there = !answer.good() || answer.number(0, 0) != 0;
  }
}

void Reporter::end_block(Version mark) {
  if (endangered_ && author_.random(20) == 0) {
    abandon("COMMIT");
    return recorder_.doubt(mark);
  }
  Answer answer = client_.run("COMMIT");
  if (answer.good()) {
    recorder_.commit();
  } else if (endangered_ && client_.lost()) {
    recorder_.doubt(mark);
  } else {
    bool cancelled = endangered_ && answer.state() == "57014";
    EXPECT_TRUE(cancelled || answer.is_conflict()) << answer.message();
    if (cancelled) roll_back();  // it came before COMMIT had begun: the block is there
    recorder_.abort();
  }
}

// The server runs these again by itself until they meet no conflict.
void Reporter::one_shot(const std::vector<Statement>& statements,
                        const std::vector<Answer>& answers) {
  bool good = true;
  for (size_t i = 0; i < answers.size() && good; ++i)
    good = note(statements[i], answers[i], /*may_conflict=*/false) == Told::done;
  EXPECT_TRUE(!good || answers.size() == statements.size());
  good ? recorder_.commit() : recorder_.abort();
}

void Reporter::alone() {
  std::vector<Statement> one{author_.statement(/*in_block=*/false)};
  recorder_.begin();
  std::vector<Answer> answers;
  answers.push_back(run(one.front()));
  one_shot(one, answers);
}

void Reporter::together() {
  std::vector<Statement> several = statements(/*in_block=*/false);
  std::string text;
  for (const Statement& statement : several) text += statement.literal() + ";";
  recorder_.begin();
  one_shot(several, client_.run_together(text));
}

void Reporter::pipeline() {
  std::vector<Statement> several = statements(/*in_block=*/false);
  std::vector<Client::Call> calls;
  for (const Statement& statement : several) calls.push_back({statement.sql, statement.texts()});
  recorder_.begin();
  one_shot(several, client_.run_pipeline(calls));
}

// Without an answer it did nothing.
void Reporter::endangered_query() {
  Statement query = author_.query();
  recorder_.begin();
  bool good = note(query, run(query), /*may_conflict=*/false) == Told::done;
  good ? recorder_.commit() : recorder_.abort();
}

// Without an answer its note tells whether what it does happened.
void Reporter::endangered_together() {
  std::vector<Statement> several;
  Version mark = recorder_.new_version();
  std::string text = note_of(mark);
  for (uint64_t left = 1 + author_.random(3); left > 0; --left) {
    several.push_back(author_.random(2) == 0 ? author_.query() : author_.plain_statement());
    text += ";" + several.back().literal();
  }
  recorder_.begin();
  bool abandoned = author_.random(20) == 0;
  std::vector<Answer> answers;
  if (abandoned) {
    abandon(text);
  } else {
    answers = client_.run_together(text);
  }
  size_t told = 0;
  for (; told < several.size() && told + 1 < answers.size(); ++told) {
    if (note(several[told], answers[told + 1], /*may_conflict=*/false) != Told::done) break;
  }
  if (told == several.size()) {
    EXPECT_EQ(answers.size(), several.size() + 1) << answers.back().message();
    recorder_.commit();
  } else if (abandoned || client_.lost()) {
    for (; told < several.size(); ++told) {
      if (several[told].note_unanswered) several[told].note_unanswered();
    }
    recorder_.doubt(mark);
  } else {
    recorder_.abort();
  }
}

}  // namespace pgsilo::server_stress
