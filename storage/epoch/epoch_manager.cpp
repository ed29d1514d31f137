#include "storage/epoch/epoch_manager.h"

#include <algorithm>

namespace pgsilo {

CommitSlot::CommitSlot(EpochManager& manager) : manager_(manager), cell_(manager.take_cell()) {}

CommitSlot::~CommitSlot() {
  PGSILO_CHECK(!inside());
  cell_->taken.store(false, std::memory_order_release);  // pairs with the exchange in take_cell()
}

EpochManager::EpochManager(Epoch first) : epoch_(first.value()), completed_(first.value() - 1) {
  PGSILO_CHECK(first > Epoch(0));
}

EpochManager::~EpochManager() {
  CommitSlot::Cell* cell = cells_.load(std::memory_order_acquire);
  while (cell != nullptr) {
    PGSILO_CHECK(!cell->taken.load(std::memory_order_acquire));
    CommitSlot::Cell* following = cell->next;
    delete cell;
    cell = following;
  }
}

CommitSlot::Cell* EpochManager::take_cell() {
  for (CommitSlot::Cell* cell = cells_.load(std::memory_order_acquire); cell != nullptr;
       cell = cell->next) {
    if (!cell->taken.exchange(true, std::memory_order_acq_rel)) return cell;
  }
  auto* cell = new CommitSlot::Cell;
  cell->taken.store(true, std::memory_order_relaxed);  // published by the exchange below
  CommitSlot::Cell* head = cells_.load(std::memory_order_relaxed);
  do {
    cell->next = head;
    // seq_cst, so that completed() sees the cell or its commits see the E that completed() saw.
  } while (!cells_.compare_exchange_weak(head, cell, std::memory_order_seq_cst,
                                         std::memory_order_relaxed));
  return cell;
}

Epoch EpochManager::completed() {
  uint64_t complete = epoch_.load(std::memory_order_seq_cst) - 1;
  for (CommitSlot::Cell* cell = cells_.load(std::memory_order_seq_cst); cell != nullptr;
       cell = cell->next) {
    uint64_t announced = cell->announced.load(std::memory_order_seq_cst);
    if (announced != CommitSlot::idle) complete = std::min(complete, announced - 1);
  }
  // An announcement may be older than what was found complete before (it is only a lower bound), so
  // keep the maximum.
  uint64_t known = completed_.load(std::memory_order_acquire);
  while (known < complete) {
    if (completed_.compare_exchange_weak(known, complete, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
      return Epoch(complete);
    }
  }
  return Epoch(known);
}

}  // namespace pgsilo
