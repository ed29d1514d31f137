// A session whose statements run in turns with those of others on one thread: wherever it would
// wait or give way, whoever resumes it decides who is next. Wake-ups are as spurious as they may
// be. Thread safety: none.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "base/fiber.h"
#include "base/parker.h"
#include "tests/unit/executor/sql_session.h"

namespace pgsilo {

class SessionFiber final : public Parker, private TimeBudget {
 public:
  // The body ends soon when cancelled() says so.
  using Body = std::function<void(SessionFiber&)>;
  SessionFiber(StackPool& stacks, testing::SqlSession& session, Body body)
      : session_(session), body_(std::move(body)), fiber_(stacks, run, this) {
    session_.settings.parker = session_.context.parker = this;
    session_.settings.cancelled = session_.context.cancel_requested = &cancelled_;
    session_.settings.deadlock_timeout_us = 1;  // whoever waits looks for one each time it is woken
    session_.context.time_budget = this;
  }

  testing::SqlSession& session() { return session_; }
  void resume() { fiber_.resume(); }
  bool finished() const { return fiber_.finished(); }
  // Its statement ends with 57014 where it waits or gives way.
  void cancel() { cancelled_.store(true); }
  bool cancelled() const { return cancelled_.load(); }

  // Inside the body: lets others run.
  void pause() { fiber_.suspend(); }
  void park(int64_t) override {
    if (!std::exchange(awake_, false)) pause();
  }
  void give_way() override { pause(); }
  void unpark() override { awake_ = true; }

 private:
  static void run(void* self) {
    auto& fiber = *static_cast<SessionFiber*>(self);
    fiber.body_(fiber);
  }
  bool yield_if_spent() override {
    pause();
    return true;
  }

  testing::SqlSession& session_;
  Body body_;
  Fiber fiber_;
  std::atomic<bool> cancelled_{false};
  bool awake_ = false;
};

}  // namespace pgsilo
