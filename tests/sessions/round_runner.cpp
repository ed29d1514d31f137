#include "tests/sessions/round_runner.h"

#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "tests/protocol/wire_messages.h"

namespace pgsilo::sessions {
namespace wire = protocol_test;
namespace {

constexpr size_t batches_remembered = 6;

std::string printable(const std::string& text) {
  std::string result;
  for (char each : text) {
    auto byte = static_cast<unsigned char>(each);
    char code[8];
    std::snprintf(code, sizeof code, "\\x%02x", byte);
    result += byte >= ' ' && byte != 0x7f ? std::string(1, each) : byte == '\n' ? " " : code;
  }
  return result;
}

// PostgreSQL says these with XX000, too.
bool is_postgres_internal_error(std::string_view error) {
  static constexpr std::string_view texts[] = {"could not open relation with OID",
                                               "invalid target WAL LSN"};
  return std::ranges::any_of(
      texts, [&](std::string_view text) { return error.find(text) != std::string_view::npos; });
}

std::string without_digits(std::string text) {
  std::erase_if(text, [](char each) { return each >= '0' && each <= '9'; });
  return text;
}

}  // namespace

RoundRunner::RoundRunner(ServerProcess& server, const Round& round,
                         std::chrono::milliseconds patience)
    : server_(server), round_(round), patience_(patience), sessions_(round.programs.size()) {
  for (size_t i = 0; i < sessions_.size(); ++i) sessions_[i].program = &round.programs[i];
}

void RoundRunner::add(const std::string& kind, const std::string& what, const Session* at) {
  if (!known_.insert(kind + without_digits(what)).second) return;
  findings_.push_back({kind, what, state_of_sessions(at)});
}

std::string RoundRunner::state_of_sessions(const Session* first) const {
  std::vector<const Session*> order;
  if (first != nullptr) order.push_back(first);
  for (const Session& each : sessions_) {
    if (&each != first) order.push_back(&each);
  }
  std::string text;
  for (const Session* each : order) {
    text += each == first ? "This one: session " : "session ";
    text += std::to_string(each - sessions_.data()) +
            (each->asks ? ", waiting for an answer" : "") + ", next batch " +
            std::to_string(each->next) + "\n";
    for (const std::string& batch : each->last)
      text += "  " + printable(batch.substr(0, 6000)) + "\n";
  }
  return text;
}

void RoundRunner::prepare() {
  Connection connection(server_.address());
  connection.send_startup({{"user", "postgres"}, {"database", "postgres"}});
  for (const std::string& each : round_.preparation) {
    connection.send(wire::query(each));
    if (!connection.finish(60000)) break;
  }
  if (!connection.violation().empty()) add("protocol", connection.violation());
}

void RoundRunner::open(Session& session) {
  session.connection = std::make_unique<Connection>(server_.address());
  session.began = session.connection->is_connected();
  session.asks = session.began;
  session.leaves = session.was_cancelled = false;
  session.since = Clock::now();
  if (session.began) {
    auto parameters = session.program->startup;
    if (session.was_refused) parameters.resize(2);  // who and where
    session.connection->send_startup(parameters);
    session.connection->write_some();
  }
}

void RoundRunner::disturb(const Batch& batch) {
  const Session& target = sessions_[batch.target % sessions_.size()];
  if (target.connection == nullptr || target.connection->process() == 0) return;
  int32_t process = target.connection->process();
  if (batch.kind == Batch::Kind::cancel) {
    send_cancel(server_.address(), process, target.connection->secret());
    return;
  }
  Connection connection(server_.address());
  connection.send_startup({{"user", "postgres"}, {"database", "postgres"}});
  connection.send(wire::query("select pg_terminate_backend(" + std::to_string(process) + ")"));
  connection.finish(static_cast<int>(patience_.count()));
}

void RoundRunner::send(Session& session, const Batch& batch) {
  ++counts_.batches;
  session.last.push_back(batch.text);
  if (session.last.size() > batches_remembered) session.last.pop_front();
  if (batch.kind == Batch::Kind::cancel || batch.kind == Batch::Kind::terminate)
    return disturb(batch);
  std::string bytes;
  for (size_t i = 0; i < batch.messages.size(); ++i) {
    bool is_garbage = batch.kind == Batch::Kind::garbage && i + 1 == batch.messages.size();
    if (batch.kind == Batch::Kind::disconnect) {
      bytes += batch.messages[i];
    } else if (is_garbage) {
      session.connection->send_garbage(batch.messages[i]);
    } else {
      session.connection->send(batch.messages[i]);
    }
  }
  if (batch.kind == Batch::Kind::disconnect) {
    session.connection->send_garbage(std::string_view(bytes).substr(0, batch.target));
    session.connection->write_some();
    session.connection->end();
    return close(session);
  }
  session.leaves = batch.kind == Batch::Kind::garbage;
  session.asks = batch.waits;
  session.since = Clock::now();
  session.connection->write_some();
}

void RoundRunner::close(Session& session) {
  note_errors(session);
  session.connection.reset();
  session.began = session.asks = session.leaves = false;
}

// To its next step, if it waits for nothing.
void RoundRunner::advance(Session& session) {
  if (session.finished || session.asks) return;
  if (session.next == session.program->batches.size()) {
    if (session.connection != nullptr) {
      session.connection->send(wire::message('X'));
      session.connection->write_some();
      close(session);
    }
    session.finished = true;
    return;
  }
  if (session.connection == nullptr) return open(session);
  // Most blocks that have failed are left at once: in one of them all statements do the same.
  if (session.connection->judge().status() == 'E' && session.next % 4 != 0 && !session.left_block) {
    session.left_block = true;
    Batch rollback;
    rollback.text = "rollback";
    rollback.messages = {wire::query("rollback")};
    return send(session, rollback);
  }
  session.left_block = false;
  send(session, session.program->batches[session.next++]);
}

void RoundRunner::note_errors(Session& session) {
  if (session.connection == nullptr) return;
  for (const std::string& each : session.connection->take_errors()) {
    ++counts_.errors;
    ++counts_.by_state[each.substr(0, 5)];
    if ((each.starts_with("XX") || each.starts_with("5800")) && !is_postgres_internal_error(each))
      add("internal error", each, &session);
  }
  if (!session.connection->violation().empty())
    add("protocol", session.connection->violation(), &session);
}

void RoundRunner::answered(Session& session) {
  session.asks = session.was_cancelled = false;
  note_errors(session);
}

void RoundRunner::read(Session& session) {
  Connection& connection = *session.connection;
  bool writes = connection.write_some();
  bool is_open = connection.read_some() && writes;  // what was said before the end is read
  if (!is_open || !connection.violation().empty()) {
    ++counts_.ends;
    session.was_refused |= !connection.is_started();
    bool is_told = connection.judge().may_end() || session.leaves || !connection.is_started();
    if (!is_told && connection.violation().empty() && server_.goes_on())
      add("protocol", "the connection ended without a word", &session);
    return close(session);
  }
  if (!session.asks || !connection.is_started() || connection.has_output()) return;
  if (connection.judge().wants_copy_data()) {
    connection.send(wire::message('f', wire::cstring("not wanted")));
    connection.send(wire::sync());
    connection.write_some();
  } else if (connection.judge().settled() && !session.leaves) {
    answered(session);
  }
}

// Takes an answer too long?
void RoundRunner::watch(Session& session) {
  if (session.connection == nullptr || !session.asks) return;
  auto waited = Clock::now() - session.since;
  if (session.leaves && waited > std::chrono::milliseconds(100)) return close(session);
  if (waited < patience_) return;
  if (!session.was_cancelled) {
    ++counts_.cancels_needed;
    add("slow",
        "no answer in time, nor by statement_timeout: " + session.last.back().substr(0, 300),
        &session);
    send_cancel(server_.address(), session.connection->process(), session.connection->secret());
    session.was_cancelled = true;
    session.since = Clock::now();
    return;
  }
  add("hang", "no answer after a cancel:\n" + server_.stacks(), &session);
  close(session);
}

void RoundRunner::wait_for_news() {
  std::vector<pollfd> states;
  for (const Session& each : sessions_) {
    if (each.connection == nullptr || !each.connection->is_connected()) continue;
    short events = static_cast<short>(POLLIN | (each.connection->has_output() ? POLLOUT : 0));
    states.push_back({.fd = each.connection->descriptor(), .events = events, .revents = 0});
  }
  bool may_go_on = std::any_of(sessions_.begin(), sessions_.end(),
                               [](const Session& each) { return !each.finished && !each.asks; });
  poll(states.data(), states.size(), may_go_on ? 0 : 50);
}

void RoundRunner::run() {
  prepare();
  auto is_done = [](const Session& each) { return each.finished; };
  while (!std::all_of(sessions_.begin(), sessions_.end(), is_done)) {
    if (!server_.is_running()) {
      died_ = true;
      add("died", server_.ended_as() + " " + server_.cause_of_death());
      return;
    }
    auto begin = Clock::now();
    for (Session& each : sessions_) advance(each);
    wait_for_news();
    for (Session& each : sessions_) {
      if (each.connection != nullptr) read(each);
    }
    // Nobody is blamed for the time that we took ourselves.
    auto own = Clock::now() - begin;
    for (Session& each : sessions_) {
      if (own > std::chrono::milliseconds(200)) each.since += own;
      watch(each);
    }
  }
}

}  // namespace pgsilo::sessions
