// How careful a session's next block at SERIALIZABLE is (docs/commit_protocol.md, Nobody starves):
// behind eight that were beaten in a row it locks what it reads, and some more do, for the rivals
// that beat them are there yet. All who write there wait for it, so not behind fewer: crowds that
// beat each other now and then would pay for it. Nor where its client makes others wait.
//
// Thread safety: none; one per session.
#pragma once

#include <cstdint>

#include "executor/execution_context.h"

namespace pgsilo {

class BlockCaution {
 public:
  // For a client's next message, with locks that only help: then they go.
  static constexpr int64_t longest_wait_us = 100'000;

  Caution level() const { return cautious_blocks_ != 0 ? Caution::tables : Caution::none; }
  // So long a block has waited for its client's next message.
  void note_wait(int64_t us) { is_slow_ |= us > longest_wait_us; }
  // A block has ended with a conflict.
  void note_beaten() {
    if (++in_a_row_ >= beaten_before_caution) cautious_blocks_ = lasting_blocks;
    end_block();
  }
  void note_committed() {
    in_a_row_ = 0;
    if (cautious_blocks_ != 0) --cautious_blocks_;
    end_block();
  }

 private:
  static constexpr int beaten_before_caution = 8;
  static constexpr int lasting_blocks = 16;

  void end_block() {
    if (is_slow_) cautious_blocks_ = 0;
    is_slow_ = false;
  }

  int in_a_row_ = 0;         // were beaten
  int cautious_blocks_ = 0;  // are to come
  bool is_slow_ = false;
};

}  // namespace pgsilo
