// Included before everything else in the sources of the kernels that model_kernels explores: in
// them every access to a std::atomic or a std::mutex is a place where the interleaver may switch
// threads, and every pause of a spinning thread one where another must go on. So it is the
// production code itself that is explored, and no access can be forgotten. Orders are not modelled:
// memory is sequentially consistent here.
#pragma once

#define PGSILO_EXPLORES_ATOMICS 1  // base/racing_vector.h

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <compare>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pgsilo {
// Defined by the interleaver. `waiting`: the caller can go on only after another made a step.
void schedule_point(bool waiting);
}  // namespace pgsilo

namespace std {

template <typename T>
class pgsilo_scheduled_atomic {
 public:
  constexpr pgsilo_scheduled_atomic() = default;
  constexpr pgsilo_scheduled_atomic(T value) : value_(value) {}
  pgsilo_scheduled_atomic(const pgsilo_scheduled_atomic&) = delete;
  pgsilo_scheduled_atomic& operator=(const pgsilo_scheduled_atomic&) = delete;

  T load(memory_order = memory_order_seq_cst) const {
    pgsilo::schedule_point(false);
    return value_;
  }
  void store(T value, memory_order = memory_order_seq_cst) {
    pgsilo::schedule_point(false);
    value_ = value;
  }
  T exchange(T value, memory_order = memory_order_seq_cst) {
    pgsilo::schedule_point(false);
    return std::exchange(value_, value);
  }
  bool compare_exchange_strong(T& expected, T desired, memory_order = memory_order_seq_cst,
                               memory_order = memory_order_seq_cst) {
    pgsilo::schedule_point(false);
    bool equal = value_ == expected;
    (equal ? value_ : expected) = equal ? desired : value_;
    return equal;
  }
  bool compare_exchange_weak(T& expected, T desired, memory_order = memory_order_seq_cst,
                             memory_order = memory_order_seq_cst) {
    return compare_exchange_strong(expected, desired);
  }
  T fetch_add(T value, memory_order = memory_order_seq_cst) {
    pgsilo::schedule_point(false);
    return std::exchange(value_, static_cast<T>(value_ + value));
  }
  T fetch_sub(T value, memory_order = memory_order_seq_cst) {
    pgsilo::schedule_point(false);
    return std::exchange(value_, static_cast<T>(value_ - value));
  }
  T fetch_and(T value, memory_order = memory_order_seq_cst) {
    pgsilo::schedule_point(false);
    return std::exchange(value_, value_ & value);
  }
  T fetch_or(T value, memory_order = memory_order_seq_cst) {
    pgsilo::schedule_point(false);
    return std::exchange(value_, value_ | value);
  }
  T fetch_xor(T value, memory_order = memory_order_seq_cst) {
    pgsilo::schedule_point(false);
    return std::exchange(value_, value_ ^ value);
  }
  operator T() const { return load(); }
  T operator=(T value) {
    store(value);
    return value;
  }

 private:
  T value_{};
};

// Threads are fibers of one real thread here, which must not wait for itself.
class pgsilo_scheduled_mutex {
 public:
  void lock() {
    for (pgsilo::schedule_point(false); taken_;) pgsilo::schedule_point(true);
    taken_ = true;
  }
  bool try_lock() {
    pgsilo::schedule_point(false);
    return !std::exchange(taken_, true);
  }
  void unlock() { taken_ = false; }

 private:
  bool taken_ = false;
};

}  // namespace std

#define mutex pgsilo_scheduled_mutex
#define atomic pgsilo_scheduled_atomic
#define sched_yield() pgsilo::schedule_point(true)
#if defined(__x86_64__)
#define __builtin_ia32_pause() pgsilo::schedule_point(true)
#endif
