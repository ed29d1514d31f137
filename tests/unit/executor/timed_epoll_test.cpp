#include "executor/worker/timed_epoll.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "base/clock.h"
#include "executor/worker/worker.h"

namespace pgsilo {
namespace {

// For the rest of this thread's life, as an old kernel or a sandbox does it. False: not possible
// here.
bool refuse_epoll_pwait2(int error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter{.len = static_cast<unsigned short>(std::size(program)), .filter = program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// A worker's fiber sleeps, then waits until another thread has woken it through the worker's event.
void run_a_worker() {
  Worker worker({});
  WorkerFiber* self = nullptr;
  std::atomic<bool> waits{false};
  std::atomic<bool> released{false};
  int64_t slept_us = 0;
  auto body = [&] {
    int64_t began_us = monotonic_us();
    self->park(began_us + 700);
    slept_us = monotonic_us() - began_us;
    waits.store(true);
    while (!released.load()) self->park();
  };
  self = &worker.spawn([](void* f) { (*static_cast<decltype(body)*>(f))(); }, &body);
  std::thread other([&] {
    while (!waits.load()) usleep(100);
    released.store(true);
    self->unpark();
    worker.request_stop();
  });
  worker.run();
  other.join();
  EXPECT_GE(slept_us, 700);
}

class TimedEpollTest : public testing::TestWithParam<int> {};

TEST_P(TimedEpollTest, AWorkerRunsWithoutEpollPwait2) {
  bool possible = true;
  std::thread([&] {
    possible = refuse_epoll_pwait2(GetParam());
    if (possible) run_a_worker();
  }).join();
  if (!possible) GTEST_SKIP() << "no system call filters here";
}
INSTANTIATE_TEST_SUITE_P(Errors, TimedEpollTest, testing::Values(ENOSYS, EPERM));

// 0 looks, a short time passes, and what is ready is there at once.
TEST(TimedEpoll, TellsWhatIsReadyWithEitherCall) {
  auto look = [] {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    epoll_event wanted{.events = EPOLLIN | EPOLLET, .data = {.fd = pipe_ends[0]}};
    ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, pipe_ends[0], &wanted), 0);
    epoll_event events[4];
    EXPECT_EQ(timed_epoll_wait(epoll, events, 0), 0);
    int64_t began_us = monotonic_us();
    EXPECT_EQ(timed_epoll_wait(epoll, events, 1500), 0);
    EXPECT_GE(monotonic_us() - began_us, 1500);
    for (int64_t timeout_us : {int64_t{-1}, int64_t{10'000'000}, int64_t{0}}) {
      ASSERT_EQ(write(pipe_ends[1], "x", 1), 1);
      ASSERT_EQ(timed_epoll_wait(epoll, events, timeout_us), 1);
      EXPECT_EQ(events[0].data.fd, pipe_ends[0]);
    }
    for (int descriptor : {epoll, pipe_ends[0], pipe_ends[1]}) close(descriptor);
  };
  look();
  std::thread([&] {
    if (refuse_epoll_pwait2(ENOSYS)) look();
  }).join();
}

}  // namespace
}  // namespace pgsilo
