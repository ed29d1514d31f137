// One session publishes, others look.
#include "server/session/session_activity.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "server/limits.h"

namespace pgsilo {
namespace {

using State = SessionInfo::State;
constexpr int no_socket = -1;

TEST(SessionActivity, TellsWhatItWasTold) {
  SessionActivity activity;
  activity.introduce("anna", nullptr, "127.0.0.1", 4711, 10);
  activity.set_application_name("shell");
  activity.begin("select 1", 20);
  activity.set_transaction_start(20);
  activity.set_pin_start(21);
  SessionInfo info = activity.read();
  EXPECT_EQ(info.user, "anna");
  EXPECT_EQ(info.client_address, "127.0.0.1");
  EXPECT_EQ(info.client_port, 4711);
  EXPECT_EQ(info.application_name, "shell");
  EXPECT_EQ(info.state, State::active);
  EXPECT_EQ(info.query, "select 1");
  EXPECT_EQ(info.backend_start, 10);
  EXPECT_EQ(info.transaction_start, 20);
  EXPECT_EQ(info.pin_start, 21);
  // The clock that says when it ended may be a little behind.
  activity.end(State::idle_in_transaction, 15);
  info = activity.read();
  EXPECT_EQ(info.state, State::idle_in_transaction);
  EXPECT_EQ(info.state_change, 20);
}

TEST(SessionActivity, AnAnswerThatWaitsForTheLogIsActive) {
  SessionActivity activity;
  activity.end(State::idle, 1);
  activity.wait_report().event = WaitEvent::client_read;
  EXPECT_EQ(activity.read().wait, WaitEvent::client_read);
  activity.wait_report().unsynced = true;
  EXPECT_EQ(activity.read().state, State::active);
  EXPECT_EQ(activity.read().wait, WaitEvent::log_sync);
}

TEST(SessionActivity, APreparedTextGivesWayToAnother) {
  SessionActivity activity;
  auto text = std::make_shared<CachedText::Syntax>();
  text->text = "select $1";
  std::shared_ptr<const CachedText::Syntax> prepared = text;
  activity.begin(prepared, 1);
  EXPECT_EQ(activity.read().query, "select $1");
  activity.begin("select 2", 2);
  EXPECT_EQ(activity.read().query, "select 2");
  activity.begin(prepared, 3);
  EXPECT_EQ(activity.read().query, "select $1");
}

TEST(SessionActivity, IdlesInAStatementWhenItsClientDoesNothing) {
  SessionActivity activity;
  activity.begin(std::string_view("select"), 1);
  activity.set_pin_start(1);
  const int64_t now_us = 10 + limits::silent_client_us;
  EXPECT_FALSE(activity.idles_in_transaction(now_us));
  activity.client_wait().begin(10, no_socket, false);
  EXPECT_FALSE(activity.idles_in_transaction(now_us - 1));
  EXPECT_TRUE(activity.idles_in_transaction(now_us));
  activity.wait_report().unsynced = true;  // it is the log that is waited for
  EXPECT_FALSE(activity.idles_in_transaction(now_us));
}

TEST(SessionActivity, DoesNotIdleWhileItsClientReadsTheAnswer) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ASSERT_EQ(write(ends[0], "answer", 6), 6);
  SessionActivity activity;
  activity.end(State::idle_in_transaction, 1);
  activity.client_wait().begin(10, ends[0], false);
  EXPECT_FALSE(activity.idles_in_transaction(20));
  EXPECT_FALSE(activity.idles_in_transaction(19 + limits::unread_client_us));
  EXPECT_TRUE(activity.idles_in_transaction(20 + limits::unread_client_us));
  char answer[6];
  ASSERT_EQ(read(ends[1], answer, sizeof answer), 6);
  EXPECT_TRUE(activity.idles_in_transaction(30 + limits::unread_client_us));
  close(ends[0]);
  close(ends[1]);
}

// "commit; begin" in one message: its client was not told yet that the first one is committed.
TEST(SessionActivity, DoesNotIdleWhileItsAnswerWaitsForTheLog) {
  SessionActivity activity;
  activity.begin(std::string_view("commit; begin"), 1);
  for (State state : {State::idle_in_transaction, State::idle_in_failed_transaction}) {
    activity.end(state, 2);
    activity.wait_report().unsynced = true;
    EXPECT_FALSE(activity.idles_in_transaction(3));
    activity.wait_report().unsynced = false;
    EXPECT_TRUE(activity.idles_in_transaction(3));
  }
}

}  // namespace
}  // namespace pgsilo
