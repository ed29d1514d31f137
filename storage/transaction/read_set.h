// The records a transaction read, each with the version it saw (Silo section 4.4). Absent records
// are members too: a scan must notice that one comes alive. A record may be in it several times;
// every entry is validated. Thread safety: none; one transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/append.h"
#include "base/check.h"
#include "storage/record/record.h"
#include "storage/record/tid_word.h"

namespace pgsilo {

// What a read needs to stay true.
enum class ReadKind : uint8_t {
  version,     // this very version is current and nobody else is about to replace it
  existence,   // there is a row: other versions will do (engine.md item 12)
  uniqueness,  // as version; failing means two transactions insert the same key (conflict_unique)
  reference,   // as existence, and nobody who may delete the row has locked it (foreign keys)
};

struct ReadEntry {
  const Record* record;
  uint64_t seen;  // Tid | absent | kind | guarded | lasting, in the bits a Tid leaves free

  static constexpr uint64_t absent_bit = 1;
  static constexpr int kind_shift = 1;
  static constexpr uint64_t guarded_bit = 8;
  static constexpr uint64_t lasting_bit = 16;
  static ReadEntry of(const Record* record, TidWord word, ReadKind kind) {
    return {record, word.tid().value() | (word.is_absent() ? absent_bit : 0) |
                        static_cast<uint64_t>(kind) << kind_shift};
  }
  Tid tid() const { return Tid::from_value(seen); }
  bool absent() const { return (seen & absent_bit) != 0; }
  ReadKind kind() const { return static_cast<ReadKind>((seen >> kind_shift) & 3); }
  // The key lies in a node of the node set: once the record is unhooked, that one tells whether
  // there is a row.
  bool is_guarded() const { return (seen & guarded_bit) != 0; }
  // When the transaction validated last there was no row either.
  bool is_lasting() const { return (seen & lasting_bit) != 0; }
  bool accepts_newer() const {
    return kind() == ReadKind::existence || kind() == ReadKind::reference;
  }
  // The very version that was read is there and nobody has locked it: true of most reads.
  bool is_undisturbed(TidWord word) const {
    return word.without_intent() == (absent() ? TidWord::absent(tid()) : TidWord::present(tid()));
  }
};

class ReadSet {
 public:
  // Throws std::bad_alloc.
  uint32_t add(const Record* record, TidWord word, ReadKind kind) {
    append(entries_, ReadEntry::of(record, word, kind));
    kinds_ |= bit(kind);
    return static_cast<uint32_t>(entries_.size() - 1);
  }
  // Another version of the record takes the place of the one that was read: it will do as well, or
  // it was read again.
  void refresh(uint32_t index, TidWord word) {
    entries_[index] = ReadEntry::of(entries_[index].record, word, entries_[index].kind());
  }
  // That there is no row rests on a node of the node set, too.
  void guard(uint32_t index) {
    PGSILO_DCHECK(entries_[index].absent() && entries_[index].kind() == ReadKind::version);
    entries_[index].seen |= ReadEntry::guarded_bit;
  }
  // That there is no row was so already when the transaction validated last.
  void note_lasting(uint32_t index) {
    PGSILO_DCHECK(entries_[index].absent());
    entries_[index].seen |= ReadEntry::lasting_bit;
  }
  // Version `word` of another record takes the place of what was read.
  void exchange(uint32_t index, const Record* record, TidWord word) {
    entries_[index] = ReadEntry::of(record, word, ReadKind::version);
  }
  // All that matters of what was read is that there is a row.
  void weaken(uint32_t index) {
    const ReadEntry& entry = entries_[index];
    entries_[index] =
        ReadEntry::of(entry.record, TidWord::present(entry.tid()), ReadKind::existence);
    kinds_ |= bit(ReadKind::existence);
  }
  const ReadEntry& operator[](uint32_t index) const { return entries_[index]; }
  size_t size() const { return entries_.size(); }
  // Whether some accept newer versions.
  bool has_flexible() const {
    return (kinds_ & (bit(ReadKind::existence) | bit(ReadKind::reference) | partial_bit)) != 0;
  }
  bool has_existence() const {
    return (kinds_ & (bit(ReadKind::existence) | bit(ReadKind::reference))) != 0;
  }
  // Some are in PartialReads as well.
  void note_partial() { kinds_ |= partial_bit; }
  bool has_partial() const { return (kinds_ & partial_bit) != 0; }
  // Whether the locks of others on what was read matter to a one-shot.
  bool minds_locks() const { return (kinds_ & (bit(ReadKind::reference) | shared_bit)) != 0; }
  // From here until clear(): those of every record (Transaction::share_reads).
  void share() { kinds_ |= shared_bit; }
  bool is_shared() const { return (kinds_ & shared_bit) != 0; }
  const ReadEntry* begin() const { return entries_.data(); }
  const ReadEntry* end() const { return entries_.data() + entries_.size(); }
  // Forgets those from `size` on.
  void truncate(size_t size) {
    PGSILO_DCHECK(size <= entries_.size());
    entries_.resize(size);
  }
  // Keeps the memory of ordinary transactions, gives that of giant ones back.
  void clear();

 private:
  std::vector<ReadEntry> entries_;
  static constexpr uint32_t bit(ReadKind kind) { return 1u << static_cast<unsigned>(kind); }
  static constexpr uint32_t shared_bit = 1u << 4;
  static constexpr uint32_t partial_bit = 1u << 5;
  uint32_t kinds_ = 0;  // bits of what was added and said since the last clear()
};

}  // namespace pgsilo
