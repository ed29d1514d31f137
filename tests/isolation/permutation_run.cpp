#include "tests/isolation/permutation_run.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace pgsilo::isolation {

Player::Player(const std::string& conninfo, const Spec& spec, const std::string& level)
    : spec_(spec), level_(level), observer_(conninfo), open_(spec.sessions.size()) {
  sessions_.reserve(spec.sessions.size());
  for (size_t i = 0; i < spec.sessions.size(); ++i) sessions_.emplace_back(conninfo);
}

// As sessions that have just begun: one whose last block was beaten would be careful.
void Player::begin_anew(Connection& session) const {
  session.must("DISCARD ALL");
  session.must("SET default_transaction_isolation = '" + level_ + "'");
  session.must("SET deadlock_timeout = '10ms'");
}

Run Player::run(const Permutation& permutation, int breath_ms) {
  run_ = {};
  clock_ = 0;
  open_.assign(sessions_.size(), {});
  observer_.must(spec_.setup);
  for (size_t i = 0; i < sessions_.size(); ++i) {
    open_[i].transaction.first_of_session = true;
    begin_anew(sessions_[i]);
    if (!spec_.sessions[i].setup.empty()) sessions_[i].must(spec_.sessions[i].setup);
  }
  for (size_t step : permutation) {
    std::this_thread::sleep_for(std::chrono::milliseconds(breath_ms));
    if (sessions_[spec_.steps[step].session].pending()) {
      run_.possible = false;
      break;
    }
    start(step);
    settle();
  }
  clean_up();
  return std::move(run_);
}

void Player::start(size_t step) {
  size_t session = spec_.steps[step].session;
  Open& open = open_[session];
  if (!open.begun) {
    open.begun = true;
    open.transaction.session = session;
    open.transaction.begin = ++clock_;
  }
  open.step = step;
  open.waits = false;
  run_.rounds.emplace_back();
  sessions_[session].send(spec_.steps[step].sql);
}

// An answer may let go of another session, so it takes a whole round without one.
void Player::settle() {
  constexpr int patience_ms = 2;
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (bool settled = false; !settled;) {
    settled = true;
    for (size_t i = 0; i < sessions_.size(); ++i) {
      if (!sessions_[i].pending()) continue;
      if (sessions_[i].answered(open_[i].waits ? 0 : patience_ms)) {
        note_answer(i);
        settled = false;
      } else if (blockers_of(i).empty() || in_circle(i)) {
        settled = false;
      } else if (!open_[i].waits) {
        open_[i].waits = true;
        run_.waited = true;
        note_event(i, "waits");
      }
    }
    if (!settled && std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("neither an answer nor a wait: " + run_.events);
  }
}

void Player::note_event(size_t session, const std::string& what) {
  if (!run_.events.empty()) run_.events += " | ";
  run_.events += spec_.steps[open_[session].step].name + " " + what;
}

std::vector<size_t> Player::blockers_of(size_t session) {
  std::string pids =
      observer_.must("SELECT pg_blocking_pids(" + std::to_string(sessions_[session].pid()) + ")")
          .text;
  pids = "," + pids.substr(1, pids.size() - 2) + ",";
  std::vector<size_t> found;
  for (size_t i = 0; i < sessions_.size(); ++i) {
    if (pids.find("," + std::to_string(sessions_[i].pid()) + ",") != std::string::npos)
      found.push_back(i);
  }
  return found;
}

bool Player::in_circle(size_t session) {
  std::vector<size_t> reached = blockers_of(session);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached[i] == session) return true;
    for (size_t next : blockers_of(reached[i])) {
      if (std::find(reached.begin(), reached.end(), next) == reached.end()) reached.push_back(next);
    }
  }
  return false;
}

void Player::note_answer(size_t session) {
  Open& open = open_[session];
  Answer answer = sessions_[session].take();
  note_event(session, answer.text);
  run_.rounds.back().push_back({open.step, answer.text});
  run_.conflict |= answer.sqlstate == "40001";
  run_.deadlock |= answer.sqlstate == "40P01";
  bool ended = !sessions_[session].in_block();
  bool rolled_back = ended && answer.tag == "ROLLBACK";
  if (!answer.says_nothing() && !rolled_back) {
    open.transaction.told.push_back({open.step, answer.text});
    open.transaction.end = ++clock_;
  }
  if (ended) finish_transaction(session, answer.sqlstate.empty() && !rolled_back);
}

void Player::finish_transaction(size_t session, bool committed) {
  Open& open = open_[session];
  open.transaction.committed = committed;
  if (!open.transaction.told.empty()) run_.transactions.push_back(std::move(open.transaction));
  open.transaction = {};
  open.begun = false;
}

// Who does not wait rolls back, and so lets the others go.
void Player::clean_up() {
  for (bool pending = true; pending;) {
    pending = false;
    for (size_t i = 0; i < sessions_.size(); ++i) {
      if (sessions_[i].pending() && sessions_[i].answered(1)) note_answer(i);
      pending |= sessions_[i].pending();
      if (sessions_[i].pending() || !sessions_[i].in_block()) continue;
      sessions_[i].must("ROLLBACK");
      if (open_[i].begun) finish_transaction(i, false);
    }
  }
  for (size_t i = 0; i < sessions_.size(); ++i) {
    if (!spec_.sessions[i].teardown.empty()) sessions_[i].must(spec_.sessions[i].teardown);
  }
  run_.state = observer_.must(spec_.state).text;
  if (!spec_.teardown.empty()) observer_.must(spec_.teardown);
}

}  // namespace pgsilo::isolation
