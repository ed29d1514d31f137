// What the removal of large files does to the log's writes on this device: usage: removal_pauses
// [DIRECTORY]. Synchronous writes of 1 MiB at 200 a second, ten seconds for each way, beside files
// of 512 MiB that are written and removed; prints the longest of those writes and how long a
// removal took, in milliseconds. Above all a matter of the mount option `discard`.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/aligned_bytes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"

namespace pgsilo {
namespace {

constexpr size_t write_bytes = size_t{1} << 20;
constexpr size_t log_bytes = size_t{64} << 20;
constexpr size_t removed_bytes = size_t{512} << 20;
constexpr size_t removed_piece = size_t{8} << 20;
constexpr int64_t write_every_us = 5'000;
constexpr int64_t way_us = 10'000'000;

using Removal = FileResult (FileSystem::*)(const std::string&);

AlignedBytes filled(size_t bytes) {
  AlignedBytes memory = allocate_aligned(bytes);
  std::memset(memory.get(), 'x', bytes);
  return memory;
}

double in_ms(int64_t us) { return static_cast<double>(us) / 1e3; }

// A file is written, and removed unless there is no `removal`, until `stop`; the removals' times.
std::vector<int64_t> remove_files(FileSystem& files, const std::string& path, Removal removal,
                                  const std::atomic<bool>& stop) {
  AlignedBytes piece = filled(removed_piece);
  std::vector<int64_t> times;
  while (!stop) {
    std::unique_ptr<File> file;
    PGSILO_CHECK(files.open(path, {.write = true, .create = true, .direct = true}, &file).ok());
    for (size_t at = 0; at < removed_bytes && !stop; at += removed_piece) {
      PGSILO_CHECK(file->write_at(piece.get(), removed_piece, at).ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
    file.reset();
    int64_t started_us = monotonic_us();
    if (removal != nullptr) PGSILO_CHECK((files.*removal)(path).ok());
    if (!stop) times.push_back(monotonic_us() - started_us);
  }
  static_cast<void>(files.remove(path));
  return times;
}

std::vector<int64_t> write_log(File& log) {
  AlignedBytes bytes = filled(write_bytes);
  std::vector<int64_t> times;
  int64_t began_us = monotonic_us();
  for (int64_t due_us = began_us; due_us < began_us + way_us; due_us += write_every_us) {
    int64_t early_us = due_us - monotonic_us();
    if (early_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(early_us));
    int64_t started_us = monotonic_us();
    PGSILO_CHECK(
        log.write_at(bytes.get(), write_bytes, times.size() * write_bytes % log_bytes).ok());
    times.push_back(monotonic_us() - started_us);
  }
  std::sort(times.begin(), times.end(), std::greater<>());
  return times;
}

void measure(const char* name, FileSystem& files, const std::string& directory, Removal removal) {
  std::string path = join_path(directory, "removal_pauses.log");
  std::unique_ptr<File> log;
  OpenFlags flags{.write = true, .create = true, .direct = true, .synchronous = true};
  PGSILO_CHECK(files.open(path, flags, &log).ok());
  AlignedBytes zeros = filled(write_bytes);
  for (size_t at = 0; at < log_bytes; at += write_bytes)
    PGSILO_CHECK(log->write_at(zeros.get(), write_bytes, at).ok());

  std::atomic<bool> stop{false};
  std::vector<int64_t> removals;
  std::thread remover([&] {
    std::string removed = join_path(directory, "removal_pauses.removed");
    removals = remove_files(files, removed, removal, stop);
  });
  std::vector<int64_t> writes = write_log(*log);
  stop = true;
  remover.join();
  PGSILO_CHECK(files.remove(path).ok());
  int64_t longest_us = removals.empty() ? 0 : *std::ranges::max_element(removals);
  std::printf("%-20s longest writes %6.1f %6.1f %6.1f  median %5.1f  longest removal %6.1f\n", name,
              in_ms(writes[0]), in_ms(writes[1]), in_ms(writes[2]),
              in_ms(writes[writes.size() / 2]), in_ms(longest_us));
}

void run(const std::string& directory) {
  std::unique_ptr<FileSystem> files = posix_file_system();
  for (int round = 0; round < 2; ++round) {
    measure("nothing removed", *files, directory, nullptr);
    measure("at once", *files, directory, &FileSystem::remove);
    measure("gradually", *files, directory, &FileSystem::remove_gradually);
  }
}

}  // namespace
}  // namespace pgsilo

int main(int argc, char** argv) {
  pgsilo::run(argc > 1 ? argv[1] : ".");
  return 0;
}
