// Who alone holds a record's intent lock, as the record itself says it (docs/lock_table.md, "In the
// record"): a value of the word that else holds a payload or a link. Thread safety: values.
#pragma once

#include <cstdint>

namespace pgsilo {

class RecordHolder {
 public:
  // Nobody that the record knows of.
  constexpr RecordHolder() = default;
  // `owner` is aligned to 64 bytes. `excludes_all`: in mode update, else no key update.
  static RecordHolder of(const void* owner, bool excludes_all) {
    return RecordHolder(reinterpret_cast<uintptr_t>(owner) | held_bit |
                        (excludes_all ? update_bit : 0));
  }
  // Of the word. A payload or a link is no holder.
  static constexpr RecordHolder of_word(uintptr_t word) {
    return RecordHolder((word & held_bit) != 0 ? word : 0);
  }
  constexpr uintptr_t word() const { return word_; }

  constexpr bool is_none() const { return word_ == 0; }
  constexpr bool excludes_all() const { return (word_ & update_bit) != 0; }
  // Somebody is just moving it into the lock table, or giving it up: nobody else changes it.
  constexpr bool is_closing() const { return (word_ & closing_bit) != 0; }
  // LockTable::note_removal().
  constexpr bool removes() const { return (word_ & removes_bit) != 0; }
  // The row that lies in the record is the holder's, to be there when he commits (LoadedRows).
  constexpr bool loads() const { return (word_ & loads_bit) != 0; }
  const void* owner() const { return reinterpret_cast<const void*>(word_ & ~bits); }

  constexpr RecordHolder closing() const { return RecordHolder(word_ | closing_bit); }
  constexpr RecordHolder removing() const { return RecordHolder(word_ | removes_bit); }
  constexpr RecordHolder loading() const { return RecordHolder(word_ | loads_bit); }
  constexpr RecordHolder loaded() const { return RecordHolder(word_ & ~loads_bit); }
  constexpr RecordHolder strengthened() const { return RecordHolder(word_ | update_bit); }
  constexpr RecordHolder weakened() const {
    return RecordHolder(word_ & ~(update_bit | removes_bit));
  }
  friend constexpr bool operator==(RecordHolder, RecordHolder) = default;

  // Of the word of a payload neither is set, of a link only the first.
  static constexpr uintptr_t link_bit = 1;
  static constexpr uintptr_t held_bit = 2;

 private:
  static constexpr uintptr_t closing_bit = 4;
  static constexpr uintptr_t update_bit = 8;
  static constexpr uintptr_t removes_bit = 16;
  static constexpr uintptr_t loads_bit = 32;
  static constexpr uintptr_t bits = 63;
  explicit constexpr RecordHolder(uintptr_t word) : word_(word) {}

  uintptr_t word_ = 0;
};

}  // namespace pgsilo
