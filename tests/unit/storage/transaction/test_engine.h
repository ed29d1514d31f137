// An engine without log and server for tests and benchmarks: the shared parts, workers, and a sink
// that remembers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/thread_parker.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction.h"
#include "storage/transaction/transaction_scan.h"

namespace pgsilo::testing {

// Keeps every append as text, and refuses reservations on request.
class RecordingSink final : public RedoSink {
 public:
  struct Appended {
    Tid tid;
    std::vector<std::string> entries;  // "relation:key=row" or "relation:key deleted"
  };
  ReserveResult reserve(size_t entries, size_t bytes, RedoPurpose purpose) override {
    reserved_entries = entries;
    reserved_bytes = bytes;
    reserved_for = purpose;
    return answer;
  }
  void expect(size_t entries, size_t bytes) override {
    expected_entries = entries;
    expected_bytes = bytes;
  }
  void wait_for_buffer(Parker&, int64_t) override { answer = ReserveResult::ok; }
  void append(Tid tid, std::span<const RedoEntry> entries) override {
    append_part(tid, entries);
    within_reservation &= open.entries.size() <= reserved_entries && open_bytes <= reserved_bytes;
    log.push_back(std::exchange(open, {}));
    open_bytes = 0;
  }
  void append_part(Tid tid, std::span<const RedoEntry> entries) override {
    open.tid = tid;
    for (const RedoEntry& entry : entries) {
      std::string text = std::to_string(entry.relation.value()) + ":" + std::string(entry.key);
      open.entries.push_back(entry.tombstone ? text + " deleted"
                                             : text + "=" + std::string(entry.row));
      open_bytes += entry.key.size() + entry.row.size();
    }
  }

  ReserveResult answer = ReserveResult::ok;
  bool within_reservation = true;
  Appended open;  // the parts of the next append()
  size_t open_bytes = 0;
  size_t reserved_entries = 0, reserved_bytes = 0;
  size_t expected_entries = 0, expected_bytes = 0;
  RedoPurpose reserved_for = RedoPurpose::growth;
  std::vector<Appended> log;
};

struct TestEngine {
  explicit TestEngine(WorkSharing* sharing = nullptr) : sharing(sharing) {}

  EpochManager epochs{Epoch(1)};
  DurableEpoch durable;
  RelationDirectory relations;  // outlives the reclaimer, which may hand dropped relations back
  Reclaimer reclaimer;
  LockTable locks;
  SnapshotRegistry snapshots{epochs};
  WorkSharing* sharing;

  EngineParts parts() { return {epochs, durable, reclaimer, relations, locks, snapshots, sharing}; }
  Relation& create_relation(bool logged = true) {
    return relations.create({logged}, /*is_private=*/false);
  }
  // Everything committed so far is durable.
  void make_durable() {
    epochs.advance();
    durable.publish(epochs.completed());
  }
};

// A worker with one session.
struct TestSession {
  explicit TestSession(TestEngine& engine) : TestSession(engine, null_sink) {}
  TestSession(TestEngine& engine, RedoSink& sink) : TestSession(engine.parts(), sink) {}
  TestSession(const EngineParts& parts, RedoSink& sink)
      : worker(parts, sink), transaction(worker, settings), buffer(arena) {
    settings.parker = &parker;
  }

  void begin(TransactionMode mode = TransactionMode::one_shot) {
    transaction.begin(mode);
    statement();
  }
  void statement() {
    if (transaction.begin_statement() != TransactionStatus::ok) std::abort();
  }
  TransactionStatus insert(Relation& relation, std::string_view key, std::string_view row) {
    return transaction.insert(relation, key, row);
  }
  TransactionStatus get(Relation& relation, std::string_view key,
                        ReadPurpose purpose = ReadPurpose::plain) {
    return transaction.get(relation, key, buffer, &row, purpose);
  }
  // The row as text, or the status.
  std::string read(Relation& relation, std::string_view key) {
    TransactionStatus status = get(relation, key);
    return status == TransactionStatus::ok ? std::string(row.row)
                                           : "<" + std::string(name_of(status)) + ">";
  }
  TransactionStatus put(Relation& relation, std::string_view key, std::string_view value) {
    TransactionStatus status = get(relation, key, ReadPurpose::for_update);
    return status == TransactionStatus::ok ? transaction.update(row, value) : status;
  }
  TransactionStatus erase(Relation& relation, std::string_view key) {
    TransactionStatus status = get(relation, key, ReadPurpose::for_update);
    return status == TransactionStatus::ok ? transaction.remove(row) : status;
  }
  TransactionStatus commit() { return transaction.commit(); }
  // "key=row key=row ..." of the range, or "... <status>".
  std::string scan(Relation& relation, KeyRange range = {},
                   ScanDirection direction = ScanDirection::forward) {
    TransactionScan cursor(transaction, relation, range, direction, buffer);
    std::string text;
    for (;;) {
      RowRef at;
      TransactionStatus status = cursor.next(&at);
      if (status == TransactionStatus::not_found) return text;
      if (!text.empty()) text += ' ';
      if (status != TransactionStatus::ok) return text + "<" + std::string(name_of(status)) + ">";
      text += std::string(at.key()) + "=" + std::string(at.row);
    }
  }
  // One-statement transactions that must succeed.
  void store(Relation& relation, std::string_view key, std::string_view value) {
    begin();
    TransactionStatus status = insert(relation, key, value);
    if (status == TransactionStatus::duplicate_key) status = put(relation, key, value);
    if (status != TransactionStatus::ok || commit() != TransactionStatus::ok) std::abort();
  }
  void drop(Relation& relation, std::string_view key) {
    begin();
    if (erase(relation, key) != TransactionStatus::ok || commit() != TransactionStatus::ok)
      std::abort();
  }
  std::string peek(Relation& relation) {
    begin();
    std::string text = scan(relation);
    if (commit() != TransactionStatus::ok) std::abort();
    return text;
  }

  NullRedoSink null_sink;
  ThreadParker parker;
  WaitSettings settings;
  WorkerContext worker;
  Transaction transaction;
  Arena arena;
  RowBuffer buffer;
  RowRef row;
};

}  // namespace pgsilo::testing
