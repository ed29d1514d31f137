// A transaction: reads and writes rows by key, then commits by Silo's protocol
// (docs/commit_protocol.md).
//
//   transaction.begin(TransactionMode::one_shot);
//   transaction.begin_statement();
//   status = transaction.get(relation, key, buffer, &row);
//   status = transaction.update(row, new_bytes);
//   status = transaction.commit();                 // anything but ok: has aborted
//   ... hold the reply until D >= transaction.newest_epoch() ...
//
// Any status other than ok, not_found, duplicate_key, self_modified, row_changed,
// lock_not_available, key_too_long and row_too_long means that the transaction cannot commit any
// more: call abort().
//
// Modes. A one_shot runs pure OCC: it locks nothing before commit and returns must_wait when it
// would write a record on which another transaction has an intent lock; then call wait_for_intent()
// (it aborts, waits in the lock's queue and keeps the lock for the run that follows) and run again.
// Before a one-shot answers with rows or an error without committing, it must validate(). An
// interactive transaction takes the intent lock on everything it writes first, and waits for it;
// end_statement() validates, so that what leaves the server was true.
//
// A snapshot transaction only reads: what was there at one moment (snapshot.h), whatever happens
// meanwhile. It takes no lock, waits for nobody, meets no conflict and holds up nobody.
//
// A one-shot that keeps failing is run again as interactive: it takes intents as it goes. What it
// only reads can still be beaten (queue tables, max + 1, long scans): keep_writers_out() is the
// last resort.
//
// Visibility. A statement sees the writes of statements that began before it, not its own
// (begin_statement() gives each a command id). Constraint checks (insert) see everything.
//
// Memory. One object per session, reused: a transaction of ordinary size allocates nothing once
// warm. std::bad_alloc never leaves this class: out_of_memory. Rows read lie in the caller's
// RowBuffer, rows this transaction wrote in its own memory until it ends.
//
// Thread safety: one fiber of the worker given to the constructor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/ordered_load.h"
#include "base/parker.h"
#include "storage/record/row_buffer.h"
#include "storage/transaction/abort_reason.h"
#include "storage/transaction/bulk_load.h"
#include "storage/transaction/insertion_place.h"
#include "storage/transaction/later_uses.h"
#include "storage/transaction/loaded_rows.h"
#include "storage/transaction/node_set.h"
#include "storage/transaction/partial_reads.h"
#include "storage/transaction/partial_row.h"
#include "storage/transaction/private_rows.h"
#include "storage/transaction/read_set.h"
#include "storage/transaction/record_lock.h"
#include "storage/transaction/row_ref.h"
#include "storage/transaction/snapshot.h"
#include "storage/transaction/transaction_mark.h"
#include "storage/transaction/worker_context.h"
#include "storage/transaction/write_set.h"

namespace pgsilo {

class Relation;
struct RelationOptions;

enum class TransactionMode : uint8_t { one_shot, interactive, snapshot };

// Of an interactive transaction; one-shots are serializable.
enum class Isolation : uint8_t {
  serializable,    // strictly: in real-time order
  read_committed,  // what one statement reads fits together; commit looks at nothing it read
};

class Transaction {
 public:
  // Both outlive the transaction. `settings` may be changed between statements.
  Transaction(WorkerContext& worker, const WaitSettings& settings);
  ~Transaction();  // aborts what is open
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void begin(TransactionMode mode, Isolation isolation = Isolation::serializable);
  // Begins in mode snapshot: at a new one, which no epoch that was acknowledged to anybody before
  // the call is after, or at one that others read as well. ok; cancelled, out_of_memory: it has not
  // begun.
  TransactionStatus begin_snapshot();
  void begin_snapshot(std::shared_ptr<const Snapshot> snapshot);
  // A one-shot that has written nothing goes on in mode snapshot, at a new one, if what it has read
  // so far is still so: then it was so at the boundary, too. ok; else the status of validate() or
  // of begin_snapshot().
  TransactionStatus become_snapshot();
  // READ COMMITTED, interactive: the running statement goes on at a new snapshot, with this
  // transaction's own writes, if what it has read so far is still so. It registers no plain read
  // any more, so nobody can beat it; what it locks it reads in the present. Until the statement
  // ends, or end_statement_snapshot(). Others than these, and parts: ok, and nothing has changed.
  TransactionStatus begin_statement_snapshot();
  void end_statement_snapshot();
  const std::shared_ptr<const Snapshot>& snapshot() const {
    return snapshot_;
  }  // of the present: null
  bool is_open() const { return open_; }
  TransactionMode mode() const { return mode_; }
  Isolation isolation() const { return isolation_; }
  // Under which it holds and waits for locks, from its construction to its end.
  LockOwner& lock_owner() const { return owner_; }
  // How many transactions this object has begun: tells this one from those before.
  uint64_t number() const { return number_; }
  const WaitSettings& waits() const { return settings_; }
  // A one-shot whose first bytes left the server is one no longer (docs/commit_protocol.md). Its
  // reads so far must be valid: the status is validate()'s. Relations that it uses get their locks,
  // records already written their intent locks. must_wait: it should wait for one as a one-shot.
  TransactionStatus become_interactive();

