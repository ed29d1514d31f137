#include "base/crash_report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <thread>

#include "base/check.h"
#include "base/fiber.h"
#include "base/limits.h"
#include "base/sanitizers.h"

namespace pgsilo {
namespace {

class Witness final : public CrashWitness {
 public:
  void tell(int descriptor) const noexcept override {
    static_cast<void>(!write(descriptor, "somebody ran\n", 13));
  }
};
const Witness witness;

void prepare() {
  set_crash_witness(&witness);
  install_crash_reports();
}

TEST(CrashReportDeathTest, AFailedCheckTellsWhatRanAndWhere) {
  EXPECT_DEATH(
      {
        prepare();
        PGSILO_CHECK(1 > 2);
      },
      "PANIC: +check failed: 1 > 2 at .*crash_report_test.cpp:[0-9]+\n"
      "somebody ran\n.*the stack:\n.*unit_base");
}

TEST(CrashReportDeathTest, AnExceptionThatNobodyCatches) {
  EXPECT_DEATH(
      {
        prepare();
        std::thread([] { throw std::runtime_error("lost"); }).join();
      },
      "PANIC: +uncaught exception: lost\nsomebody ran\n");
}

#if !defined(PGSILO_ASAN) && !defined(PGSILO_TSAN)
volatile int sink = 0;

// Deeper with every call, and none that a stack has room for is the last.
[[gnu::noinline]] int dig(int depth) {
  volatile char here[512];
  here[0] = static_cast<char>(depth);
  sink = sink + here[0];
  return depth < 0 ? 0 : dig(depth + 1) + here[0];
}

TEST(CrashReportDeathTest, AStackThatIsUsedUp) {
  EXPECT_DEATH(
      {
        prepare();
        CrashStack stack;
        StackPool stacks(limits::fiber_stack_bytes, limits::kept_stack_bytes);
        Fiber fiber(stacks, [](void*) { sink = dig(0); }, nullptr);
        fiber.resume();
      },
      "PANIC: +SIGSEGV.*\nsomebody ran\n");
}

// The signal ends the process all the same.
TEST(CrashReportDeathTest, EndsByTheSignal) {
  EXPECT_EXIT(
      {
        prepare();
        raise(SIGSEGV);
      },
      testing::KilledBySignal(SIGSEGV), "PANIC: +SIGSEGV");
}
#endif

}  // namespace
}  // namespace pgsilo
