#include "base/fiber.h"

#include <exception>
#include <utility>

#include "base/check.h"

namespace pgsilo {
namespace {
thread_local Fiber* current_fiber = nullptr;
}  // namespace

Fiber::Fiber(StackPool& pool, Body body, void* argument)
    : pool_(pool), stack_(pool.acquire()), body_(body), argument_(argument) {
  prepare_stack_context(own_, stack_, run, this);
}

Fiber::~Fiber() {
  PGSILO_CHECK(finished_ || !started_);
  discard_stack_context(own_);
  pool_.release(std::move(stack_));
}

Fiber* Fiber::current() { return current_fiber; }

void Fiber::resume() {
  PGSILO_DCHECK(!finished_ && current_fiber != this);
  started_ = true;
  previous_ = std::exchange(current_fiber, this);
  outside_ = &current_stack_context();
  switch_stack(*outside_, *inside_);
  current_fiber = std::exchange(previous_, nullptr);
}

void Fiber::suspend() {
  PGSILO_DCHECK(current_fiber == this);
  PGSILO_DCHECK(std::uncaught_exceptions() == 0 && std::current_exception() == nullptr);
  inside_ = &current_stack_context();
  switch_stack(*inside_, *outside_);
}

void Fiber::run(void* self) {
  Fiber& fiber = *static_cast<Fiber*>(self);
  fiber.body_(fiber.argument_);
  fiber.finished_ = true;
  switch_stack(fiber.own_, *fiber.outside_, true);
}

}  // namespace pgsilo