  // The command id of a new statement. Streams private rows written so far, so it may fail as
  // finish_load() does.
  TransactionStatus begin_statement();
  // The running statement, if there is one, goes on: what follows sees what it has written so far
  // (foreign keys' checks and actions, steps of a definition). As begin_statement() it may fail.
  TransactionStatus continue_statement();
  // The running statement may have to run again: what it inserts into relations that are private to
  // the transaction can be unwound as well.
  void keep_inserts_undoable() { statement_inserts_directly_ = false; }
  // The running statement inserts many rows and hardly looks at them (loaded_rows.h).
  void expect_many_rows() { statement_loads_ = true; }
  // What the running statement reads behind locks that keep others from adding to it (foreign keys'
  // actions): end_part() looks whether it was true at one moment, and forgets it. conflict_record,
  // conflict_node, conflict_unique: it was not; it may be read again. Any other: it may not.
  struct Part {
    size_t reads = 0;
    size_t nodes = 0;
  };
  Part begin_part() {
    PGSILO_DCHECK(mode_ == TransactionMode::interactive);  // no indexes of reads are kept
    in_part_ = true;
    nodes_.begin_part();
    return {reads_.size(), nodes_.size()};
  }
  TransactionStatus end_part(const Part& part);
  // What is read from here on was so after the locks taken so far could be seen by everybody.
  static void read_behind_locks() { full_fence(); }
  CommandId command() const { return command_; }
  // Nested statements (functions): the outer statement goes on with the command id it had.
  void resume_statement(CommandId command) { command_ = command; }
  // Interactive: ok, or a conflict (40001). One-shot: nothing to do. `changes_catalog`: commit
  // looks at what it read at every isolation level.
  TransactionStatus end_statement(bool changes_catalog = false);
  // Interactive, after a conflict: the running statement has read and written nothing, and may run
  // again from begin_statement(). Its locks stay. Any status but ok: it cannot, for what earlier
  // statements read is no longer true, or it has written rows that cannot be unwound.
  TransactionStatus restart_statement();
  // READ COMMITTED: the running statement has failed, and its reads were true together when its
  // error was.
  void forget_failed_statement();
  // All reads are true together now. For one-shots before they answer, for long loops at each
  // yield.
  TransactionStatus validate();

  // --- reading ---
  // ok or not_found. `row` and `buffer` are set if ok.
  TransactionStatus get(Relation& relation, std::string_view key, RowBuffer& buffer, RowRef* row,
                        ReadPurpose purpose = ReadPurpose::plain, RowLock lock = {});
  // The row of `primary` that the secondary entry `entry` leads to; `entry.row` is its key there.
  TransactionStatus get_via_entry(Relation& primary, const RowRef& entry, RowBuffer& buffer,
                                  RowRef* row, ReadPurpose purpose = ReadPurpose::plain,
                                  RowLock lock = {});
  // Of a row that a plain read has delivered only `used` matters: other versions that have the same
  // bytes there will do. Rows that it has written, and more than PartialReads keeps, it uses whole.
  TransactionStatus narrow_read(const RowRef& row, const RowPart& used);
  // What it reads has to stay true after the statement: for so long that narrowing it pays.
  bool keeps_reads() const {
    return mode_ == TransactionMode::interactive && isolation_ == Isolation::serializable;
  }
  // Interactive: takes the intent lock on a row that a scan of the running statement delivered;
  // one-shot: ok. If the row was changed meanwhile, the statement's read is replaced: row_changed
  // (`row` and `buffer` hold the new version: evaluate the condition again) or not_found.
  // conflict_record if an earlier statement saw another version. A row that was read in passing is
  // registered.
  TransactionStatus lock_row(RowRef* row, RowBuffer& buffer, RowLock lock = {});

