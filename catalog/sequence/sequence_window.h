// The values of a sequence that anybody may take without a latch: a window over those that are
// logged, which SequenceState opens when it has moved the sequence under its latch, and closes
// before it does so again. Each taker gets a ticket by one atomic addition; the ticket's number
// tells which values are his.
//
// One word has the window's number and, below, how many tickets were asked for. A taker reads what
// the window says between a look at the word and his addition to it; if both show the same number,
// the window was open all the while, for numbers never come back. Else he has lost a ticket of
// some later window, whose values nobody gets: a gap. While it is closed, or used up, the word
// says so by itself.
//
// Thread safety: take(): any thread. The rest: one thread at a time (SequenceState's latch).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/check.h"

namespace pgsilo {

class SequenceWindow {
 public:
  struct Terms {
    int64_t last_value = 0;   // the last value taken before the window
    uint64_t tickets = 0;     // at most most_tickets
    uint64_t epoch = 0;       // what its values rest on
    uint64_t generation = 0;  // SequenceState::generation()
  };
  struct Ticket {
    Terms terms;
    uint64_t number = 0;  // below terms.tickets
  };
  static constexpr uint64_t most_tickets = 1 << 20;

  // False: it is closed, or used up.
  bool take(Ticket* ticket) {
    uint64_t seen = word_.load(std::memory_order_acquire);  // pairs with open()
    for (;;) {
      ticket->terms = {
          last_value_.load(std::memory_order_relaxed), tickets_.load(std::memory_order_relaxed),
          epoch_.load(std::memory_order_relaxed), generation_.load(std::memory_order_relaxed)};
      if (asked(seen) >= ticket->terms.tickets) return false;
      // Acquire as above, if it is another window. Release: whoever closes the window writes after
      // we have read.
      uint64_t found = word_.fetch_add(1, std::memory_order_acq_rel);
      if (window(found) == window(seen)) {
        ticket->number = asked(found);
        return ticket->number < ticket->terms.tickets;
      }
      seen = found + 1;
    }
  }

  bool is_open() const { return (word_.load(std::memory_order_relaxed) & closed_bit) == 0; }
  // It is closed.
  void open(const Terms& terms) {
    PGSILO_DCHECK(!is_open() && terms.tickets <= most_tickets);
    last_value_.store(terms.last_value, std::memory_order_relaxed);
    tickets_.store(terms.tickets, std::memory_order_relaxed);
    epoch_.store(terms.epoch, std::memory_order_relaxed);
    generation_.store(terms.generation, std::memory_order_relaxed);
    uint64_t next = window(word_.load(std::memory_order_relaxed)) + 1;
    word_.store(next << ticket_bits, std::memory_order_release);
  }
  // It is open. From now on nobody takes anything; returns how many tickets were taken.
  uint64_t close() {
    PGSILO_DCHECK(is_open());
    uint64_t next = window(word_.load(std::memory_order_relaxed)) + 1;
    // Acquire: what the takers have read of the window they read before it is written again.
    uint64_t found = word_.exchange((next << ticket_bits) | closed_bit, std::memory_order_acq_rel);
    return taken(found);
  }
  // A moment's number.
  uint64_t taken() const { return taken(word_.load(std::memory_order_relaxed)); }

 private:
  // A taker adds at most one to a window that he has found used up, so this is far from the next
  // bit; and so is the closed bit from all numbers of tickets.
  static constexpr int ticket_bits = 24;
  static constexpr uint64_t closed_bit = uint64_t{1} << (ticket_bits - 1);
  static uint64_t window(uint64_t word) { return word >> ticket_bits; }
  static uint64_t asked(uint64_t word) { return word & ((uint64_t{1} << ticket_bits) - 1); }
  uint64_t taken(uint64_t word) const {
    return std::min(asked(word), tickets_.load(std::memory_order_relaxed));
  }

  alignas(64) std::atomic<uint64_t> word_{closed_bit};
  std::atomic<int64_t> last_value_{0};
  std::atomic<uint64_t> tickets_{0};
  std::atomic<uint64_t> epoch_{0};
  std::atomic<uint64_t> generation_{0};
};

}  // namespace pgsilo
