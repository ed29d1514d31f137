#include "tests/scaling/engine_bed.h"

#include <array>
#include <string>

#include "tests/scaling/memory_names.h"

namespace pgsilo::scaling {

Engine::Engine() { name_engine(epochs, durable, reclaimer, snapshots); }

void Engine::step() {
  epochs.advance();
  durable.publish(epochs.completed());
}

void name_engine(const EpochManager& epochs, const DurableEpoch& durable,
                 const Reclaimer& reclaimer, const SnapshotRegistry& snapshots) {
  name_memory("E", &epochs, 64);
  name_memory("completed epoch", reinterpret_cast<const char*>(&epochs) + 64, sizeof epochs - 64);
  name_memory("D", &durable, sizeof durable);
  name_memory("G", &reclaimer, 64);
  name_memory("reclaimer", reinterpret_cast<const char*>(&reclaimer) + 64, sizeof reclaimer - 64);
  name_memory("snapshot registry", &snapshots, sizeof snapshots);
}

void look_at(const RelationDirectory& relations, const Reclaimer& reclaimer) {
  static_cast<void>(reclaimer.oldest_pin());
  static_cast<void>(reclaimer.pending_bytes());
  for (const Relation* relation : relations.list()) {
    static_cast<void>(relation->memory_bytes());
    static_cast<void>(relation->row_count());
  }
}

void EngineBed::open(unsigned worker) { workers_[worker] = make_worker(); }

BedWorker& EngineBed::loader() {
  if (loader_ == nullptr) loader_ = make_worker();
  return *loader_;
}

Relation& EngineBed::create_relation() {
  return engine_.relations.create(RelationOptions{}, /*is_private=*/false);
}

void EngineBed::load_rows(Relation& relation, uint64_t count) {
  constexpr uint64_t rows_per_transaction = 256;
  const std::string row(row_bytes, 'r');
  Transaction& transaction = loader().transaction;
  for (uint64_t number = 0; number < count;) {
    begin(loader());
    for (uint64_t i = 0; i < rows_per_transaction && number < count; ++i, ++number)
      expect(transaction.insert(relation, Key(number).view(), row));
    expect(transaction.commit());
  }
}

void EngineBed::begin(BedWorker& worker, TransactionMode mode) {
  worker.transaction.begin(mode);
  expect(worker.transaction.begin_statement());
}

void EngineBed::end(BedWorker& worker) {
  expect(worker.transaction.commit());
  worker.housekeep();
}

void EngineBed::update(BedWorker& worker, Relation& relation, uint64_t row, ReadPurpose purpose) {
  expect(worker.transaction.get(relation, Key(row).view(), worker.buffer, &worker.row, purpose));
  std::array<char, row_bytes> changed;
  changed.fill(static_cast<char>(worker.row.row.front() + 1));
  expect(worker.transaction.update(worker.row, {changed.data(), changed.size()}));
}

}  // namespace pgsilo::scaling