  // --- writing --- (keys up to max_key_bytes, rows up to max_row_bytes; both are copied)
  // `answers`: that there is a row is told to the client, so it is validated; else the caller looks
  // for itself (ON CONFLICT DO UPDATE).
  TransactionStatus insert(Relation& relation, std::string_view key, std::string_view row,
                           bool answers = true);
  // Only looks: duplicate_key as insert() would say, or ok. Waits as that for who is about to make
  // or to remove the row, and keeps nothing locked.
  TransactionStatus find_duplicate(Relation& relation, std::string_view key, bool answers);
  // As insert(), for many rows whose keys are new or an error: into a relation that is private to
  // this transaction a second worker may hook them in later, in the order given. So the status may
  // be that of an earlier row, and only finish_load() says that all are in; it comes before the
  // statement ends, before a mark() and before insert() into the same relation. After
  // duplicate_key, rejected_row() is the one that was too many, and the rows loaded by this
  // statement are in no defined state: the statement must fail.
  TransactionStatus load(Relation& relation, std::string_view key, std::string_view row);
  TransactionStatus finish_load();
  const RejectedRow& rejected_row() const { return rejected_row_; }
  // `row` was read by this transaction. `lock`: update if a unique key of the row changes.
  TransactionStatus update(const RowRef& row, std::string_view new_row,
                           LockMode lock = LockMode::no_key_update) {
    return write(row, new_row, /*tombstone=*/false, lock);
  }
  // As update(), where `patches` are all that makes `new_row` of the row that was read: a one-shot
  // makes them of the version that is there when it commits.
  TransactionStatus update_partial(const RowRef& row, std::string_view new_row,
                                   std::span<const RowPatch> patches);
  TransactionStatus remove(const RowRef& row) {
    return write(row, {}, /*tombstone=*/true, LockMode::update);
  }

  // A savepoint: rollback_to() unwinds the writes made since, also those of a statement that
  // failed. Reads stay, for they were answered, and locks stay with them: what nobody else may
  // change cannot become invalid. release_locks_since() lets go of record locks and shares all the
  // same: the way out of a deadlock. Gates stay, for what is read behind them is not validated.
  // forget_since(): under READ COMMITTED (else nothing) no answer has to stay true, so reads and
  // locks go, and gates, unless reads since are mixed up with those of DDL before. Marks nest.
  using Mark = TransactionMark;
  TransactionStatus settle();  // what may fail of a mark()
  Mark mark();
  Mark mark_statement();                       // of a statement that may run again
  void rollback_to(const Mark& mark);          // the mark stays usable
  void release_locks_since(const Mark& mark);  // after rollback_to()
  void forget_since(const Mark& mark);         // after rollback_to(); no statement runs
  void release(const Mark& mark);

  // --- relations and descriptors ---
  // Private to this transaction: published by commit, else dropped. Null: out of memory.
  Relation* create_relation(RelationOptions options);
  // Private, and made since the newest mark, but for one of mark_statement().
  bool made_since_savepoint(const Relation& relation) const;
  TransactionStatus drop_relation(Relation& relation);  // by commit
  void frees_space() { frees_space_ = true; }  // for commit(): behind it the caller drops some
  // The transaction rests on this version of a catalog record. Snapshot: conflict_record if another
  // version was there.
  TransactionStatus use_descriptor(const Record* catalog_record, Tid tid);
  // One-shot that writes a relation: as use_descriptor() of `row`, until it becomes interactive.
  // Then the relation's lock keeps that, and it rests on `lasting`.
  TransactionStatus use_written_descriptor(CatalogVersion row, CatalogVersion lasting);
  // Interactive: conflict_record if the catalog record has another version. Not registered: the
  // relation's lock, taken before, keeps it.
  TransactionStatus check_descriptor(const Record* catalog_record, Tid tid) const;
  // One-shot: what it reads of `relation` nobody may be about to change. If somebody has locked a
  // row of that against LockMode::for_share, it is he who comes first: commit answers must_wait
  // (index builds).
  TransactionStatus share_reads(Relation& relation);
  // Interactive: holds the relation's lock in `mode` until the end (idempotent). One-shot: takes
  // none of the modes up to row exclusive before it becomes interactive; must_wait if somebody has
  // or wants what conflicts.
  TransactionStatus lock_relation(Relation& relation, LockMode mode,
                                  WaitPolicy policy = WaitPolicy::wait);
  TransactionStatus share_relation(Relation& relation) {
    return lock_relation(relation, LockMode::row_exclusive);
  }
  // Interactive, the last resort of a statement whose reads are beaten again and again: nobody else
  // changes the relation until let_writers_in() or the end of the transaction. Who keeps writers
  // out waits for nobody: if an operation has to wait for a lock it lets them in first. ok, though
  // writers that were at it may not have ended in a short while; cancelled, out_of_memory.
  TransactionStatus keep_writers_out(Relation& relation);
  void let_writers_in();
  void let_go_of_caution();  // gives up, too, what only cautious reads have locked (RowLock)
  bool keeps_writers_out() const { return owner_.keeps_writers_out(); }
  // DDL: nobody else uses it.
  TransactionStatus lock_relation_exclusively(Relation& relation) {
    return lock_relation(relation, LockMode::access_exclusive);
  }

