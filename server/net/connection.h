// One client's socket with its two buffers. Input is read into a buffer from which the session
// takes whole messages, and into which it can go back to run a one-shot again. Output is collected,
// released up to an epoch, and leaves when that epoch is durable; sending goes on by itself while
// the session's fiber does other things or waits.
//
// Thread safety: none; the worker's thread. Functions marked (parks) are called in the session's
// fiber only. Invariants: bytes leave in order; sent <= allowed <= released <= written; released
// bytes never change.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "base/byte_buffer.h"
#include "executor/wait_report.h"
#include "executor/worker/worker.h"
#include "server/limits.h"
#include "server/net/client_wait.h"
#include "server/net/stop_flags.h"

namespace pgsilo {

// What has arrived and was not taken, on its way from one worker's Connection to another's.
struct UnreadInput {
  std::unique_ptr<char[]> bytes;
  size_t capacity = 0;
  size_t read_ahead = limits::input_buffer_bytes;
  size_t begin = 0;
  size_t end = 0;
};

class Connection final : public IoHandler, public DurableWaiter {
 public:
  // The (non-blocking) descriptor stays the caller's, who closes it afterwards.
  Connection(Worker& worker, int descriptor);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Who waits here; first call in the session's fiber. `stop`: somebody wants the session to end,
  // waiting for input returns.
  // `report` and `client_wait` (may be null) are told for what.
  void attach(Parker& parker, const std::atomic<bool>& stop, WaitReport* report = nullptr,
              ClientWait* client_wait = nullptr) {
    parker_ = &parker;
    stop_ = &stop;
    report_ = report;
    client_wait_ = client_wait;
  }

  // Between two messages, with nothing to send: another Connection of the descriptor may take its
  // place. It begins with the input of this one, which is of no use any more.
  bool may_be_replaced() const { return !broken_ && output_.size() == sent_ && marks_.empty(); }
  UnreadInput take_input();
  void begin_with(UnreadInput input);

  // Where the client is: a numeric address and port; nothing is set for a Unix socket.
  void peer(std::string* address, int32_t* port) const;

  // The client is gone (or we gave up on it): nothing is read or sent any more.
  bool broken() const { return broken_; }
  void give_up() { broken_ = true; }
  // With last words, a message that is there already, if the client is not in the midst of another.
  void give_up(std::string_view last_words);
  bool end_of_input() const { return end_of_input_; }
  // It has closed its side; what it sent before may still be read. Most likely nobody reads
  // answers.
  bool peer_closed() const { return broken_ || peer_closed_; }

  // --- input: [taken by replay | unread] ---
  std::string_view unread() const { return {input_.get() + cursor_, end_ - cursor_}; }
  // (parks) Reads until `bytes` unread bytes are there. False: end of file, broken, the deadline
  // passed, or one of the flags is up: attach()'s or those of `also_stop`. Throws
  // MemoryLimitReached when there is no room for that many; what has arrived stays.
  bool fill(size_t bytes, int64_t deadline_us = Parker::no_deadline, StopFlags also_stop = {});
  // Moves past `bytes` unread bytes. They stay readable until the next fill(), or as long as a
  // replay point is set.
  void consume(size_t bytes) { cursor_ += bytes; }
  // (parks) The same for bytes that may still be on their way, which nobody wants. No replay point
  // is set. False: as fill().
  bool discard(size_t bytes, int64_t deadline_us, StopFlags also_stop);
  // From here on input is kept, until drop_replay_point().
  void set_replay_point() {
    replay_ = cursor_;
    has_replay_ = true;
  }
  void drop_replay_point() { has_replay_ = false; }
  // The next unread byte is the first one after the replay point.
  void rewind() { cursor_ = replay_; }
  size_t replay_bytes() const { return has_replay_ ? cursor_ - replay_ : 0; }
  // What input costs: bytes moved to make room for more, so far, and the room there is.
  uint64_t moved_input_bytes() const { return moved_input_bytes_; }
  size_t input_capacity() const { return capacity_; }

