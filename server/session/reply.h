// What a session says to its client (and, of errors and notices, in the server's log): messages are
// collected in the connection's buffer and held until they may leave. A reply leaves when the reads
// it rests on are validated (the session sees to that before release()) and the log holds the
// newest epoch among them. What is not released can be taken back when a one-shot runs again.
// Thread safety: none; the session's fiber.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "executor/execution_context.h"
#include "server/limits.h"
#include "server/net/connection.h"
#include "server/pgwire/message_writer.h"
#include "server/session/session_log.h"
#include "server/settings/settings.h"
#include "sql/sql_error.h"

namespace pgsilo {

// Called when more output is held than may be: makes it true and lets it leave. May park. Throws
// TransactionConflict, or 57014 and worse when the session has to stop.
class OutputValve {
 public:
  virtual void output_is_full() = 0;
  // The answer is about to begin to leave: from here on the transaction cannot run again. Throws
  // TransactionConflict.
  virtual void answer_begins() = 0;
  // What was said so far may leave.
  virtual void release() = 0;

 protected:
  ~OutputValve() = default;
};

class Reply final : public NoticeSink {
 public:
  Reply(Connection& connection, Settings& settings, SessionLog& log, OutputValve& valve)
      : connection_(connection),
        settings_(settings),
        log_(log),
        valve_(valve),
        messages_(connection.output()) {}

  MessageWriter& messages() { return messages_; }
  ByteBuffer& buffer() { return connection_.output(); }
  Connection& connection() { return connection_; }

  // What was said so far rests on `epoch`.
  void rest_on(uint64_t epoch) { epoch_ = std::max(epoch_, epoch); }
  // All of it may leave once that epoch is durable.
  void release() {
    ++releases_;
    connection_.release(epoch_);
    epoch_ = 0;
  }
  void take_back() {
    messages_.cut();
    connection_.discard_unreleased();
  }
  // Where the answer stands.
  struct Position {
    uint64_t releases = 0;
    size_t bytes = 0;
  };
  Position position() const { return {releases_, connection_.unreleased_bytes()}; }
  // False: something that was said since may have left.
  bool can_return_to(const Position& position) const { return position.releases == releases_; }
  void return_to(const Position& position) {
    messages_.cut();
    connection_.discard_unreleased(position.bytes);
  }
  bool holds_output() const { return connection_.unreleased_bytes() != 0; }

  // After each row and each message of a pipeline, and now and then for notices: lets output leave
  // when too much is held.
  void limit_held() override {
    if (connection_.unreleased_bytes() >= limit_bytes_) [[unlikely]]
      valve_.output_is_full();
  }
  void begin_answer() { valve_.answer_begins(); }
  void let_leave() { valve_.release(); }
  // `bytes` may be held from now on.
  void set_limit(size_t bytes) { base_limit_bytes_ = limit_bytes_ = bytes; }
  // For the rest of this answer more may be held.
  void raise_limit() {
    limit_bytes_ =
        std::min(limit_bytes_ * 2, std::max(limit_bytes_, limits::largest_held_output_bytes));
  }
  void reset_limit() { limit_bytes_ = base_limit_bytes_; }

  void notice(const SqlError& notice) override;
  // The last words: not behind rows that the client may take long to read.
  void farewell(const SqlError& error);
  // In place of a message that could not be finished, if there is one.
  void error(const SqlError& error);

 private:
  Connection& connection_;
  Settings& settings_;
  SessionLog& log_;
  OutputValve& valve_;
  MessageWriter messages_;
  uint64_t epoch_ = 0;
  uint64_t releases_ = 0;
  size_t base_limit_bytes_ = SIZE_MAX;
  size_t limit_bytes_ = SIZE_MAX;
};

}  // namespace pgsilo