  // --- the end ---
  // ok, or aborted with the status returned. no_log_space and out_of_memory are found before
  // anything is locked.
  TransactionStatus commit();
  void abort();
  // As abort(), but writers that are kept out (also by a run whose commit() has failed) stay out
  // for the run that follows: until it ends, or let_writers_in().
  void abort_to_run_again();
  // After must_wait of a one-shot: aborts, then waits without holding anything. ok: begin(one_shot)
  // and run again; the lock waited for is kept for that run. Otherwise lock_timeout, cancelled,
  // ...: nothing is held.
  TransactionStatus wait_for_intent();

  // The newest epoch that anything read so far, and after commit the commit itself, rests on. A
  // reply waits for D >= it. Valid until the next begin().
  Epoch newest_epoch() const { return std::max(newest_epoch_, newest_seen_.epoch()); }
  // It rests on what is no read or write and was committed in `epoch` (values of sequences).
  void rest_on(Epoch epoch) {
    if (epoch > newest_epoch_) newest_epoch_ = epoch;
  }
  size_t registered_reads() const { return reads_.size() + nodes_.size(); }  // to validate
  Tid commit_tid() const { return commit_tid_; }  // of the last one that wrote
  // Of the open transaction, or of the one that was rolled back last.
  size_t written_records() const { return open_ ? writes_.size() + loaded_.size() : lost_records_; }
  // Whether it has written the row that the key has now. Registers nothing.
  bool has_own_row(Relation& relation, std::string_view key);
  bool has_writes() const {
    return !writes_.empty() || !loaded_.empty() || !private_relations_.empty() || !dropped_.empty();
  }
  WorkerContext& worker() const { return worker_; }
  // About how much memory its sets and locks take, rows in the write set included, and how much its
  // commit will need besides. Rounded up: lists that double have room left.
  size_t bookkeeping_bytes() const;
  size_t commit_bytes() const;
  // Of a record that is read and deleted, both together.
  static constexpr size_t bytes_per_read = 32;
  static constexpr size_t bytes_per_write = 192;
  static constexpr size_t commit_bytes_per_write = 144;
  static constexpr size_t bytes_per_removal =
      bytes_per_read + bytes_per_write + commit_bytes_per_write;

 private:
  // Long work of a commit and of validations outside of one looks up after so many records.
  static constexpr size_t records_per_pause = 4096;
  // So many pauses inside commit before another's lock counts as a conflict.
  static constexpr int lock_patience = 256;
  friend class TransactionScan;
  friend class Commit;

  struct PrivateRelation {
    Relation* relation;
    uint32_t mark_depth;  // marks that were open when it was created
  };

