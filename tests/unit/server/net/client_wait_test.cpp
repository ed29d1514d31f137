// Who reads a little now and then, where the kernel tells of no event, is at work.
#include "server/net/client_wait.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "server/limits.h"

namespace pgsilo {
namespace {

class ClientWaitTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (GetParam() == AF_UNIX) {
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0);
    } else {
      connect_by_tcp();
    }
  }
  ~ClientWaitTest() override {
    for (int end : ends_) close(end);
  }
  void connect_by_tcp() {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{.sin_family = AF_INET,
                        .sin_port = 0,
                        .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)},
                        .sin_zero = {}};
    auto* any = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof address;
    ASSERT_EQ(bind(listener, any, length), 0);
    ASSERT_EQ(listen(listener, 1), 0);
    ASSERT_EQ(getsockname(listener, any, &length), 0);
    ends_[1] = socket(AF_INET, SOCK_STREAM, 0);
    // It grows for who reads much at once.
    int buffer_bytes = 200000;
    setsockopt(ends_[1], SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
    ASSERT_EQ(connect(ends_[1], any, length), 0);
    ends_[0] = accept(listener, nullptr, nullptr);
    close(listener);
  }
  void fill_socket() {
    const std::string piece(100000, 'x');
    for (int idle = 0; idle < 20;) {
      bool is_full = send(ends_[0], piece.data(), piece.size(), MSG_DONTWAIT) < 0;
      idle = is_full ? idle + 1 : 0;
      if (is_full) usleep(1000);
    }
  }
  // More than the kernel keeps to itself, and less than what is there.
  void client_reads() {
    std::string piece(GetParam() == AF_UNIX ? 100000 : 500000, ' ');
    ASSERT_EQ(recv(ends_[1], piece.data(), piece.size(), MSG_WAITALL),
              static_cast<ssize_t>(piece.size()));
    usleep(10000);
  }

  int ends_[2] = {-1, -1};
  ClientWait wait_;
};

TEST_P(ClientWaitTest, WhoSendsNothingHasStalled) {
  EXPECT_FALSE(wait_.has_stalled(limits::silent_client_us));
  wait_.begin(10, ends_[0], false);
  EXPECT_FALSE(wait_.has_stalled(9 + limits::silent_client_us));
  EXPECT_TRUE(wait_.has_stalled(10 + limits::silent_client_us));
  wait_.renew(20);
  EXPECT_FALSE(wait_.has_stalled(10 + limits::silent_client_us));
  EXPECT_FALSE(wait_.still_reads(10 + limits::silent_client_us));
  wait_.end();
  EXPECT_FALSE(wait_.has_stalled(20 + limits::silent_client_us));
  wait_.renew(20);  // none lasts
  EXPECT_FALSE(wait_.has_stalled(20 + limits::silent_client_us));
}

TEST_P(ClientWaitTest, WhoReadsOnHasNot) {
  fill_socket();
  int64_t now_us = 10;
  wait_.begin(now_us, ends_[0], true);
  EXPECT_FALSE(wait_.has_stalled(now_us + limits::silent_client_us));
  for (int i = 0; i < 3; ++i) {
    client_reads();
    now_us += limits::unread_client_us;
    EXPECT_FALSE(wait_.has_stalled(now_us)) << i;
    EXPECT_TRUE(wait_.still_reads(now_us)) << i;
    fill_socket();
    wait_.renew(now_us);
    EXPECT_FALSE(wait_.has_stalled(now_us)) << i;
  }
  EXPECT_FALSE(wait_.has_stalled(now_us + limits::unread_client_us - 1));
  EXPECT_TRUE(wait_.has_stalled(now_us + limits::unread_client_us));
  EXPECT_FALSE(wait_.still_reads(now_us + limits::unread_client_us));
}

// It is to send something, and has not read all that it was sent.
TEST_P(ClientWaitTest, WhoHasSomethingToReadFirstHasNot) {
  fill_socket();
  wait_.begin(10, ends_[0], false);
  int64_t now_us = 10 + limits::silent_client_us;
  EXPECT_FALSE(wait_.has_stalled(now_us));
  EXPECT_TRUE(wait_.still_reads(now_us));
  EXPECT_FALSE(wait_.has_stalled(now_us + limits::unread_client_us - 1));
  EXPECT_TRUE(wait_.has_stalled(now_us + limits::unread_client_us));
}

INSTANTIATE_TEST_SUITE_P(Sockets, ClientWaitTest, ::testing::Values(AF_UNIX, AF_INET));

}  // namespace
}  // namespace pgsilo
