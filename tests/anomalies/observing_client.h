// A client that runs random transactions over lists or registers, in all the ways a session can,
// and notes what it was told. No statement of it has a condition on what it finds, so what it asked
// for is what was done, or nothing was.
// Thread safety: each client belongs to one thread; Load is shared by all.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/anomalies/observed_history.h"
#include "tests/sessions/connection.h"

namespace pgsilo::anomalies {

// What the clients have in common, and what those who disturb them need to know.
struct Load {
  sessions::Address address;
  bool lists = true;
  size_t wanted = 0;  // transactions that committed
  std::atomic<size_t> committed = 0;
  std::atomic<Element> last_element = 0;
  std::atomic<bool> gives_up = false;
  struct Backend {
    std::atomic<int32_t> process = 0;
    std::atomic<int32_t> secret = 0;
  };
  std::vector<Backend> backends;  // by client

  bool is_done() const { return committed >= wanted || gives_up; }
  // Keys from this one on are in use, as many as `window`.
  static constexpr Key window = 16;
  Key first_key() const { return last_element / 30; }
  static const char* create(bool lists);
};

class ObservingClient {
 public:
  ObservingClient(Load& load, int number, uint64_t seed);
  // Until the load is done.
  void run();
  // Reads every key that was ever used.
  void read_everything();

  const ObservedHistory& history() const { return history_; }
  const std::string& violation() const { return violation_; }

 private:
  // A statement, and what it does to the notes.
  struct Step {
    std::string sql;
    std::vector<MicroOperation> operations;  // reads: to be filled in from the answer
    enum class Form : uint8_t {
      control,
      write,
      read_one,
      read_several,
      write_and_read
    } form = Form::control;
  };
  enum class Fate : uint8_t { answered, refused, lost };

  bool chance(uint64_t percent) { return random_.below(100) < percent; }
  bool connect();
  Step write_step(Key key);
  Step read_step(Key key);
  Step several_step(Key key);
  std::vector<Step> steps(bool reads_only);
  static Step control(const char* sql) { return {sql, {}, Step::Form::control}; }

  void transaction();
  void together(std::vector<Step> steps);
  void block(std::vector<Step> steps, bool reads_only);
  std::string message_of(const Step& step, bool extended);
  Fate ask(std::vector<Step>& steps, bool extended);
  void fill(Step& step, const sessions::Connection::Answer& answer);
  bool run_steps(std::vector<Step>& steps, ObservedTransaction* noted, Fate* fate);
  void note(ObservedTransaction transaction, Outcome outcome);
  void note_taken_back(const ObservedTransaction& transaction, std::vector<Step>& steps);
  std::vector<Element> elements_of(const std::string& text) const;

  Load& load_;
  const int number_;
  Random random_;
  std::unique_ptr<sessions::Connection> connection_;
  std::set<Key> known_;  // rows that were there when this client's last reads committed
  ObservedHistory history_;
  std::string violation_;
};

int64_t nanoseconds_now();

}  // namespace pgsilo::anomalies
