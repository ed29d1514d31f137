#include "server/net/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/byte_order.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/memory_budget.h"
#include "server/limits.h"
#include "server/net/client_socket.h"
#include "server/pgwire/protocol.h"

namespace pgsilo {

Connection::Connection(Worker& worker, int descriptor) : worker_(worker), descriptor_(descriptor) {
  output_.set_asks(false);  // but while a LongOutput is at it
  worker_.watch(descriptor_, *this);
}

Connection::~Connection() {
  worker_.commit_queue().forget(*this);
  worker_.unwatch(descriptor_);
}

UnreadInput Connection::take_input() {
  UnreadInput input{.bytes = std::move(input_),
                    .capacity = capacity_,
                    .read_ahead = read_ahead_,
                    .begin = cursor_,
                    .end = end_};
  capacity_ = cursor_ = end_ = replay_ = 0;
  has_replay_ = false;
  return input;
}

// Whether there is more in the socket, or its end, is seen by the first read: may_read_ is up, and
// epoll tells of it once more.
void Connection::begin_with(UnreadInput input) {
  input_ = std::move(input.bytes);
  capacity_ = input.capacity;
  read_ahead_ = input.read_ahead;
  cursor_ = input.begin;
  end_ = input.end;
}

void Connection::give_up(std::string_view last_words) {
  if (!broken_ && backlog_bytes() == 0) say_farewell(descriptor_, last_words);
  broken_ = true;
}

void Connection::peer(std::string* address, int32_t* port) const {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (getpeername(descriptor_, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return;
  char text[INET6_ADDRSTRLEN];
  if (storage.ss_family == AF_INET) {
    const auto& in4 = reinterpret_cast<const sockaddr_in&>(storage);
    *address = inet_ntop(AF_INET, &in4.sin_addr, text, sizeof text);
    *port = ntohs(in4.sin_port);
  } else if (storage.ss_family == AF_INET6) {
    const auto& in6 = reinterpret_cast<const sockaddr_in6&>(storage);
    *address = inet_ntop(AF_INET6, &in6.sin6_addr, text, sizeof text);
    *port = ntohs(in6.sin6_port);
  }
}

void Connection::on_io(bool readable, bool writable, bool closed) {
  if (closed) peer_closed_ = true;
  if (readable) {
    may_read_ = true;
    if (waits_for_input_) wake();
  }
  if (writable) {
    may_send_ = true;
    if (sent_ == allowed_) return;
    if (client_wait_ != nullptr) client_wait_->renew(monotonic_us());
    send_allowed();
  }
}

void Connection::wake() {
  if (parker_ != nullptr) parker_->unpark();
}

void Connection::park(WaitEvent event, int64_t deadline_us) {
  WaitScope waits(report_, event);
  if (client_wait_ != nullptr)
    client_wait_->begin(monotonic_us(), descriptor_, event == WaitEvent::client_write);
  parker_->park(deadline_us);
  if (client_wait_ != nullptr) client_wait_->end();
}

void Connection::note_unsynced(bool unsynced) {
  if (report_ != nullptr) report_->unsynced.store(unsynced, std::memory_order_relaxed);
}

// --- input ---

bool Connection::fill(size_t bytes, int64_t deadline_us, StopFlags also_stop) {
  while (end_ - cursor_ < bytes) {
    if (broken_ || end_of_input_ || stopped(also_stop)) return false;
    if (may_read_) {
      make_input_room(bytes);
      if (read_some()) {
        parker_->give_way();  // a client may send as fast as we read
        continue;
      }
      if (broken_ || end_of_input_) return false;
    }
    if (deadline_us != Parker::no_deadline && monotonic_us() >= deadline_us) return false;
    give_back_input(bytes);
    waits_for_input_ = true;
    park(WaitEvent::client_read, deadline_us);
    waits_for_input_ = false;
  }
  return true;
}

bool Connection::discard(size_t bytes, int64_t deadline_us, StopFlags also_stop) {
  while (bytes != 0) {
    if (cursor_ == end_ && !fill(1, deadline_us, also_stop)) return false;
    size_t gone = std::min(bytes, end_ - cursor_);
    consume(gone);
    bytes -= gone;
  }
  return true;
}

bool Connection::read_some() {
  size_t room = std::min(capacity_ - end_, limits::max_read_bytes);
  ssize_t count = recv(descriptor_, input_.get() + end_, room, 0);
  if (count > 0) {
    end_ += static_cast<size_t>(count);
    adapt_read_ahead(static_cast<size_t>(count), room);
    // A short read has emptied the socket (epoll(7)); the next bytes are a new event.
    if (static_cast<size_t>(count) < room && !peer_closed_) may_read_ = false;
    return true;
  }
  if (count == 0) {
    end_of_input_ = true;
  } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
    may_read_ = false;
  } else if (errno != EINTR) {
    broken_ = true;
  }
  return false;
}

// A client that has more to send than a read takes waits until most of that is gone. So reads
// become longer for it: it fills the socket again while we work on what was in it.
void Connection::adapt_read_ahead(size_t count, size_t room) {
  if (count == room) {
    read_ahead_ = std::min(2 * read_ahead_, limits::max_read_bytes);
  } else if (count < read_ahead_ / 8) {
    read_ahead_ = std::max(read_ahead_ / 2, limits::input_buffer_bytes);
  }
}

// Room for a good part of a read, or for what a long message lacks.
void Connection::make_input_room(size_t bytes) {
  give_back_input(bytes);
  size_t missing = bytes - std::min(bytes, end_ - cursor_);
  size_t wanted = read_ahead_ / 2;
  if (bytes > limits::max_read_bytes) wanted = std::min(wanted, missing);
  if (capacity_ - end_ >= wanted && end_ != capacity_) return;
  size_t keep_from = has_replay_ ? replay_ : cursor_;
  size_t kept = end_ - keep_from;
  bool slides = keep_from >= kept && capacity_ - kept >= read_ahead_;
  if (slides) {
    move_input(input_.get(), keep_from, kept);
  } else {
    size_t capacity = kept + input_growth(bytes, missing, kept) + read_ahead_;
    // What is short goes on above the limit.
    bool asks = std::min(bytes, capacity) > limits::free_message_bytes;
    if (asks) require_room(capacity);
    auto grown = std::make_unique_for_overwrite<char[]>(capacity);
    move_input(grown.get(), keep_from, kept);
    input_ = std::move(grown);
    capacity_ = capacity;
  }
  moved_input_bytes_ += kept;
  cursor_ -= keep_from;
  end_ -= keep_from;
  if (has_replay_) replay_ = 0;
}

// The buffer grows with what has arrived, never with what a length word claims alone: it doubles
// until a quarter is here, and then gets room for the rest, so that no more than that quarter lies
// in two buffers at once. Beside a longer replay it grows by half at least, so that all that is
// moved until that is here is no more than a few times its length.
size_t Connection::input_growth(size_t bytes, size_t missing, size_t kept) {
  bool is_quarter_here = missing <= 3 * kept;
  size_t growth = is_quarter_here ? missing : std::min(kept, (missing - 3 * kept) / 4);
  bool is_mostly_replay = bytes < (kept + missing) / 2;
  return is_mostly_replay ? std::max(growth, kept / 2) : growth;
}

// To a lower address or another buffer; gives way in between.
void Connection::move_input(char* to, size_t from, size_t count) {
  for (size_t done = 0; done < count;) {
    size_t piece = std::min(count - done, limits::max_read_bytes);
    std::memmove(to + done, input_.get() + from + done, piece);
    done += piece;
    if (done < count) parker_->give_way();
  }
}

// What a long message has left behind, where no such message is being waited for.
void Connection::give_back_input(size_t bytes) {
  size_t keep_from = has_replay_ ? replay_ : cursor_;
  bool is_large = capacity_ > std::max(limits::kept_buffer_bytes, 2 * read_ahead_);
  if (keep_from != end_ || !is_large || bytes > limits::input_buffer_bytes) return;
  input_.reset();
  capacity_ = end_ = cursor_ = replay_ = 0;
}

// --- output ---

void Connection::release(uint64_t epoch) {
  if (output_.size() == released_) return;
  released_ = output_.size();
  if (marks_.empty() && worker_.commit_queue().is_durable(epoch)) {
    allowed_ = released_;
    send_allowed();
    return;
  }
  if (!marks_.empty()) epoch = std::max(epoch, marks_.back().epoch);
  bool first = marks_.empty();
  marks_.push_back({released_, epoch});
  if (!first) return;
  note_unsynced(true);
  worker_.commit_queue().wait(*this, epoch);
}

void Connection::on_durable(uint64_t durable_epoch) {
  while (!marks_.empty() && marks_.front().epoch <= durable_epoch) {
    allowed_ = marks_.front().end;
    marks_.pop_front();
  }
  // send_allowed() may reset offsets only when no mark is left.
  if (marks_.empty()) {
    note_unsynced(false);
  } else {
    worker_.commit_queue().wait(*this, marks_.front().epoch);
  }
  send_allowed();
}

void Connection::send_allowed() {
  while (sent_ < allowed_ && may_send_ && !broken_) {
    ssize_t count = send(descriptor_, output_.data() + sent_, allowed_ - sent_, MSG_NOSIGNAL);
    if (count >= 0) {
      sent_ += static_cast<size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      may_send_ = false;
    } else if (errno != EINTR) {
      broken_ = true;
      wake();
    }
  }
  shrink_output();
  if (waits_for_output_) wake();
}

// Drops what was sent. Bytes are moved only when little is left, so that sending a long result
// stays linear.
void Connection::shrink_output() {
  size_t left = output_.size() - sent_;
  if (sent_ == 0 || left > sent_ || output_stays_) return;
  size_t dropped = sent_;
  message_ = left == 0 ? 0 : message_at(sent_) - sent_;
  if (left == 0 && output_.capacity() > limits::kept_buffer_bytes) {
    output_ = ByteBuffer();
  } else {
    std::memmove(output_.data(), output_.data() + sent_, left);
    output_.truncate(left);
  }
  sent_ = 0;
  allowed_ -= dropped;
  released_ -= dropped;
  for (Mark& mark : marks_) mark.end -= dropped;
}

// Where the first message at `offset` or behind it begins, of output that is whole messages.
size_t Connection::message_at(size_t offset) const {
  size_t at = message_;
  while (at < offset && at + 5 <= output_.size()) at += 1 + load_be32(output_.data() + at + 1);
  return std::max(at, offset);
}

void Connection::discard_rows() {
  size_t end = message_at(sent_);
  for (size_t at = end; at + 5 <= output_.size();) {
    auto type = static_cast<BackendMessage>(output_.data()[at]);
    at += 1 + load_be32(output_.data() + at + 1);
    if (type != BackendMessage::data_row && type != BackendMessage::copy_data) end = at;
  }
  if (end >= output_.size()) return;
  output_.truncate(end);
  released_ = std::min(released_, end);
  allowed_ = std::min(allowed_, end);
  for (Mark& mark : marks_) mark.end = std::min(mark.end, end);
}

bool Connection::wait_for_backlog(size_t limit, int64_t deadline_us, StopFlags also_stop) {
  while (backlog_bytes() > limit && !broken_ && !stopped(also_stop)) {
    if (deadline_us != Parker::no_deadline && monotonic_us() >= deadline_us) return false;
    waits_for_output_ = true;
    park(WaitEvent::client_write, deadline_us);
    waits_for_output_ = false;
  }
  return !broken_ && !stopped(also_stop);
}

bool Connection::drain(int64_t deadline_us) {
  while (backlog_bytes() > 0 && !broken_) {
    int64_t now_us = monotonic_us();
    if (now_us >= deadline_us) return false;
    waits_for_output_ = true;
    park(WaitEvent::client_write, std::min(deadline_us, now_us + limits::last_send_us));
    waits_for_output_ = false;
    // There is room before most of what was sent is read, and only then an event.
    may_send_ = true;
    send_allowed();
  }
  return !broken_;
}

}  // namespace pgsilo
