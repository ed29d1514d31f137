// Takers of a sequence's tickets against one who closes its window and opens the next, under every
// schedule with a bounded number of preemptions (catalog/sequence/sequence_window.h).
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "catalog/sequence/sequence_window.h"
#include "tests/model/interleaver.h"

namespace pgsilo {
namespace {

// The last thread moves the sequence, the others take values.
class WindowProgram : public Interleaver::Program {
 public:
  explicit WindowProgram(int takers) : takers_(takers) { open(2); }

  void run_thread(int index) override {
    if (index == takers_) return move();
    for (int round = 0; round < 2; ++round) take();
  }

  std::string verdict() override { return wrong_; }

 private:
  void open(uint64_t tickets) {
    uint64_t known = static_cast<uint64_t>(position_);
    window_.open({position_, tickets, known, known});
  }
  void take() {
    SequenceWindow::Ticket ticket;
    int64_t begun_behind = answered_;
    if (!window_.take(&ticket)) return;
    const SequenceWindow::Terms& terms = ticket.terms;
    if (terms.epoch != static_cast<uint64_t>(terms.last_value) || terms.generation != terms.epoch)
      wrong_ = "terms of two windows";
    int64_t value = terms.last_value + static_cast<int64_t>(ticket.number) + 1;
    if (!given_.insert(value).second) wrong_ = "a value came twice";
    if (value <= begun_behind) wrong_ = "a lower value than one that was answered before";
    if (value > position_ + 2) wrong_ = "a value beyond what is logged";
    answered_ = std::max(answered_, value);
  }
  void move() {
    for (int round = 0; round < 2; ++round) {
      position_ += static_cast<int64_t>(window_.close());
      if (!given_.empty() && *given_.rbegin() > position_) wrong_ = "a position before its values";
      if (round == 0) position_ += 10;  // setval()
      open(2);
    }
  }

  const int takers_;
  SequenceWindow window_;
  int64_t position_ = 0;
  int64_t answered_ = 0;
  std::set<int64_t> given_;
  std::string wrong_;
};

TEST(SequenceInterleavingTest, NoValueComesTwice) {
  const char* wanted = std::getenv("PGSILO_PREEMPTIONS");
  for (int takers : {1, 2}) {
    Interleaver interleaver(takers + 1, wanted != nullptr ? std::atoi(wanted) : 5 - takers,
                            [=] { return new WindowProgram(takers); });
    EXPECT_EQ(interleaver.explore(), "");
    EXPECT_GT(interleaver.runs(), 500u);
    RecordProperty("runs", static_cast<int>(interleaver.runs()));
  }
}

}  // namespace
}  // namespace pgsilo
