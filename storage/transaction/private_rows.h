// Rows that a transaction inserts into relations private to it: straight into the unpublished tree,
// unlocked, their redo streamed to the log (row_streamer.h).
//
// Command ids. begin_statement() closes the slice, so a row's TID tells the statements that see it:
// those that began when the worker's last TID was at or above the row's.
//
// Thread safety: none; one transaction, under one Pin from its first insert to clear().
#pragma once

#include <string_view>
#include <vector>

#include "storage/transaction/row_streamer.h"
#include "storage/transaction/write_set.h"

namespace pgsilo {

class PrivateRows {
 public:
  // Inserts the row and returns ok, or sets `existing` to the record that has the key already. May
  // stream. Throws std::bad_alloc.
  TransactionStatus insert(WorkerContext& worker, const WaitSettings& settings, Relation& relation,
                           std::string_view key, std::string_view row, Record** existing);
  // Streams what the slice holds.
  TransactionStatus stream(WorkerContext& worker, const WaitSettings& settings) {
    return streamer_.stream(worker, settings);
  }
  // Remembers which rows `command` may see; the slice is empty. Throws std::bad_alloc.
  void begin_statement(CommandId command, Tid last_tid);
  // Whether `command` sees a private row with this word.
  bool sees(CommandId command, TidWord word) const {
    return !word.is_absent() && word.tid() != Tid() && word.tid() <= floor_of(command);
  }
  // The relation is dropped: its rows of the slice are not streamed.
  void forget(const Relation& relation) { streamer_.forget(relation); }
  void clear() {
    if (!floors_.empty() || streamer_.in_use()) clear_all();
  }

 private:
  void clear_all();
  struct Floor {
    CommandId command;
    Tid last_tid;
  };
  Tid floor_of(CommandId command) const;

  RowStreamer streamer_;
  std::vector<Floor> floors_;  // ascending
};

}  // namespace pgsilo
