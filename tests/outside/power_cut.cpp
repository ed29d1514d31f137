// What is left of the files of a watched process, which has ended: makes of
// them and of its journal (journal.h) what a disk holds after the power went,
// or after the machine went on.
//
//   power_cut JOURNAL KEEP cut SEED       the power went
//   power_cut JOURNAL KEEP settle SEED    everything was written back; only
//   what a failed sync left
//                                         to chance may be lost
//   power_cut JOURNAL KEEP show           prints the notes
//
// A change that is not durable is lost or kept: of what is written sectors of
// 512 bytes, one by one, or whole writes, or the ends of them, or all; a sector
// that was written twice may have any of its contents. Of the changes of a
// directory's names those from a random one on are lost. Then the journal is
// empty.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/outside/journal.h"

namespace outside {
namespace {

constexpr uint64_t sector = 512;

uint64_t file_at(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

[[noreturn]] void stop(const std::string& what) {
  std::fprintf(stderr, "power_cut: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(2);
}

enum class Fate { durable, pending, forsaken };

// The notes, and what became of each.
class Journal {
 public:
  explicit Journal(JournalMemory* memory) : memory_(memory) {
    for (uint64_t at = journal_begin; Note* note = note_at(memory, at); at += note->bytes) {
      if (note->begun.load() != 0) add(note, at);
    }
  }

  const std::vector<Note*>& notes() const { return notes_; }

  // A sync is looked for that began behind the change: the first one decides.
  Fate fate(const Note& note, uint64_t synced) const {
    uint64_t ended = note.ended.load();
    if (ended == 0) return Fate::pending;
    if (note.synchronous != 0 && note.outcome.load() == Outcome::done) return Fate::durable;
    auto of_file = syncs_.find(synced);
    if (of_file == syncs_.end()) return Fate::pending;
    auto sync = of_file->second.lower_bound(ended);
    if (sync == of_file->second.end()) return Fate::pending;
    return sync->second ? Fate::durable : Fate::forsaken;
  }

  void empty() { memory_->end.store(journal_begin); }

 private:
  void add(Note* note, uint64_t at) {
    notes_.push_back(note);
    if (note->change != Change::sync || note->outcome.load() == Outcome::unknown) return;
    syncs_[note->file][at] = note->outcome.load() == Outcome::done;
  }

  JournalMemory* const memory_;
  std::vector<Note*> notes_;
  // By file or directory: where each sync began that returned, and whether it
  // succeeded.
  std::map<uint64_t, std::map<uint64_t, bool>> syncs_;
};

// How the unsynced writes of a file fare.
enum class Mode { lost, kept, sectors, ends, writes };

// Takes back what is lost of one file's content, from its newest change to the
// oldest.
class FileUndo {
 public:
  FileUndo(const Journal& journal, const std::string& path, Mode mode, bool only_forsaken,
           std::mt19937_64* random)
      : journal_(journal), mode_(mode), only_forsaken_(only_forsaken), random_(*random) {
    descriptor_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat info{};
    if (descriptor_ < 0 || fstat(descriptor_, &info) != 0) return;
    size_ = static_cast<uint64_t>(info.st_size);
  }
  ~FileUndo() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  FileUndo(const FileUndo&) = delete;
  FileUndo& operator=(const FileUndo&) = delete;

  bool is_there() const { return descriptor_ >= 0; }

  void take_back(Note& note) {
    Fate fate = journal_.fate(note, note.file);
    bool may_go = fate == Fate::forsaken || (fate == Fate::pending && !only_forsaken_);
    bool resized = note.change == Change::resize;
    uint64_t new_end = resized ? note.offset : note.offset + note.length;
    if (resized ? new_end != note.old_size : new_end > note.old_size) {
      take_size_back(note, may_go);
    }
    if (resized && new_end < note.old_size) {
      take_bytes_back(note, new_end, note.old_size - new_end, may_go && !size_stays_, Mode::lost);
    } else if (!resized && note.length > 0) {
      take_bytes_back(note, note.offset, note.length, may_go, mode_);
    }
  }

  void finish() {
    if (ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) {
      stop("cannot truncate a file");
    }
  }

  uint64_t sectors_lost() const { return sectors_lost_; }

 private:
  bool coin() { return (random_() & 1) != 0; }

  void take_size_back(const Note& note, bool may_go) {
    if (size_stays_) return;
    bool goes = may_go && mode_ != Mode::kept && (mode_ == Mode::lost || coin());
    if (!goes) {
      size_stays_ = true;
      return;
    }
    size_ = note.old_size;
  }

  // What was there before, sector by sector, unless a newer content of the
  // sector stays.
  void take_bytes_back(Note& note, uint64_t begin, uint64_t length, bool may_go, Mode mode) {
    uint64_t end = begin + length;
    uint64_t first = begin / sector;
    uint64_t last = (end + sector - 1) / sector;
    if (stays_.size() < last) stays_.resize(last);
    bool whole = coin();
    uint64_t from = first + random_() % (last - first + 1);
    for (uint64_t number = first; number < last; ++number) {
      if (stays_[number]) continue;
      bool goes = mode == Mode::lost || (mode == Mode::sectors && coin()) ||
                  (mode == Mode::ends && number >= from) || (mode == Mode::writes && whole);
      if (!may_go || !goes) {
        stays_[number] = true;
        continue;
      }
      restore(note, begin, std::max(begin, number * sector), std::min(end, (number + 1) * sector));
    }
  }

  void restore(Note& note, uint64_t begin, uint64_t from, uint64_t to) {
    std::string bytes(to - from, '\0');
    uint64_t offset = from - begin;
    if (offset < note.payload) {
      std::string_view old = note.text().substr(offset, to - from);
      std::copy(old.begin(), old.end(), bytes.begin());
    }
    auto put = static_cast<ssize_t>(bytes.size());
    if (pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(from)) != put) {
      stop("cannot write a file");
    }
    ++sectors_lost_;
  }

  const Journal& journal_;
  const Mode mode_;
  const bool only_forsaken_;
  std::mt19937_64& random_;
  int descriptor_ = -1;
  uint64_t size_ = 0;  // as it is to be
  bool size_stays_ = false;
  std::vector<bool> stays_;
  uint64_t sectors_lost_ = 0;
};

bool changes_content(const Note& note) {
  return note.change == Change::write || note.change == Change::resize;
}

class Disk {
 public:
  Disk(Journal* journal, std::string keep, uint64_t seed, bool power_went)
      : journal_(*journal), keep_(std::move(keep)), power_went_(power_went), random_(seed) {}

  void decide() {
    take_contents_back();
    if (power_went_) take_names_back();
    for (const auto& kept : std::filesystem::directory_iterator(keep_)) {
      std::filesystem::remove(kept.path());
    }
    std::printf(
        "%s: %zu notes, %zu files with changes that were not durable, "
        "%llu sectors lost, "
        "%zu of %zu names lost\n",
        power_went_ ? "cut" : "settled", journal_.notes().size(), files_at_risk_,
        static_cast<unsigned long long>(sectors_lost_), names_lost_, names_at_risk_);
    journal_.empty();
  }

 private:
  Mode mode_of(uint64_t everywhere) {
    if (everywhere < 2) return everywhere == 0 ? Mode::lost : Mode::kept;
    return static_cast<Mode>(random_() % 5);
  }

  void take_contents_back() {
    std::map<uint64_t, std::vector<Note*>> by_file;
    for (Note* note : journal_.notes()) {
      if (changes_content(*note)) by_file[note->file].push_back(note);
    }
    uint64_t everywhere = random_() % 6;
    for (auto& [file, notes] : by_file) {
      bool at_risk = std::ranges::any_of(
          notes, [&](Note* note) { return journal_.fate(*note, note->file) != Fate::durable; });
      if (!at_risk) continue;
      ++files_at_risk_;
      FileUndo undo(journal_, keep_path(keep_, file), mode_of(everywhere), !power_went_, &random_);
      if (!undo.is_there()) stop("the keep has not file " + std::to_string(file));
      for (auto note = notes.rbegin(); note != notes.rend(); ++note) undo.take_back(**note);
      undo.finish();
      sectors_lost_ += undo.sectors_lost();
    }
  }

  // The indexes of the notes that are lost: in each directory all from one on,
  // and what changes two directories in both or in none.
  std::vector<bool> lost_names() {
    const std::vector<Note*>& notes = journal_.notes();
    std::map<uint64_t, std::vector<size_t>> at_risk;
    for (size_t i = 0; i < notes.size(); ++i) {
      Note& note = *notes[i];
      if (note.directory == 0 || note.outcome.load() == Outcome::failed) continue;
      for (uint64_t directory : {note.directory, note.into}) {
        std::vector<size_t>& list = at_risk[directory];
        if (journal_.fate(note, directory) == Fate::durable) {
          list.clear();
        } else if (list.empty() || list.back() != i) {
          list.push_back(i);
        }
      }
    }
    std::vector<bool> lost(notes.size());
    for (auto& [directory, list] : at_risk) {
      names_at_risk_ += list.size();
      for (size_t i = random_() % (list.size() + 1); i < list.size(); ++i) lost[list[i]] = true;
    }
    spread(at_risk, &lost);
    return lost;
  }

  static void spread(const std::map<uint64_t, std::vector<size_t>>& at_risk,
                     std::vector<bool>* lost) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [directory, list] : at_risk) {
        bool goes = false;
        for (size_t note : list) {
          goes = goes || (*lost)[note];
          changed = changed || goes != (*lost)[note];
          if (goes) (*lost)[note] = true;
        }
      }
    }
  }

