// Which worker waits for which epoch, and who tells them that it is durable.
//
// Each worker has one cell: the smallest epoch it wants to hear about, and the largest it asked
// for. The worker sets the former by a read-modify-write and then reads D; the publisher stores D
// and then reads the cell by a read-modify-write. Whichever comes second on the cell sees what the
// other did before. A worker that asked for more than D has reached is told again each time D
// moves.
//
// To wake a thread is a system call. So where there are many workers, whoever tells does not wake
// all of them one after the other: it goes through the cells, and with each worker that it wakes it
// leaves a share of those that are left, to be told by it before it does anything else
// (pass_on()). Only who slept gets one, for only that one will do nothing else first.
//
// Thread safety: any thread, except wait(), set_listener() and pass_on() of a worker: that
// worker's. Memory order: a share is left by a release and taken by an acquire, so who takes it
// sees the D that it is about.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "storage/epoch/durable_epoch.h"
#include "storage/epoch/epoch.h"

namespace pgsilo {

class DurableListener;

class WaitingWorkers {
 public:
  WaitingWorkers(const DurableEpoch& durable, size_t workers)
      : durable_(durable), workers_(workers), cells_(std::make_unique<Cell[]>(workers)) {}

  // When it returns, the listener before is not called any more.
  void set_listener(unsigned worker, DurableListener* listener);
  // False if `epoch` is durable already; else the worker's listener will be told.
  bool wait(unsigned worker, Epoch epoch);
  // D has moved.
  void tell_all() { tell({0, static_cast<uint32_t>(workers_)}); }
  // The worker has been woken by its listener: tells those who were left to it, if any were.
  void pass_on(unsigned worker);

  // Of those who are left the one who is woken gets a quarter: to be woken takes some times longer
  // than to wake somebody, so whoever is awake goes on with most of them. Below `least_share`
  // nobody gets any.
  static constexpr uint32_t share_divisor = 4;
  static constexpr uint32_t least_share = 2;

 private:
  // Cells begin <= w < end.
  struct Share {
    uint32_t begin = 0;
    uint32_t end = 0;
    bool empty() const { return begin == end; }
    uint64_t packed() const { return uint64_t{begin} << 32 | end; }
    static Share of(uint64_t packed) {
      return {static_cast<uint32_t>(packed >> 32), static_cast<uint32_t>(packed)};
    }
  };
  struct alignas(64) Cell {
    std::atomic<uint64_t> wanted{nothing};
    std::atomic<uint64_t> latest{0};  // written by the worker before `wanted`
    std::atomic<uint64_t> share{0};   // Share::packed() that was left to the worker; 0: none
    std::mutex listener_mutex;        // held while the listener is called, so that it can go away
    DurableListener* listener = nullptr;
  };
  static constexpr uint64_t nothing = UINT64_MAX;

  // The worker wants to hear of the epoch, or of an earlier one that it wanted before.
  static void want(Cell& cell, uint64_t epoch);
  void tell(Share cells);
  // True: the worker tells those of `share`, too.
  bool tell(Cell& cell, Share share);
  static bool wake(Cell& cell, Epoch durable);

  const DurableEpoch& durable_;
  const size_t workers_;
  const std::unique_ptr<Cell[]> cells_;
};

}  // namespace pgsilo
