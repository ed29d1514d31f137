#include "tests/outside/watched_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace outside {
namespace {

std::string parent_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

FileFacts facts_from(const struct stat& info) {
  return {.file = info.st_ino,
          .bytes = static_cast<uint64_t>(info.st_size),
          .directory = S_ISDIR(info.st_mode),
          .regular = S_ISREG(info.st_mode)};
}

// The bytes [offset, offset + length) as far as the file reaches; empty if all
// are zero. Read through the page cache by a descriptor of its own: theirs may
// be of O_DIRECT, or write only.
std::vector<char> old_bytes(int descriptor, uint64_t offset, uint64_t length, uint64_t size) {
  if (offset >= size) return {};
  std::vector<char> bytes(std::min(length, size - offset));
  std::string name = "/proc/self/fd/" + std::to_string(descriptor);
  int reader = plain_open(name.c_str(), O_RDONLY);
  if (reader < 0) die_now();
  posix_fadvise(reader, 0, 0, POSIX_FADV_RANDOM);
  for (size_t got = 0; got < bytes.size();) {
    long count = syscall(SYS_pread64, reader, bytes.data() + got, bytes.size() - got, offset + got);
    if (count <= 0) die_now();  // a note that is wrong would accuse the watched process
    got += static_cast<size_t>(count);
  }
  plain_close(reader);
  bool zeros = std::ranges::all_of(bytes, [](char byte) { return byte == 0; });
  return zeros ? std::vector<char>() : bytes;
}

}  // namespace

int plain_open(const char* path, int flags, unsigned mode) {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode));
}

void plain_close(int descriptor) { syscall(SYS_close, descriptor); }

