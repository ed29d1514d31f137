// How careful a session's next block at SERIALIZABLE is (docs/commit_protocol.md, Nobody starves):
// the more so, the more of its blocks were beaten in a row; and it stays so for some blocks more,
// for the rivals that beat it are there yet. Not at all where its client makes others wait.
// Thread safety: none; one per session.
#pragma once

#include <cstdint>

#include "executor/execution_context.h"

namespace pgsilo {

class BlockCaution {
 public:
  // For a client's next message, with locks that only help: then they go.
  static constexpr int64_t longest_wait_us = 100'000;

  Caution level() const { return level_; }
  // So long a block has waited for its client's next message.
  void note_wait(int64_t us) { is_slow_ |= us > longest_wait_us; }
  // A block has ended with a conflict.
  void note_beaten() {
    if (level_ != Caution::tables) level_ = static_cast<Caution>(static_cast<int>(level_) + 1);
    blocks_ = lasting_blocks;
    end_block();
  }
  void note_committed() {
    if (blocks_ != 0 && --blocks_ == 0) level_ = Caution::none;
    end_block();
  }

 private:
  static constexpr int lasting_blocks = 16;

  void end_block() {
    if (is_slow_) level_ = Caution::none;
    is_slow_ = false;
  }

  Caution level_ = Caution::none;
  int blocks_ = 0;  // until it is as carefree as ever
  bool is_slow_ = false;
};

}  // namespace pgsilo