  // reading
  bool registers(const Relation& relation) const;
  // Whether this is read at the snapshot. What is locked, or only looked at, is of the present.
  bool reads_past(const Relation& relation, ReadPurpose purpose) const;
  TransactionStatus get_by_key(Relation& relation, std::string_view key, RowBuffer& buffer,
                               RowRef* row, ReadPurpose purpose, RowLock lock);
  static void remember_link(const RowRef& entry, Record* target, const Relation& primary);
  TransactionStatus get_record(Relation& relation, Record* record, RowBuffer& buffer, RowRef* row,
                               ReadPurpose purpose, RowLock lock);
  TransactionStatus get_for_purpose(Relation& relation, Record* record, WriteEntry* own,
                                    RowBuffer& buffer, RowRef* row, ReadPurpose purpose,
                                    RowLock lock);
  TransactionStatus read_base(Relation& relation, Record* record, RowBuffer& buffer, RowRef* row,
                              CommandId command, bool registered);
  TransactionStatus check_past_descriptor(const Record* catalog_record, Tid tid) const;
  TransactionStatus read_snapshot(Relation& relation, Record* record, RowBuffer& buffer,
                                  RowRef* row, CommandId command);
  TransactionStatus peek(Relation& relation, Record* record, RowBuffer& buffer, RowRef* row) const;
  TransactionStatus read_existence(Relation& relation, Record* record, RowRef* row,
                                   ReadPurpose purpose);
  static const PendingVersion* visible_version(const WriteEntry& entry, CommandId command);
  static TransactionStatus own_row(Relation& relation, Record* record,
                                   const PendingVersion& version, RowRef* row);
  void help_unhook(Relation& relation, Record* record);
  void guard_absence(NodeRef node);
  void note_version(Tid tid) { newest_seen_ = std::max(newest_seen_, tid); }
  // writing
  TransactionStatus write(const RowRef& row, std::string_view new_row, bool tombstone,
                          LockMode lock);
  TransactionStatus write_version(const RowRef& row, WriteEntry* entry, std::string_view new_row,
                                  bool tombstone, LockMode lock, std::span<const RowPatch> patches);
  // What the transaction has written of the record, which is about to be read or written again.
  WriteEntry* own_write(const Record* record) {
    if (!loaded_.empty() && worker_.parts().locks.is_loading(owner_, record)) [[unlikely]]
      settle_loaded();
    WriteEntry* entry = writes_.find(record);
    if (entry != nullptr && entry->newest->patched != nullptr) [[unlikely]]
      rest_on_base(*entry);
    return entry;
  }
  void rest_on_base(WriteEntry& entry);
  bool rests_on_part(const RowRef& row) const;
  TransactionStatus claim(Record* record, const Relation& relation, LockMode mode, LockMode* held);
  TransactionStatus claim_lock(Record* record, RelationId relation, LockMode mode, LockMode* held);
  // `gain(policy)` gains a lock. Who keeps writers out lets them in before he waits for it: they
  // may hold it and wait for him.
  template <typename Gain>
  TransactionStatus gain_lock(WaitPolicy policy, Gain gain) {
    if (policy == WaitPolicy::wait && keeps_writers_out()) [[unlikely]] {
      TransactionStatus status = gain(WaitPolicy::no_wait);
      if (status != TransactionStatus::lock_not_available) return status;
      let_writers_in();
    }
    return gain(policy);
  }
  TransactionStatus lock_record(const Record* record, RelationId relation, RowLock lock);
  void unlock_since(size_t lock_count);
  void let_go_since(const Mark& mark, LockTable::Exclusions exclusions);
  void drop_relations_since(const Mark& mark);
  TransactionStatus await_writer(const Record* record, RelationId relation);
  TransactionStatus check_current(const RowRef& row) const;
  bool inserts_directly(const Relation& relation) const;
  bool is_made_at(const Relation& relation, uint32_t depth) const;
  bool keeps_absence(ReadPurpose purpose) const;
  TransactionStatus insert_row(Relation& relation, std::string_view key, std::string_view row,
                               bool answers);
  TransactionStatus insert_private(Relation& relation, std::string_view key, std::string_view row);
  bool can_load(std::string_view row) const;
  TransactionStatus insert_loaded(Relation& relation, std::string_view key, std::string_view row);
  void foresee_loaded(const Relation& relation);
  void retract_forecast();
  void settle_loaded();
  void drop_loaded();
  void release_loaded();
  TransactionStatus drain_load();
  TransactionStatus show_private_rows();
  void abandon_load();
  TransactionStatus hook_placeholder(Relation& relation, std::string_view key, std::string_view row,
                                     InsertionPlace* place);
  TransactionStatus insert_at(Relation& relation, const InsertionPlace& place, std::string_view row,
                              bool answers);
  TransactionStatus find_duplicate_at(Relation& relation, Record* record, bool answers);
  uint32_t note_absence(const InsertionPlace& place, TidWord word);
  TransactionStatus found_live(Record* record, TidWord word);
  TransactionStatus must_wait_for(LockTag lock, LockMode mode);
  TransactionStatus take_later_locks();
  TransactionStatus take_intents();
  // validation
  TransactionStatus validate_reads(bool in_commit, const Part& since);
  TransactionStatus validate_entries(const ReadEntry* at, const ReadEntry* end, bool in_commit);
  TransactionStatus validate_many(bool in_commit, const Part& since);
  void give_way();
  TransactionStatus validate_disturbed(const ReadEntry& entry, TidWord word, bool in_commit);
  bool entry_validates(const ReadEntry& entry, TidWord word, bool own_lock) const;
  TransactionStatus validate_references();
  TransactionStatus admit(const Record* record, LockMode mode);
  RelationId referenced_relation_of(const Record* record) const;
  TransactionStatus refresh_reads(size_t first, bool in_commit);
  TransactionStatus refresh_existence(size_t first);
  TransactionStatus refresh_partial_reads(size_t first, bool in_commit);
  TransactionStatus look_again(const Record& record, const PartialReads::Read& read, bool in_commit,
                               TidWord* word) const;
  void cut_reads(size_t first);
  bool statement_is_covered() const;
  void note_validated();
  void forget_statement_reads();
  bool is_validated() const;
  // the end
  void roll_back();
  void clean_placeholders();
  void unhook_placeholder(const Placeholder& placeholder);
  void queue_unhooking(const Placeholder& placeholder);
  enum class Keep : uint8_t { nothing, pin, writers_out };
  void end(Keep keep);

