// All fences there are, in one place because ThreadSanitizer does not model them: in its builds
// each is replaced by an ordered operation. First the two orderings of a seqlock (records and tree
// nodes alike), where that is one on the version word itself.
//
// Reader:  v = word (acquire); relaxed loads of the data; word again by load_after_reads(); equal:
// the loads fit together. Writer:  word := being changed; after_marking(word); relaxed stores of
// the data; word := new version (release).
//
// Why it holds: if a reader's relaxed load returns a value the writer stored after its
// after_marking() fence, that fence synchronizes with the reader's fence in load_after_reads(), so
// the reader's second look at the word sees the mark or something newer, and differs from v.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/sanitizers.h"

namespace pgsilo {

// Loads `word` after every load that precedes the call in program order.
inline uint64_t load_after_reads(const std::atomic<uint64_t>& word) {
#ifdef PGSILO_TSAN
  return const_cast<std::atomic<uint64_t>&>(word).fetch_or(0, std::memory_order_acq_rel);
#else
  std::atomic_thread_fence(std::memory_order_acquire);  // partner: the fence in after_marking()
  return word.load(std::memory_order_relaxed);
#endif
}

// Orders the mark just stored in `word` before every store that follows the call in program order.
inline void after_marking(std::atomic<uint64_t>& word) {
#ifdef PGSILO_TSAN
  word.fetch_or(0, std::memory_order_acq_rel);
#else
  static_cast<void>(word);
  std::atomic_thread_fence(std::memory_order_release);  // partner: the fence in load_after_reads()
#endif
}

// Orders what was written and read before the call before what is read after it, in the one order
// of sequentially consistent operations.
inline void full_fence() {
#ifdef PGSILO_TSAN
  static std::atomic<uint64_t> word;
  word.fetch_add(1, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace pgsilo
