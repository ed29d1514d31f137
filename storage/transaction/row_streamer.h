// Hooks rows into private relations and streams their redo to the log in slices
// (docs/commit_protocol.md, Large transactions). A row is present with Tid() until its slice is
// streamed; streaming is a small commit of its own: it announces itself in the worker's commit
// slot, takes a TID in the present epoch, gives it to the slice's rows, appends and leaves. The
// open slice, which points at the rows, is all that is kept beside the trees. That is how a load of
// millions of rows fits into memory and holds up nobody.
//
// Nobody else can see the relations, and if the transaction never commits, no catalog row names
// them: abort drops them, recovery forgets them.
//
// Thread safety: one thread at a time, each call with the context of the worker it runs on; the
// transaction's Pin is held from the first insert() to clear().
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "storage/index/index_tree.h"
#include "storage/record/tid_word.h"
#include "storage/transaction/abort_reason.h"
#include "storage/transaction/redo_sink.h"

namespace pgsilo {

class Record;
class Relation;
class WorkerContext;
struct WaitSettings;

class RowStreamer {
 public:
  // Hooks in `fresh`, a record of `relation` with its row, and returns null; or returns the record
  // that has the key already and leaves `fresh` to the caller. Throws std::bad_alloc, then nothing
  // has changed.
  Record* insert(WorkerContext& worker, Relation& relation, Record* fresh);
  // The slice should be streamed before it leaves the processor's cache.
  bool full() const { return bytes_ >= slice_bytes || items_.size() >= slice_rows; }
  bool empty() const { return items_.empty(); }
  // Whether clear() has anything to do.
  bool in_use() const { return !loads_.empty() || bytes_ != 0; }
  // Gives the slice the first TID of the worker above `floor`. ok, cancelled, no_log_space.
  TransactionStatus stream(WorkerContext& worker, const WaitSettings& settings, Tid floor = Tid());
  // The relation is dropped: its rows of the slice are not streamed.
  void forget(const Relation& relation);
  void clear();

  static constexpr size_t slice_bytes = 128 * 1024;
  static constexpr size_t slice_rows = 1024;

 private:
  struct Item {
    Relation* relation;
    Record* record;  // nobody sees it, so its row lies still until it is streamed
  };
  struct Load {
    const Relation* relation;
    TreeAppender appender;
  };
  TreeAppender& appender_of(Relation& relation);

  std::vector<Load> loads_;
  std::vector<Item> items_;
  std::vector<RedoEntry> redo_;
  size_t bytes_ = 0;  // keys and rows of the logged part of the slice
  NodeChanges changes_;
};

// Reserves log space, waiting for buffers. ok, no_log_space, cancelled. No lock may be
// held.
TransactionStatus reserve_log(RedoSink& sink, size_t entries, size_t bytes, RedoPurpose purpose,
                              const WaitSettings& settings);

}  // namespace pgsilo
