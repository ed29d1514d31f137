#include "tests/model/interleaver.h"

#include <memory>

#include "base/check.h"
#include "base/fiber.h"
#include "storage/index/schedule_point.h"

namespace pgsilo {

namespace {
Interleaver* exploring = nullptr;  // the one whose threads are running
}  // namespace

struct Interleaver::Thread {
  Thread(StackPool& stacks, Program& program, int index)
      : program(program),
        index(index),
        fiber(stacks, [](void* self) { static_cast<Thread*>(self)->run(); }, this) {}
  void run() { program.run_thread(index); }

  Program& program;
  int index;
  Fiber fiber;
};

void schedule_point(bool waiting) {
  if (exploring != nullptr && Fiber::current() != nullptr) exploring->point(waiting);
}

Interleaver* Interleaver::current() { return exploring; }

std::string Interleaver::explore() {
  exploring = this;
  do {
    run_once();
    ++runs_;
  } while (failure_.empty() && next_schedule());
  exploring = nullptr;
  return failure_;
}

void Interleaver::run_once() {
  std::unique_ptr<Program> program(make_());
  std::vector<std::unique_ptr<Thread>> threads;
  threads.reserve(threads_);
  for (int i = 0; i < threads_; ++i)
    threads.push_back(std::make_unique<Thread>(stacks_, *program, i));
  alive_.clear();
  for (auto& thread : threads) alive_.push_back(thread.get());
  position_ = 0;
  preemptions_ = 0;
  running_ = 0;
  waits_in_a_row_ = 0;
  steps_ = 0;
  // Which thread begins is a choice too, and costs no preemption; so is who goes on when one ends.
  bool choose_freely = true;
  while (!alive_.empty()) {
    if (choose_freely) choose(/*waiting=*/true);
    Thread* thread = alive_[running_];
    thread->fiber.resume();
    // Two threads that only wait for each other would go on for ever; nothing could be cleaned up
    // either.
    PGSILO_CHECK(!deadlock_);
    choose_freely = thread->fiber.finished();
    if (choose_freely) {
      alive_.erase(alive_.begin() + running_);
      running_ = 0;
      waits_in_a_row_ = 0;
    }
  }
  std::string wrong = program->verdict();
  if (!wrong.empty()) failure_ = wrong + " under schedule " + schedule_text();
}

void Interleaver::point(bool waiting) {
  Thread* self = alive_[running_];
  ++steps_;
  waits_in_a_row_ = waiting ? waits_in_a_row_ + 1 : waits_in_a_row_;
  if (waits_in_a_row_ > 1000) deadlock_ = true;
  if (waiting && alive_.size() > 1 && !deadlock_) {
    // Somebody else must go on. With two threads there is no choice.
    running_ = (running_ + 1) % static_cast<int>(alive_.size());
  } else if (!waiting) {
    choose(/*waiting=*/false);
  }
  if (deadlock_ || alive_[running_] != self) self->fiber.suspend();
}

// `waiting`: free of charge, among all threads.
void Interleaver::choose(bool waiting) {
  int others = static_cast<int>(alive_.size()) - 1;
  if (others == 0 || (!waiting && preemptions_ == max_preemptions_)) return;
  if (position_ == schedule_.size()) schedule_.push_back({0, others + 1});
  Choice choice = schedule_[position_++];
  PGSILO_CHECK(choice.options == others + 1);  // the program is deterministic
  if (choice.taken == 0) return;
  running_ = (running_ + choice.taken) % (others + 1);
  if (!waiting) ++preemptions_;
}

bool Interleaver::next_schedule() {
  while (!schedule_.empty() && schedule_.back().taken + 1 == schedule_.back().options)
    schedule_.pop_back();
  if (schedule_.empty()) return false;
  ++schedule_.back().taken;
  return true;
}

std::string Interleaver::schedule_text() const {
  std::string text;
  for (size_t i = 0; i < position_; ++i) {
    if (schedule_[i].taken != 0)
      text += " " + std::to_string(i) + ":" + std::to_string(schedule_[i].taken);
  }
  return "[" + text + " ]";
}

}  // namespace pgsilo
