// The arithmetic of sequences, and what a state promises about its row. Between sessions over the
// wire: tests/protocol/sequence_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "catalog/data_definition.h"
#include "catalog/sequence/sequence_session.h"
#include "sql/sql_error.h"
#include "sql/types/type_context.h"
#include "storage/relation/relation_directory.h"
#include "tests/unit/catalog/catalog_fixture.h"

namespace pgsilo {
namespace {

using testing::CatalogEngine;
using testing::CatalogSession;

TEST(SequenceStep, CountsUpFromItsStart) {
  SequenceDefinition definition;
  SequencePosition position;
  create_sequence_definition({}, false, &definition, &position);
  SequenceStep step = *next_of_sequence(definition, position, 32);
  EXPECT_EQ(step.first, 1);
  EXPECT_TRUE(step.logs);
  EXPECT_EQ(step.logged, 33);
  EXPECT_EQ(step.position, (SequencePosition{1, 32, true}));
  step = *next_of_sequence(definition, step.position, 32);
  EXPECT_EQ(step.first, 2);
  EXPECT_FALSE(step.logs);
  EXPECT_EQ(step.position, (SequencePosition{2, 31, true}));
}

// Every value of every walk is one that was logged before it was returned.
TEST(SequenceStep, NeverPassesWhatItLogged) {
  for (int64_t increment : {1, 3, -2}) {
    for (int64_t cache : {1, 4, 50}) {
      for (bool cycles : {false, true}) {
        SequenceOptions options;
        options.increment = increment;
        options.cache = cache;
        options.cycles = cycles;
        options.min_value = {true, -20};
        options.max_value = {true, 61};
        SequenceDefinition definition;
        SequencePosition position;
        create_sequence_definition(options, false, &definition, &position);
        int64_t logged = 0;
        std::vector<int64_t> values;
        for (int call = 0; call < 200; ++call) {
          std::optional<SequenceStep> step = next_of_sequence(definition, position, 32);
          if (!step) {
            EXPECT_FALSE(cycles);
            break;
          }
          if (step->logs) logged = step->logged;
          int64_t beyond = increment > 0 ? logged - step->position.last_value
                                         : step->position.last_value - logged;
          EXPECT_GE(beyond, 0);
          EXPECT_EQ(beyond, step->position.log_count * std::abs(increment));
          for (int64_t value = step->first;; value += increment) {
            EXPECT_TRUE(value >= -20 && value <= 61);
            values.push_back(value);
            if (value == step->position.last_value) break;
          }
          position = step->position;
        }
        if (cycles) continue;
        EXPECT_EQ(values.size(), static_cast<size_t>(81 / std::abs(increment)) + 1);
        std::sort(values.begin(), values.end());
        EXPECT_EQ(std::adjacent_find(values.begin(), values.end()), values.end());
      }
    }
  }
}

TEST(SequenceStep, DoesNotOverflow) {
  SequenceDefinition definition;
  definition.min_value = INT64_MIN;
  definition.cache = INT64_MAX;
  std::optional<SequenceStep> step =
      next_of_sequence(definition, {INT64_MAX - 2, 0, true}, ReservationSize::most);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->first, INT64_MAX - 1);
  EXPECT_EQ(step->position, (SequencePosition{INT64_MAX, 0, true}));
  definition.increment = INT64_MIN;
  EXPECT_FALSE(next_of_sequence(definition, {-1, 0, true}, 32));
  EXPECT_EQ(next_of_sequence(definition, {0, 0, true}, 32)->first, INT64_MIN);
}

TEST(ReservationSize, GrowsWhileReservationsComeQuickly) {
  ReservationSize size;
  int64_t now_us = 1000000;
  EXPECT_EQ(size.next(now_us), ReservationSize::least);
  EXPECT_EQ(size.next(now_us += 100), ReservationSize::least);
  EXPECT_EQ(size.next(now_us += 100), ReservationSize::least);
  EXPECT_EQ(size.next(now_us += 100), 2 * ReservationSize::least);
  for (int i = 0; i < 10; ++i) size.next(now_us += 100);
  EXPECT_EQ(size.next(now_us += 10000), ReservationSize::most);
  EXPECT_EQ(size.next(now_us += 100000), ReservationSize::least);
}

TEST(SequenceWindowTest, GivesOutItsTicketsOnce) {
  SequenceWindow window;
  SequenceWindow::Ticket ticket;
  EXPECT_FALSE(window.take(&ticket));
  EXPECT_FALSE(window.is_open());
  window.open({.last_value = 7, .tickets = 2, .epoch = 3, .generation = 4});
  ASSERT_TRUE(window.take(&ticket));
  EXPECT_EQ(ticket.number, 0u);
  EXPECT_EQ(ticket.terms.last_value, 7);
  EXPECT_EQ(ticket.terms.epoch, 3u);
  EXPECT_EQ(ticket.terms.generation, 4u);
  EXPECT_EQ(window.taken(), 1u);
  ASSERT_TRUE(window.take(&ticket));
  EXPECT_EQ(ticket.number, 1u);
  for (int again = 0; again < 3; ++again) EXPECT_FALSE(window.take(&ticket));
  EXPECT_EQ(window.close(), 2u);
  EXPECT_FALSE(window.take(&ticket));
  window.open({.last_value = 9, .tickets = 5});
  ASSERT_TRUE(window.take(&ticket));
  EXPECT_EQ(window.close(), 1u);
}

// Windows come and go under the takers. What close() has counted is what the next begins behind,
// and no value comes twice.
TEST(SequenceWindowTest, NoTicketComesTwice) {
  constexpr int threads = 3;
  SequenceWindow window;
  std::atomic<bool> stop{false};
  std::vector<std::vector<int64_t>> taken(threads);
  std::vector<std::thread> running;
  running.reserve(threads);
  for (auto& values : taken) {
    running.emplace_back([&] {
      SequenceWindow::Ticket ticket;
      while (!stop.load(std::memory_order_relaxed)) {
        if (!window.take(&ticket)) {
          std::this_thread::yield();
          continue;
        }
        // All terms are of one window.
        ASSERT_EQ(ticket.terms.epoch, static_cast<uint64_t>(ticket.terms.last_value));
        ASSERT_EQ(ticket.terms.generation, ticket.terms.epoch + 1);
        ASSERT_LT(ticket.number, ticket.terms.tickets);
        values.push_back(ticket.terms.last_value + static_cast<int64_t>(ticket.number) + 1);
      }
    });
  }
  uint64_t position = 0;
  for (uint64_t round = 0; round < 2000; ++round) {
    uint64_t tickets = 1 + round % 50;
    window.open({static_cast<int64_t>(position), tickets, position, position + 1});
    // Some are used up, some are closed before; none without a taker, however they are scheduled.
    while (window.taken() == 0) std::this_thread::yield();
    for (int waits = 0; waits < 3 && window.taken() < tickets; ++waits) std::this_thread::yield();
    position += window.close();
  }
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& thread : running) thread.join();
  std::vector<int64_t> all;
  for (const auto& values : taken) all.insert(all.end(), values.begin(), values.end());
  std::sort(all.begin(), all.end());
  EXPECT_GT(all.size(), 100u);
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  EXPECT_LE(all.back(), static_cast<int64_t>(position));
  // A ticket is lost where a taker met the next window; hardly ever.
  EXPECT_GT(all.size(), position / 2);
}

class SequenceStateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    session_.begin();
    DataDefinition definition(session_.view, session_.transaction, types_);
    NewSequence from;
    from.name = "s";
    ASSERT_EQ(definition.create_sequence(from, {}, false), TransactionStatus::ok);
    ASSERT_EQ(session_.commit(), TransactionStatus::ok);
  }
  int64_t next() {
    int64_t value = 0;
    EXPECT_EQ(sequences_.next(session_.transaction, session_.view,
                              *session_.view.find_table({}, "s"), &value),
              TransactionStatus::ok);
    return value;
  }
  // What a restart would find.
  SequencePosition row() {
    Relation& states = *engine_.relations.find(Catalog::sequence_states);
    SequencePosition position;
    Arena arena;
    RowBuffer buffer(arena);
    states.tree().for_each([&](Record* record) {
      TidWord seen = record->stable_read(buffer);
      if (!seen.is_absent()) position = SequenceState::position_of_row(buffer.bytes());
      row_epoch_ = seen.tid().epoch();
    });
    return position;
  }

  CatalogEngine engine_;
  CatalogSession session_{engine_};
  SequenceSession sequences_;
  TypeContext types_;
  Epoch row_epoch_;
};

TEST_F(SequenceStateTest, CoversWhatItHandsOut) {
  EXPECT_EQ(row(), (SequencePosition{1, 0, false}));
  for (int64_t expected = 1; expected < 200; ++expected) {
    engine_.epochs.advance();
    session_.begin();
    EXPECT_EQ(next(), expected);
    EXPECT_GE(row().last_value, expected);
    EXPECT_TRUE(row().is_called);
    // The reply waits for the row.
    EXPECT_GE(session_.transaction.newest_epoch(), row_epoch_);
    if (expected % 3 == 0) {
      session_.abort();
    } else {
      EXPECT_EQ(session_.commit(), TransactionStatus::ok);
    }
  }
}

