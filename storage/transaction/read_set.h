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
  existence,   // there is a row: other versions will do (docs/foreign_keys.md)
  uniqueness,  // as version; failing means two transactions insert the same key (conflict_unique)
  reference,   // as existence, and nobody who may delete the row has locked it (foreign keys)
};

struct ReadEntry {
  const Record* record;
  // Tid, own lock and absent: as the record's word should be. Where that has the rest of its bits:
  // kind and lasting. Only a row that is there accepts newer versions (the kind's lower bit), so of
  // an absent one this bit means that it is guarded.
  uint64_t seen;

  static constexpr uint64_t own_lock_bit = 1;
  static constexpr uint64_t absent_bit = 2;
  static constexpr int kind_shift = 2;
  static constexpr uint64_t newer_bit = 1 << kind_shift;
  static constexpr uint64_t guarded_bit = newer_bit;
  static constexpr uint64_t lasting_bit = 16;
  static constexpr uint64_t word_bits = ~(uint64_t{3} << kind_shift | lasting_bit);
  static ReadEntry of(const Record* record, TidWord word, ReadKind kind) {
    uint64_t kind_bits = static_cast<uint64_t>(kind) << kind_shift;
    PGSILO_DCHECK(!word.is_absent() || (kind_bits & newer_bit) == 0);
    return {record, word.version().bits() | kind_bits};
  }
  Tid tid() const { return Tid::from_value(seen); }
  bool absent() const { return (seen & absent_bit) != 0; }
  ReadKind kind() const { return static_cast<ReadKind>((seen >> kind_shift) & (absent() ? 2 : 3)); }
  // The key lies in a node of the node set: once the record is unhooked, that one tells whether
  // there is a row.
  bool is_guarded() const {
    return (seen & (absent_bit | guarded_bit)) == (absent_bit | guarded_bit);
  }
  // When the transaction validated last there was no row either.
  bool is_lasting() const { return (seen & lasting_bit) != 0; }
  bool accepts_newer() const { return (seen & (absent_bit | newer_bit)) == newer_bit; }
  // The very version that was read is there and nobody but us has locked it: true of most reads.
  bool is_undisturbed(TidWord word) const { return word.settled().bits() == (seen & word_bits); }
};
static_assert(TidWord::absent(Tid()).bits() == ReadEntry::absent_bit);
static_assert(TidWord().locked().bits() == ReadEntry::own_lock_bit);
static_assert(static_cast<int>(ReadKind::existence) == 1 &&
              static_cast<int>(ReadKind::reference) == 3);  // these have newer_bit

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
    ReadKind kind = entries_[index].kind();
    if (word.is_absent() && entries_[index].accepts_newer()) kind = ReadKind::version;
    entries_[index] = ReadEntry::of(entries_[index].record, word, kind);
  }
  // The transaction has locked the record to commit, or unlocked it again. `index` is where its
  // read may be: reads are forgotten while the write that rests on them stays, and others take
  // their places.
  void note_own_lock(uint32_t index, const Record* record) {
    if (is_of(index, record)) entries_[index].seen |= ReadEntry::own_lock_bit;
  }
  void forget_own_lock(uint32_t index, const Record* record) {
    if (is_of(index, record)) entries_[index].seen &= ~ReadEntry::own_lock_bit;
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
  bool is_of(uint32_t index, const Record* record) const {
    return index < entries_.size() && entries_[index].record == record;
  }

  std::vector<ReadEntry> entries_;
  static constexpr uint32_t bit(ReadKind kind) { return 1u << static_cast<unsigned>(kind); }
  static constexpr uint32_t shared_bit = 1u << 4;
  static constexpr uint32_t partial_bit = 1u << 5;
  uint32_t kinds_ = 0;  // bits of what was added and said since the last clear()
};

}  // namespace pgsilo
