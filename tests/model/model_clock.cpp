// The clock of the kernels under test: the model's while a program runs, else the machine's.
#include <sys/syscall.h>
#include <unistd.h>
#include <ctime>

#include "tests/model/model_parker.h"

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  pgsilo::ModelTime* model = pgsilo::ModelTime::current();
  if (model == nullptr) return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  time->tv_sec = model->now_us() / 1000000;
  time->tv_nsec = model->now_us() % 1000000 * 1000;
  return 0;
}
