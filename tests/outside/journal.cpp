#include "tests/outside/journal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace outside {
namespace {

[[noreturn]] void stop(const char* what, const char* path) {
  std::fprintf(stderr, "fault library: %s: \"%s\"\n", what, path);
  std::abort();
}

}  // namespace

JournalMemory* map_journal(const char* path) {
  auto file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC));
  struct stat info{};
  if (file < 0 || syscall(SYS_fstat, file, &info) != 0) stop("cannot open the journal", path);
  auto bytes = static_cast<size_t>(info.st_size);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (memory == MAP_FAILED) stop("cannot map the journal", path);
  auto* journal = static_cast<JournalMemory*>(memory);
  if (journal->magic == 0) {
    journal->capacity = bytes;
    journal->end.store(journal_begin);
    journal->magic = journal_magic;
  }
  if (journal->magic != journal_magic) stop("no journal", path);
  return journal;
}

Note* note_at(JournalMemory* journal, uint64_t offset) {
  if (offset >= journal->end.load()) return nullptr;
  return reinterpret_cast<Note*>(reinterpret_cast<char*>(journal) + offset);
}

void end_notes_of_the_dead(JournalMemory* journal) {
  uint64_t end = journal->end.load();
  for (uint64_t at = journal_begin; Note* note = note_at(journal, at); at += note->bytes) {
    if (note->ended.load() == 0) note->ended.store(end);
  }
}

Note* new_note(JournalMemory* journal, Change change, size_t payload) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  uint64_t at = journal->end.load();
  uint64_t bytes = (sizeof(Note) + payload + 7) / 8 * 8;
  if (at + bytes > journal->capacity) stop("the journal is full", "");
  auto* note = reinterpret_cast<Note*>(reinterpret_cast<char*>(journal) + at);
  std::memset(static_cast<void*>(note), 0, sizeof(Note));
  note->bytes = static_cast<uint32_t>(bytes);
  note->change = change;
  note->payload = static_cast<uint32_t>(payload);
  // In this order: a process that ends here leaves no note of unknown length.
  journal->end.store(at + bytes);
  return note;
}

void begin_note(Note* note) { note->begun.store(1); }

void end_note(JournalMemory* journal, Note* note, bool done) {
  note->outcome.store(done ? Outcome::done : Outcome::failed);
  note->ended.store(journal->end.load());
}

std::string keep_path(const std::string& keep, uint64_t file) {
  return keep + "/" + std::to_string(file);
}

}  // namespace outside
