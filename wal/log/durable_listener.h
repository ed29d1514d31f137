// Who is told when the log has become durable (WaitingWorkers).
#pragma once

#include <cstdint>

#include "storage/epoch/epoch.h"

namespace pgsilo {

class DurableListener {
 public:
  // Any thread, possibly the worker's own inside request_durable() or try_step(). Must not block.
  // True: the worker slept, was woken by this, and calls Wal::pass_on() before it does anything
  // else.
  virtual bool on_durable(Epoch durable) = 0;

 protected:
  ~DurableListener() = default;
};

enum class LoggerWake : uint8_t { now, later };

}  // namespace pgsilo
