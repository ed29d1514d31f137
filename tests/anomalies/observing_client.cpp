#include "tests/anomalies/observing_client.h"

#include <chrono>
#include <thread>

#include "tests/protocol/wire_messages.h"

namespace pgsilo::anomalies {
namespace wire = protocol_test;
namespace {

using Kind = MicroOperation::Kind;
constexpr int patience = 60000;           // milliseconds
constexpr int taken_back_process = 1000;  // plus the client's number: what it took back

std::string number(int64_t value) { return std::to_string(value); }

}  // namespace

int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

const char* Load::create(bool lists) {
  return lists ? "create table keys (k int primary key, g int not null, v text not null)"
               : "create table keys (k int primary key, g int not null, v int not null)";
}

ObservingClient::ObservingClient(Load& load, int number, uint64_t seed)
    : load_(load), number_(number), random_(seed) {}

bool ObservingClient::connect() {
  if (connection_ != nullptr && connection_->is_connected()) return true;
  connection_ = std::make_unique<sessions::Connection>(load_.address);
  if (connection_->is_connected()) {
    connection_->keep_answers();
    connection_->send_startup({{"user", "postgres"}, {"database", "postgres"}});
    if (connection_->finish(patience)) {
      auto at = static_cast<size_t>(number_);
      if (at < load_.backends.size()) {
        load_.backends[at].secret = connection_->secret();
        load_.backends[at].process = connection_->process();
      }
      return true;
    }
  }
  connection_.reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return false;
}

ObservingClient::Step ObservingClient::write_step(Key key) {
  Element element = ++load_.last_element;
  MicroOperation write{load_.lists ? Kind::append : Kind::write, key, true, {element}};
  std::string value = load_.lists ? "'," + number(element) + "'" : number(element);
  // Rows are never deleted, so who has seen one need not insert it.
  if (known_.contains(key) && chance(40)) {
    std::string sql = "update keys set v = " + std::string(load_.lists ? "v || " : "") + value +
                      " where k = " + number(key);
    if (!load_.lists || chance(50)) return {sql, {write}, Step::Form::write};
    return {
        sql + " returning v", {write, {Kind::read, key, false, {}}}, Step::Form::write_and_read};
  }
  return {"insert into keys (k, g, v) values (" + number(key) + ", " + number(key / 4) + ", " +
              value + ") on conflict (k) do update set v = " + (load_.lists ? "keys.v || " : "") +
              "excluded.v",
          {write},
          Step::Form::write};
}

ObservingClient::Step ObservingClient::read_step(Key key) {
  return {"select v from keys where k = " + number(key),
          {{Kind::read, key, false, {}}},
          Step::Form::read_one};
}

// By an index that comes and goes, or by a range of the key.
ObservingClient::Step ObservingClient::several_step(Key key) {
  Key first = key / 4 * 4;
  Step step{"select k, v from keys where " +
                (chance(10) ? "g = " + number(key / 4)
                            : "k between " + number(first) + " and " + number(first + 3)),
            {},
            Step::Form::read_several};
  for (Key each = first; each < first + 4; ++each)
    step.operations.push_back({Kind::read, each, false, {}});
  return step;
}

std::vector<ObservingClient::Step> ObservingClient::steps(bool reads_only) {
  std::vector<Step> steps;
  Key first = load_.first_key();
  for (uint64_t count = 1 + random_.below(chance(50) ? 3 : 10); count > 0; --count) {
    Key key = first + static_cast<Key>(random_.below(Load::window));
    bool writes = !reads_only && chance(45);
    steps.push_back(writes ? write_step(key) : chance(70) ? read_step(key) : several_step(key));
  }
  return steps;
}

std::string ObservingClient::message_of(const Step& step, bool extended) {
  if (!extended) return wire::query(step.sql);
  return wire::parse("", step.sql) + wire::bind("", "") + wire::execute("", 0);
}

std::vector<Element> ObservingClient::elements_of(const std::string& text) const {
  std::vector<Element> elements;
  for (size_t at = load_.lists ? 1 : 0; at < text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    elements.push_back(std::stoi(text.substr(at, end - at)));
    at = end + 1;
  }
  return elements;
}

void ObservingClient::fill(Step& step, const sessions::Connection::Answer& answer) {
  for (MicroOperation& each : step.operations) {
    if (each.kind != Kind::read) continue;
    each.is_answered = true;
    for (const sessions::Row& row : answer.rows) {
      if (step.form != Step::Form::read_several) {
        each.elements = elements_of(row[0]);
      } else if (std::stoi(row[0]) == each.key) {
        each.elements = elements_of(row[1]);
      }
    }
  }
}

// Sends all at once and waits for all answers.
ObservingClient::Fate ObservingClient::ask(std::vector<Step>& steps, bool extended) {
  connection_->take_errors();
  connection_->take_answers();
  if (extended) {
    for (const Step& each : steps) {
      for (const std::string& message :
           {wire::parse("", each.sql), wire::bind("", ""), wire::execute("", 0)})
        connection_->send(message);
    }
    connection_->send(wire::sync());
  } else {
    std::string text;
    for (const Step& each : steps) text += (text.empty() ? "" : "; ") + each.sql;
    connection_->send(wire::query(text));
  }
  bool is_answered = connection_->finish(patience);
  if (!connection_->violation().empty()) violation_ = connection_->violation();
  auto answers = connection_->take_answers();
  for (size_t i = 0; i < answers.size() && i < steps.size(); ++i) fill(steps[i], answers[i]);
  // A session that was ended may have committed before: its last words do not tell.
  if (!is_answered || connection_->judge().may_end()) {
    connection_.reset();
    return Fate::lost;
  }
  bool is_refused = !connection_->take_errors().empty() || answers.size() < steps.size() ||
                    (steps.back().sql == "commit" && answers.back().tag != "COMMIT");
  return is_refused ? Fate::refused : Fate::answered;
}

void ObservingClient::note(ObservedTransaction transaction, Outcome outcome) {
  transaction.completed = nanoseconds_now();
  transaction.outcome = outcome;
  if (outcome == Outcome::ok) {
    ++load_.committed;
    for (const MicroOperation& each : transaction.operations) {
      if (each.kind == Kind::read && !each.elements.empty()) known_.insert(each.key);
    }
    while (known_.size() > 64) known_.erase(known_.begin());
  }
  history_.push_back(std::move(transaction));
}

// In one message or one pipeline, in a block of its own or in none.
void ObservingClient::together(std::vector<Step> steps) {
  bool extended = chance(50);
  if (steps.size() > 1 && chance(30)) {
    steps.insert(steps.begin(), control("begin"));
    steps.push_back(control("commit"));
  }
  ObservedTransaction noted{number_, nanoseconds_now(), 0, Outcome::info, {}};
  Fate fate = ask(steps, extended);
  for (Step& each : steps)
    noted.operations.insert(noted.operations.end(), each.operations.begin(), each.operations.end());
  if (fate == Fate::refused && connection_->judge().status() != 'I') {
    std::vector<Step> rollback = {control("rollback")};
    ask(rollback, false);
  }
  note(std::move(noted), fate == Fate::answered  ? Outcome::ok
                         : fate == Fate::refused ? Outcome::fail
                                                 : Outcome::info);
}

// One by one. False: the block has failed.
bool ObservingClient::run_steps(std::vector<Step>& steps, ObservedTransaction* noted, Fate* fate) {
  for (Step& each : steps) {
    std::vector<Step> one = {each};
    *fate = ask(one, chance(40));
    each = one[0];
    noted->operations.insert(noted->operations.end(), each.operations.begin(),
                             each.operations.end());
    if (*fate != Fate::answered) return false;
  }
  return true;
}

// Writes behind a savepoint that was gone back to: as if of a transaction that failed.
void ObservingClient::note_taken_back(const ObservedTransaction& transaction,
                                      std::vector<Step>& steps) {
  ObservedTransaction noted{
      number_ + taken_back_process, transaction.invoked, 0, Outcome::fail, {}};
  for (Step& step : steps) {
    for (MicroOperation& each : step.operations) {
      if (each.kind != Kind::read) noted.operations.push_back(each);
    }
  }
  if (!noted.operations.empty()) note(std::move(noted), Outcome::fail);
}

void ObservingClient::block(std::vector<Step> steps, bool reads_only) {
  static constexpr const char* begins[] = {"begin", "begin isolation level serializable",
                                           "start transaction"};
  static constexpr const char* reading[] = {
      "begin read only", "begin read only",
      "begin isolation level serializable read only deferrable"};
  ObservedTransaction noted{number_, nanoseconds_now(), 0, Outcome::info, {}};
  Fate fate = Fate::answered;
  bool goes_well = true;
  auto say = [&](const char* sql) {
    std::vector<Step> one = {control(sql)};
    if (goes_well) goes_well = run_steps(one, &noted, &fate);
  };
  say(reads_only ? reading[random_.below(3)] : begins[random_.below(3)]);
  if (goes_well) goes_well = run_steps(steps, &noted, &fate);
  if (!reads_only && chance(20)) {
    ObservedTransaction aside = noted;
    std::vector<Step> undone = this->steps(false);
    say("savepoint a");
    if (goes_well) goes_well = run_steps(undone, &aside, &fate);
    if (fate == Fate::refused) {  // an error is taken back as well
      fate = Fate::answered;
      goes_well = true;
    }
    say("rollback to a");
    note_taken_back(noted, undone);
    if (goes_well && chance(50)) {
      std::vector<Step> more = this->steps(false);
      goes_well = run_steps(more, &noted, &fate);
    }
  }
  if (!goes_well || chance(4)) {
    if (fate != Fate::lost) {
      std::vector<Step> rollback = {control("rollback")};
      ask(rollback, false);
    }
    return note(std::move(noted), Outcome::fail);  // it was never asked to commit
  }
  std::vector<Step> commit = {control("commit")};
  fate = ask(commit, chance(40));
  note(std::move(noted), fate == Fate::answered  ? Outcome::ok
                         : fate == Fate::refused ? Outcome::fail
                                                 : Outcome::info);
}

void ObservingClient::transaction() {
  bool reads_only = chance(15);
  std::vector<Step> planned = steps(reads_only);
  if (chance(25)) planned.resize(1);  // a statement by itself
  if (planned.size() == 1 || chance(40)) {
    together(std::move(planned));
  } else {
    block(std::move(planned), reads_only);
  }
}

void ObservingClient::run() {
  while (!load_.is_done() && violation_.empty()) {
    if (connect()) transaction();
  }
}

void ObservingClient::read_everything() {
  Key last = load_.first_key() + Load::window;
  for (Key first = 0; first <= last; first += 8) {
    std::vector<Step> both;
    while (history_.empty() || history_.back().outcome != Outcome::ok ||
           history_.back().operations.front().key != first) {
      both = {several_step(first), several_step(first + 4)};
      if (connect()) together(both);
      if (load_.gives_up) return;
    }
  }
}

}  // namespace pgsilo::anomalies
