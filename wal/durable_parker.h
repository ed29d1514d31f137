// Waits of a plain thread (tests, tools) that is a worker of its own: told what has become durable,
// it wakes. Thread safety: as Parker's.
#pragma once

#include "base/thread_parker.h"
#include "wal/wal.h"

namespace pgsilo {

class DurableParker final : public ThreadParker, public DurableListener {
 public:
  bool on_durable(Epoch) override {
    unpark();
    return false;
  }
};

}  // namespace pgsilo