// Where it stands is told to the value, also while values leave without the latch.
TEST_F(SequenceStateTest, ShowsWhatWasTaken) {
  for (int64_t expected = 1; expected < 100; ++expected) {
    session_.begin();
    EXPECT_EQ(next(), expected);
    Epoch epoch;
    SequencePosition position = session_.view.find_table({}, "s")->sequence->state->show(&epoch);
    EXPECT_EQ(position.last_value, expected);
    EXPECT_EQ(position.last_value + position.log_count, row().last_value);
    EXPECT_EQ(epoch, row_epoch_);
    EXPECT_EQ(session_.commit(), TransactionStatus::ok);
  }
}

// Windows of any cache and direction give what one call after the other gives by the arithmetic.
TEST_F(SequenceStateTest, WindowsFollowTheArithmetic) {
  Relation& states = *engine_.relations.find(Catalog::sequence_states);
  const TableDescriptor& sequence = *session_.view.find_table({}, "s");
  for (int64_t increment : {1, -3, 7}) {
    for (int64_t cache : {1, 3, 32, 50}) {
      SequenceDefinition definition{.increment = increment,
                                    .max_value = 1000,
                                    .min_value = -1000,
                                    .cache = cache,
                                    .cycles = true};
      SequencePosition position{1, 0, false};
      SequenceState state(*sequence.relation, states, position, Epoch());
      WaitSettings settings;
      Transaction scribe(session_.worker, settings);
      session_.begin();
      for (int call = 0; call < 300; ++call) {
        SequenceGrant grant;
        ASSERT_EQ(state.take(session_.transaction, scribe, definition, &grant),
                  TransactionStatus::ok);
        SequenceStep step = *next_of_sequence(definition, position, ReservationSize::least);
        // Its reservations may be larger than the model's: only the values count.
        ASSERT_EQ(grant.first, step.first) << increment << " " << cache << " " << call;
        ASSERT_EQ(grant.last, step.position.last_value);
        position = step.position;
      }
      session_.abort();
    }
  }
}

TEST_F(SequenceStateTest, CreatorsCommitCoversItsOwnValues) {
  session_.begin(TransactionMode::interactive);
  DataDefinition definition(session_.view, session_.transaction, types_);
  SequenceOptions restart;
  restart.restart = {true, 1000};
  ASSERT_EQ(definition.alter_sequence(session_.view.find_table({}, "s")->oid, restart, {}),
            TransactionStatus::ok);
  CatalogView::Mark view = session_.view.mark();
  Transaction::Mark mark = session_.transaction.mark();
  EXPECT_EQ(next(), 1000);
  EXPECT_EQ(next(), 1001);
  session_.transaction.rollback_to(mark);
  session_.view.rollback_to(view);
  EXPECT_EQ(next(), 1002);
  EXPECT_EQ(row(), (SequencePosition{1, 0, false}));
  EXPECT_EQ(session_.commit(), TransactionStatus::ok);
  EXPECT_GE(row().last_value, 1002);
  session_.begin();
  EXPECT_EQ(next(), 1003);
  EXPECT_EQ(session_.commit(), TransactionStatus::ok);
}

// A one-shot holds no share: what it takes while somebody alters the sequence would come again.
TEST_F(SequenceStateTest, OneShotsDoNotTakeFromAFrozenState) {
  CatalogSession user(engine_);
  SequenceSession sequences;
  user.begin();
  const TableDescriptor& sequence = *user.view.find_table({}, "s");
  int64_t value = 0;
  EXPECT_EQ(sequences.next(user.transaction, user.view, sequence, &value), TransactionStatus::ok);
  session_.begin(TransactionMode::interactive);
  DataDefinition definition(session_.view, session_.transaction, types_);
  SequenceOptions options;
  options.cycles = true;
  ASSERT_EQ(definition.alter_sequence(sequence.oid, options, {}), TransactionStatus::ok);
  EXPECT_EQ(sequences.next(user.transaction, user.view, sequence, &value),
            TransactionStatus::must_wait);
  user.abort();
  EXPECT_EQ(next(), 2);
  session_.abort();
  user.begin();
  EXPECT_EQ(sequences.next(user.transaction, user.view, sequence, &value), TransactionStatus::ok);
  EXPECT_EQ(value, 2);
  EXPECT_EQ(user.commit(), TransactionStatus::ok);
}