  void take_names_back() {
    std::vector<bool> lost = lost_names();
    for (size_t i = lost.size(); i-- > 0;) {
      if (!lost[i]) continue;
      take_name_back(*journal_.notes()[i]);
      ++names_lost_;
    }
  }

  void bring_back(uint64_t file, const std::string& path) {
    if (link(keep_path(keep_, file).c_str(), path.c_str()) != 0) {
      stop("cannot bring back \"" + path + "\"");
    }
  }

  // A call in which the process ended may not have come to its work: then there
  // is nothing to do.
  void take_name_back(Note& note) {
    std::string path(note.text().substr(0, note.text().find('\0')));
    switch (note.change) {
      case Change::create:
      case Change::link:
        unlink(path.c_str());
        break;
      case Change::make_directory:
        std::filesystem::remove_all(path);
        break;
      case Change::unlink:
        if (note.file != 0 && file_at(path) == 0) bring_back(note.file, path);
        break;
      case Change::remove_directory:
        mkdir(path.c_str(), 0700);
        break;
      case Change::rename:
        take_rename_back(note, path, std::string(note.text().substr(path.size() + 1)));
        break;
      default:
        break;
    }
  }

  void take_rename_back(Note& note, const std::string& from, const std::string& to) {
    if (file_at(from) != 0 || file_at(to) != note.file) return;
    if (rename(to.c_str(), from.c_str()) != 0) stop("cannot rename \"" + to + "\"");
    if (note.other != 0) bring_back(note.other, to);
  }

