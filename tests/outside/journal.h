// What a disk would not hold if the power went now: notes of each change of a
// watched file or directory, with what was there before, and of each sync. They
// lie in memory that outlives the process, so whoever comes behind it, by
// SIGKILL at any instruction, can tell what the page cache has and the disk
// need not have (power_cut.cpp).
//
// A change is durable from a sync on that began when the change had been done
// and that succeeded, or at its own end if it was a synchronous write. A sync
// that fails leaves what it should have written to chance for good: no later
// sync writes it. Directories keep their entries likewise: a file's sync does
// nothing for its name.
//
// Files are known by inode numbers. A hard link in a directory of the watcher's
// own ("the keep") holds each that is noted, so that numbers are not used again
// and removed files can come back.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace outside {

enum class Change : uint32_t {
  write,   // payload: the old bytes, as far as the file reached; none if all were
           // zero
  resize,  // from old_size to offset; of a shorter one the payload are the bytes
           // that go
  sync,
  create,  // payload: path
  rename,  // payload: from, 0, to; `other` is the file that is replaced
  unlink,  // payload: path
  link,    // payload: path
  make_directory,
  remove_directory,
};

enum class Outcome : uint32_t { unknown, done, failed };

struct Note {
  uint32_t bytes;  // with payload and padding: where the next one begins
  Change change;
  std::atomic<uint32_t> begun;  // whole; only then the call is made
  std::atomic<Outcome> outcome;
  // The end of the journal when the call had returned: earlier than every note
  // that began later. Of a call in which the process ended: when the next one
  // came.
  std::atomic<uint64_t> ended;
  uint64_t file;       // of a change of names: the file that the name is for
  uint64_t other;      // 0: none
  uint64_t directory;  // in which names change
  uint64_t into;       // the directory that a rename moves to
  uint64_t offset;
  uint64_t length;
  uint64_t old_size;
  uint32_t payload;
  uint32_t synchronous;

  char* payload_bytes() { return reinterpret_cast<char*>(this + 1); }
  std::string_view text() { return {payload_bytes(), payload}; }
};
static_assert(sizeof(Note) % 8 == 0);

inline constexpr uint64_t journal_magic = 0x4c414e52554f4a21;

struct JournalMemory {
  uint64_t magic;
  uint64_t capacity;
  std::atomic<uint64_t> end;  // offset behind the last note
};
inline constexpr uint64_t journal_begin = 4096;

// The one at this offset, journal_begin or behind another; null behind the
// last.
Note* note_at(JournalMemory* journal, uint64_t offset);

// Maps the file, whole; stops the process if that cannot be done. An empty one
// is made a journal of as many bytes, without notes.
JournalMemory* map_journal(const char* path);
// What the process before had under way has been done or not by now: a sync
// that begins from here on covers it.
void end_notes_of_the_dead(JournalMemory* journal);
// A note with room for the payload, not begun. Stops the process if the journal
// is full.
Note* new_note(JournalMemory* journal, Change change, size_t payload);
// The note is whole: now the call may be made.
void begin_note(Note* note);
void end_note(JournalMemory* journal, Note* note, bool done);

std::string keep_path(const std::string& keep, uint64_t file);

}  // namespace outside
