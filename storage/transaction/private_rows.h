// Rows that a transaction inserts into relations private to it: straight into the unpublished tree,
// unlocked, their redo streamed to the log in slices (engine.md item 15). The slice, which points
// at the rows, is all that is kept beside the tree. That is how a load of millions of rows fits
// into memory and holds up nobody: each streaming step is a small commit of its own (it announces
// itself in the commit slot, takes a TID in the present epoch, appends, leaves).
//
// A row of the open slice is present with Tid(); streaming gives it the slice's TID. Nobody else
// can see the relation, and if the transaction never commits, no catalog row names the relation:
// abort drops it, recovery forgets it.
//
// Command ids. begin_statement() closes the slice, so a row's TID tells the statements that see it:
// those that began when the worker's last TID was at or above the row's.
//
// Thread safety: none; one transaction, under one Pin from its first insert to clear().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "storage/index/index_tree.h"
#include "storage/record/tid_word.h"
#include "storage/transaction/abort_reason.h"
#include "storage/transaction/redo_sink.h"
#include "storage/transaction/write_set.h"

namespace pgsilo {

class Record;
class Relation;
class WorkerContext;
struct WaitSettings;

class PrivateRows {
 public:
  // Inserts the row and returns ok, or sets `existing` to the record that has the key already. May
  // stream. Throws std::bad_alloc.
  TransactionStatus insert(WorkerContext& worker, const WaitSettings& settings, Relation& relation,
                           std::string_view key, std::string_view row, Record** existing);
  // Streams what the slice holds.
  TransactionStatus stream(WorkerContext& worker, const WaitSettings& settings);
  // Remembers which rows `command` may see; the slice is empty. Throws std::bad_alloc.
  void begin_statement(CommandId command, Tid last_tid);
  // Whether `command` sees a private row with this word.
  bool sees(CommandId command, TidWord word) const {
    return !word.is_absent() && word.tid() != Tid() && word.tid() <= floor_of(command);
  }
  // The relation is dropped: its rows of the slice are not streamed.
  void forget(const Relation& relation);
  void clear();

 private:
  struct Item {
    Relation* relation;
    Record* record;  // nobody sees it, so its row lies still until it is streamed
  };
  struct Load {
    const Relation* relation;
    TreeAppender appender;
  };
  struct Floor {
    CommandId command;
    Tid last_tid;
  };
  // Streaming touches the slice's records once more: they should still be in the cache.
  static constexpr size_t slice_bytes = 128 * 1024;
  static constexpr size_t slice_rows = 1024;
  Tid floor_of(CommandId command) const;
  TreeAppender& appender_of(Relation& relation, WorkerContext& worker);

  std::vector<Load> loads_;
  std::vector<Item> items_;
  std::vector<RedoEntry> redo_;
  std::vector<Floor> floors_;  // ascending
  size_t bytes_ = 0;           // keys and rows of the logged part of the slice
  NodeChanges changes_;
};

// Reserves log space, waiting for buffers. ok, no_log_space, transaction_too_large, cancelled. No
// lock may be held.
TransactionStatus reserve_log(RedoSink& sink, size_t entries, size_t bytes,
                              const WaitSettings& settings);

}  // namespace pgsilo