// A restart from the rows alone.
TEST_F(SequenceStateTest, GoesOnBehindItsRow) {
  session_.begin();
  for (int i = 0; i < 40; ++i) next();
  EXPECT_EQ(session_.commit(), TransactionStatus::ok);
  int64_t reserved = row().last_value;
  ASSERT_TRUE(!engine_.catalog.open(session_.worker, WaitSettings{}));
  SequenceSession fresh;
  session_.begin();
  int64_t value = 0;
  EXPECT_EQ(
      fresh.next(session_.transaction, session_.view, *session_.view.find_table({}, "s"), &value),
      TransactionStatus::ok);
  EXPECT_EQ(value, reserved + 1);
  EXPECT_EQ(session_.commit(), TransactionStatus::ok);
}

// The session goes on with another worker's transactions: those begin with the numbers that the
// ones before had.
TEST_F(SequenceStateTest, WhatIsKnownGoesToOtherTransactions) {
  session_.begin();
  const TableDescriptor& sequence = *session_.view.find_table({}, "s");
  EXPECT_EQ(next(), 1);
  Epoch taken = session_.transaction.newest_epoch();
  EXPECT_EQ(session_.commit(), TransactionStatus::ok);
  SequenceSession moved = sequences_.leave();
  int64_t value = 0;
  session_.begin();
  EXPECT_FALSE(sequences_.current(session_.transaction, sequence, &value));
  EXPECT_FALSE(sequences_.last(session_.transaction, session_.view, &value));
  EXPECT_EQ(session_.commit(), TransactionStatus::ok);

  CatalogSession elsewhere(engine_);
  elsewhere.begin();
  EXPECT_TRUE(moved.current(elsewhere.transaction, sequence, &value));
  EXPECT_EQ(value, 1);
  // Its answer waits for the value's row as the first one did.
  EXPECT_GE(elsewhere.transaction.newest_epoch(), taken);
  EXPECT_TRUE(moved.last(elsewhere.transaction, elsewhere.view, &value));
  EXPECT_EQ(value, 1);
  EXPECT_EQ(elsewhere.commit(), TransactionStatus::ok);
}

// It holds its share of the sequence in each of them: nobody alters that meanwhile.
TEST_F(SequenceStateTest, SharesTheSequenceInEachTransaction) {
  CatalogSession first(engine_), second(engine_);
  SequenceSession sequences;
  CatalogSession* sessions[] = {&first, &second};
  for (CatalogSession* session : sessions) {
    session->begin(TransactionMode::interactive);
    int64_t value = 0;
    EXPECT_EQ(sequences.next(session->transaction, session->view,
                             *session->view.find_table({}, "s"), &value),
              TransactionStatus::ok);
    session_.settings.lock_timeout_us = 1000;
    session_.begin(TransactionMode::interactive);
    DataDefinition definition(session_.view, session_.transaction, types_);
    SequenceOptions options;
    options.cycles = true;
    EXPECT_EQ(definition.alter_sequence(session_.view.find_table({}, "s")->oid, options, {}),
              TransactionStatus::lock_timeout);
    session_.abort();
    EXPECT_EQ(session->commit(), TransactionStatus::ok);
    SequenceSession left = sequences.leave();
    sequences = std::move(left);
  }
}

TEST_F(SequenceStateTest, IsSharedByThreads) {
  constexpr int threads = 4;
  constexpr int rounds = 500;
  std::vector<std::vector<int64_t>> taken(threads);
  std::vector<std::thread> running;
  for (auto& values : taken) {
    running.emplace_back([&] {
      CatalogSession session(engine_);
      SequenceSession sequences;
      for (int i = 0; i < rounds; ++i) {
        session.begin();
        int64_t value = 0;
        ASSERT_EQ(sequences.next(session.transaction, session.view,
                                 *session.view.find_table({}, "s"), &value),
                  TransactionStatus::ok);
        ASSERT_EQ(session.commit(), TransactionStatus::ok);
        ASSERT_TRUE(values.empty() || values.back() < value);
        values.push_back(value);
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  std::vector<int64_t> all;
  for (const auto& values : taken) all.insert(all.end(), values.begin(), values.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all.size(), size_t{threads} * rounds);
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

}  // namespace
}  // namespace pgsilo