  Journal& journal_;
  const std::string keep_;
  const bool power_went_;
  std::mt19937_64 random_;
  size_t files_at_risk_ = 0;
  uint64_t sectors_lost_ = 0;
  size_t names_at_risk_ = 0;
  size_t names_lost_ = 0;
};

void show(const Journal& journal) {
  static constexpr const char* words[] = {"write",  "resize",         "sync",
                                          "create", "rename",         "unlink",
                                          "link",   "make_directory", "remove_directory"};
  static constexpr const char* fates[] = {"durable", "pending", "forsaken"};
  for (Note* note : journal.notes()) {
    bool of_names = note->directory != 0;
    Fate fate = journal.fate(*note, of_names ? note->directory : note->file);
    std::string text(of_names ? note->text() : std::string_view());
    std::ranges::replace(text, '\0', ' ');
    std::printf(
        "%s file %llu offset %llu length %llu old size %llu %s %s\n",
        words[static_cast<uint32_t>(note->change)], static_cast<unsigned long long>(note->file),
        static_cast<unsigned long long>(note->offset),
        static_cast<unsigned long long>(note->length),
        static_cast<unsigned long long>(note->old_size),
        note->change == Change::sync ? (note->outcome.load() == Outcome::done ? "done" : "not done")
                                     : fates[static_cast<int>(fate)],
        text.c_str());
  }
}

}  // namespace
}  // namespace outside

int main(int count, char** words) {
  std::string_view command = count > 3 ? words[3] : "";
  bool decides = (command == "cut" || command == "settle") && count == 5;
  if (!decides && (command != "show" || count != 4)) {
    std::fprintf(stderr, "usage: power_cut JOURNAL KEEP cut SEED | settle SEED | show\n");
    return 2;
  }
  outside::Journal journal(outside::map_journal(words[1]));
  if (!decides) {
    outside::show(journal);
    return 0;
  }
  outside::Disk(&journal, words[2], std::strtoull(words[4], nullptr, 10), command == "cut")
      .decide();
  return 0;
}
