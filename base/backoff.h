// How to wait for somebody who holds a bit for some dozen instructions: a few pauses, then the CPU
// is given away, because the holder may have lost its own.
#pragma once

#include <sched.h>

namespace pgsilo {

inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

class Backoff {
 public:
  void pause() {
    if (++rounds_ <= patient_rounds) {
      pause_briefly();
    } else {
      sched_yield();
    }
  }

 private:
  static constexpr int patient_rounds = 128;
  int rounds_ = 0;
};

}  // namespace pgsilo