  // --- output ---
  ByteBuffer& output() { return output_; }
  // Bytes written since the last release.
  size_t unreleased_bytes() const { return output_.size() - released_; }
  // From begin() on, as long as it lives, a long value may be written into output(): its growth
  // asks for memory, and nothing is moved in it, so that the fiber may give way between pieces.
  class LongOutput {
   public:
    explicit LongOutput(Connection& connection) : connection_(connection) {}
    ~LongOutput() { set(false); }
    void begin() { set(true); }
    LongOutput(const LongOutput&) = delete;
    LongOutput& operator=(const LongOutput&) = delete;

   private:
    void set(bool is_long) {
      connection_.output_stays_ = is_long;
      connection_.output_.set_asks(is_long);
    }

    Connection& connection_;
  };
  // Takes back what was written since the last release but its first `keep` bytes.
  void discard_unreleased(size_t keep = 0) { output_.truncate(released_ + keep); }
  // Takes back, released or not, the rows and lines of COPY at the end of the output of which
  // nothing has left: their answer will not be complete. The output is whole messages.
  void discard_rows();
  // What was written so far may leave when `epoch` is durable.
  void release(uint64_t epoch);
  // (parks) Waits while the client reads too slowly. False: broken, the deadline passed, or a flag
  // is up as in fill().
  bool wait_for_backlog(size_t limit, int64_t deadline_us = Parker::no_deadline,
                        StopFlags also_stop = {});
  // (parks) Waits until everything released has been sent, or `deadline_us`: a socket that has any
  // room gets something. False: broken or too late.
  bool drain(int64_t deadline_us);
  size_t backlog_bytes() const { return released_ - sent_; }

  void on_io(bool readable, bool writable, bool closed) override;
  void on_durable(uint64_t durable_epoch) override;

 private:
  struct Mark {
    size_t end;  // offset in output_
    uint64_t epoch;
  };

  bool read_some();
  void adapt_read_ahead(size_t count, size_t room);
  void make_input_room(size_t bytes);
  static size_t input_growth(size_t bytes, size_t missing, size_t kept);
  void move_input(char* to, size_t from, size_t count);
  void give_back_input(size_t bytes);
  void allow(uint64_t durable_epoch);
  void send_allowed();
  void shrink_output();
  size_t message_at(size_t offset) const;
  void wake();
  void park(WaitEvent event, int64_t deadline_us);
  void note_unsynced(bool unsynced);
  bool stopped(StopFlags also_stop) const {
    return stop_->load(std::memory_order_relaxed) || also_stop.any();
  }

  Worker& worker_;
  const int descriptor_;
  Parker* parker_ = nullptr;
  const std::atomic<bool>* stop_ = nullptr;
  WaitReport* report_ = nullptr;
  ClientWait* client_wait_ = nullptr;
  bool broken_ = false;
  bool end_of_input_ = false;
  bool peer_closed_ = false;  // the last event there will be: read until the end of file
  // Edge-triggered: true until a call says that it would block.
  bool may_read_ = true;
  bool may_send_ = true;
  bool waits_for_input_ = false;
  bool waits_for_output_ = false;

  std::unique_ptr<char[]> input_;
  size_t capacity_ = 0;
  size_t read_ahead_ = limits::input_buffer_bytes;  // how much a read should ask for
  size_t cursor_ = 0;
  size_t end_ = 0;
  size_t replay_ = 0;
  bool has_replay_ = false;
  uint64_t moved_input_bytes_ = 0;

  ByteBuffer output_;
  bool output_stays_ = false;
  size_t message_ = 0;  // where a message begins: the first one of output_ that begins there
  size_t sent_ = 0;
  size_t allowed_ = 0;
  size_t released_ = 0;
  std::deque<Mark> marks_;  // released, not yet allowed; ends and epochs ascend
};

}  // namespace pgsilo