  WorkerContext& worker_;
  const WaitSettings& settings_;
  LockOwner& owner_;
  TransactionMode mode_ = TransactionMode::one_shot;
  Isolation isolation_ = Isolation::serializable;
  bool open_ = false;
  uint64_t number_ = 0;
  std::shared_ptr<const Snapshot> snapshot_;
  // While open, and while a lock is held for the next begin().
  std::optional<Pin> pin_;
  CommandId command_ = 0;
  CommandId last_command_ = 0;
  uint32_t mark_depth_ = 0;
  uint32_t statement_mark_ = 0;  // depth of mark_statement()'s, if that is the newest
  ReadSet reads_;
  PartialReads partial_reads_;
  NodeSet nodes_;
  WriteSet writes_;
  LoadedRows loaded_;  // of the running statement
  PrivateRows private_rows_;
  std::shared_ptr<BulkLoad> bulk_load_;  // shared with helpers; null: nothing is pending
  RejectedRow rejected_row_;
  std::vector<Placeholder> placeholders_;  // created by this transaction
  std::vector<PrivateRelation> private_relations_;
  std::vector<Relation*> dropped_;
  bool frees_space_ = false;
  std::vector<LaterLock> later_locks_;
  std::vector<LaterRead> later_reads_;
  std::vector<RedoEntry> redo_;
  NodeChanges changes_;
  // What earlier validations of this transaction cover (end_statement): so many reads and nodes
  // were all true at one moment.
  Epoch validated_epoch_;
  bool gained_exclusion_ = false;  // of others from a relation, since then
  size_t validated_reads_ = 0;
  size_t validated_nodes_ = 0;
  size_t statement_reads_ = 0;  // size when the running statement began
  uint32_t statement_versions_ = 0;
  uint32_t statement_depth_ = 0;  // mark_depth_, likewise
  bool in_part_ = false;          // of the statement
  bool statement_runs_ = false;   // it has begun, and neither ended nor been followed by another
  bool statement_inserts_directly_ = true;  // where it may: rows that are not in the write set
  bool statement_wrote_direct_ = false;     // such rows
  bool statement_loads_ = false, has_foretold_ = false;  // the log its commit's redo
  // It began as a part of an interactive transaction: with locks where a one-shot only registers.
  bool statement_began_interactive_ = false;
  Tid newest_seen_;                    // of all that was read, and after commit its own
  std::vector<Relation*> referenced_;  // whose rows were read as ReadPurpose::referenced
  // What must_wait is about, and what we wanted of it.
  LockTag met_lock_;
  LockMode met_mode_ = LockMode::none;
  Epoch newest_epoch_;  // that it rests on besides
  Tid commit_tid_;
  size_t lost_records_ = 0;  // written by the transaction that was rolled back last
};

}  // namespace pgsilo