FileFacts facts_of(const char* path) {
  struct stat info{};
  if (syscall(SYS_newfstatat, AT_FDCWD, path, &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
  return facts_from(info);
}

FileFacts facts_of(int descriptor) {
  struct stat info{};
  if (syscall(SYS_fstat, descriptor, &info) != 0) return {};
  return facts_from(info);
}

WatchedFiles* WatchedFiles::instance() {
  static WatchedFiles* const files = []() -> WatchedFiles* {
    const char* root = std::getenv("PGSILO_FAULT_ROOT");
    if (root == nullptr) return nullptr;
    return new WatchedFiles(root, std::getenv("PGSILO_FAULT_SCHEDULE"),
                            std::getenv("PGSILO_FAULT_JOURNAL"), std::getenv("PGSILO_FAULT_KEEP"));
  }();
  return files;
}

WatchedFiles::WatchedFiles(const char* root, const char* schedule, const char* journal,
                           const char* keep)
    : root_(root),
      keep_(keep == nullptr ? "" : keep),
      schedule_(schedule == nullptr ? nullptr : map_schedule(schedule)),
      journal_(journal == nullptr ? nullptr : map_journal(journal)) {
  if (journal_ != nullptr) end_notes_of_the_dead(journal_);
}

bool WatchedFiles::below_root(const std::string& path) const {
  return path.starts_with(root_) && (path.size() == root_.size() || path[root_.size()] == '/');
}

std::string WatchedFiles::watched(int directory, const char* path) {
  std::string whole = path;
  if (whole.empty()) return {};
  if (whole[0] != '/') {
    std::string base;
    if (directory == AT_FDCWD) {
      char here[4096];
      if (syscall(SYS_getcwd, here, sizeof(here)) > 0) base = here;
    } else if (auto open = find(directory)) {
      base = open->path;
    }
    if (base.empty()) return {};
    whole = base + "/" + whole;
  }
  return below_root(whole) ? whole : std::string();
}

std::shared_ptr<const OpenFile> WatchedFiles::find(int descriptor) {
  if (descriptor < 0 || static_cast<size_t>(descriptor) >= descriptors) return nullptr;
  if (!is_open_[descriptor].load(std::memory_order_acquire)) return nullptr;
  std::lock_guard lock(mutex_);
  auto found = open_.find(descriptor);
  return found == open_.end() ? nullptr : found->second;
}

void WatchedFiles::opened(int descriptor, int flags, const std::string& path) {
  if (static_cast<size_t>(descriptor) >= descriptors) die_now();
  FileFacts facts = facts_of(descriptor);
  if ((flags & O_ACCMODE) != O_RDONLY && facts.regular) hold(facts.file, path.c_str());
  std::lock_guard lock(mutex_);
  open_[descriptor] = std::make_shared<OpenFile>(
      OpenFile{.file = facts.file, .flags = flags, .directory = facts.directory, .path = path});
  is_open_[descriptor].store(true, std::memory_order_release);
}

void WatchedFiles::duplicated(int from, int to) {
  auto file = find(from);
  if (file == nullptr) return closed(to);
  std::lock_guard lock(mutex_);
  open_[to] = std::make_shared<OpenFile>(*file);
  is_open_[to].store(true, std::memory_order_release);
}

void WatchedFiles::closed(int descriptor) {
  if (find(descriptor) == nullptr) return;
  std::lock_guard lock(mutex_);
  is_open_[descriptor].store(false, std::memory_order_release);
  open_.erase(descriptor);
}

void WatchedFiles::hold(uint64_t file, const char* path) {
  if (journal_ == nullptr || file == 0) return;
  long result = syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, keep_path(keep_, file).c_str(), 0);
  if (result != 0 && errno != EEXIST && errno != ENOENT) die_now();
}

Note* WatchedFiles::write(int descriptor, const OpenFile& file, uint64_t offset, uint64_t length,
                          bool sync) {
  if (journal_ == nullptr) return nullptr;
  uint64_t size = facts_of(descriptor).bytes;
  std::vector<char> old = old_bytes(descriptor, offset, length, size);
  Note* note = new_note(journal_, Change::write, old.size());
  note->file = file.file;
  note->offset = offset;
  note->length = length;
  note->old_size = size;
  note->synchronous = sync ? 1 : 0;
  std::ranges::copy(old, note->payload_bytes());
  begin_note(note);
  return note;
}

Note* WatchedFiles::resize(int descriptor, const OpenFile& file, uint64_t bytes) {
  if (journal_ == nullptr) return nullptr;
  uint64_t size = facts_of(descriptor).bytes;
  std::vector<char> old;
  if (bytes < size) old = old_bytes(descriptor, bytes, size - bytes, size);
  Note* note = new_note(journal_, Change::resize, old.size());
  note->file = file.file;
  note->offset = bytes;
  note->old_size = size;
  std::ranges::copy(old, note->payload_bytes());
  begin_note(note);
  return note;
}

Note* WatchedFiles::sync(const OpenFile& file) {
  if (journal_ == nullptr) return nullptr;
  Note* note = new_note(journal_, Change::sync, 0);
  note->file = file.file;
  begin_note(note);
  return note;
}

Note* WatchedFiles::name_note(Change change, const std::string& payload,
                              const std::string& directory) {
  Note* note = new_note(journal_, change, payload.size());
  note->directory = facts_of(directory.c_str()).file;
  note->into = note->directory;
  std::ranges::copy(payload, note->payload_bytes());
  return note;
}

Note* WatchedFiles::name(Change change, const std::string& path) {
  if (journal_ == nullptr) return nullptr;
  FileFacts facts = facts_of(path.c_str());
  if (facts.regular) hold(facts.file, path.c_str());
  Note* note = name_note(change, path, parent_of(path));
  note->file = facts.file;
  begin_note(note);
  return note;
}

Note* WatchedFiles::rename(const std::string& from, const std::string& to) {
  if (journal_ == nullptr) return nullptr;
  FileFacts moved = facts_of(from.c_str());
  FileFacts replaced = facts_of(to.c_str());
  if (moved.regular) hold(moved.file, from.c_str());
  if (replaced.regular) hold(replaced.file, to.c_str());
  Note* note = name_note(Change::rename, from + '\0' + to, parent_of(from));
  note->into = facts_of(parent_of(to).c_str()).file;
  note->file = moved.file;
  note->other = replaced.file;
  begin_note(note);
  return note;
}

void WatchedFiles::renamed(const std::string& from, const std::string& to) {
  std::lock_guard lock(mutex_);
  for (auto& [descriptor, file] : open_) {
    if (file->path != from) continue;
    auto moved = std::make_shared<OpenFile>(*file);
    moved->path = to;
    file = std::move(moved);
  }
}

void WatchedFiles::end(Note* note, bool done) {
  if (note != nullptr) end_note(journal_, note, done);
}

uint64_t WatchedFiles::visible_links(uint64_t file, uint64_t links) {
  if (journal_ == nullptr || links == 0) return links;
  bool kept = facts_of(keep_path(keep_, file).c_str()).file == file;
  return kept ? links - 1 : links;
}

}  // namespace outside
