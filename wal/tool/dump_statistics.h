// Counts what a dump met, by relation and by incarnation. Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>

#include "storage/transaction/redo_sink.h"
#include "wal/layout/log_format.h"

namespace pgsilo {

class DumpStatistics {
 public:
  void add_block(const BlockView& block);
  // `bytes` of the whole record.
  void add_record(uint64_t incarnation, Tid tid, uint64_t bytes);
  // Of the record that was added last.
  void add_entry(uint64_t incarnation, const RedoEntry& entry);
  // Two tables.
  void print(std::FILE* out) const;

 private:
  struct OfIncarnation {
    uint64_t blocks = 0;
    uint64_t block_bytes = 0;  // on disk
    uint64_t records = 0;
    uint64_t entries = 0;
    uint64_t record_bytes = 0;
    Epoch first{UINT64_MAX};
    Epoch last;
  };
  struct OfRelation {
    uint64_t records = 0;  // that change something in it
    uint64_t entries = 0;
    uint64_t tombstones = 0;
    uint64_t bytes = 0;
    uint64_t last_record = 0;
  };
  uint64_t records_ = 0;
  std::map<uint64_t, OfIncarnation> incarnations_;
  std::map<RelationId, OfRelation> relations_;
};

}  // namespace pgsilo
