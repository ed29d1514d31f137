// Which way of writing the log makes a batch durable fastest on this device: usage: log_device
// [DIRECTORY]. Prints medians and 99th percentiles in microseconds. The ways are tried in turn,
// batch by batch, so that all see the same moments. io_uring with two writes in flight is shown for
// the record: a log has one (docs/log_format.md); its times are those of both, halved.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"
#include "bench/write_ring.h"

namespace pgsilo {
namespace {

constexpr size_t segment_bytes = size_t{64} << 20;
constexpr size_t longest_batch = size_t{1} << 20;
constexpr int rounds = 300;

enum class Preparation { zeros, reserved, growing };

struct Way {
  const char* name;
  OpenFlags flags;
  Preparation preparation;
  RingSync ring_sync = RingSync::none;
  unsigned in_flight = 1;
  std::unique_ptr<WriteRing> ring = nullptr;
  std::unique_ptr<File> file = nullptr;
  uint64_t offset = 0;
  std::vector<int64_t> times = {};
};

char* aligned_bytes(size_t bytes) {
  auto* memory = static_cast<char*>(::operator new[](bytes, std::align_val_t{file_block_bytes}));
  std::memset(memory, 'x', bytes);
  return memory;
}

void prepare(FileSystem& files, const std::string& path, Way& way, const char* bytes) {
  static_cast<void>(files.remove(path));
  std::unique_ptr<File> file;
  PGSILO_CHECK(files.open(path, {.write = true, .create = true}, &file).ok());
  if (way.preparation != Preparation::growing) PGSILO_CHECK(file->allocate(segment_bytes).ok());
  if (way.preparation == Preparation::zeros) {
    for (size_t at = 0; at < segment_bytes; at += longest_batch) {
      PGSILO_CHECK(file->write_at(bytes, longest_batch, at).ok());
    }
  }
  PGSILO_CHECK(file->sync_data().ok());
  if (way.ring_sync != RingSync::none) {
    way.ring = std::make_unique<WriteRing>(path);
    if (!way.ring->usable()) std::printf("%s: not supported here\n", way.name);
  } else if (!files.open(path, way.flags, &way.file).ok()) {
    std::printf("%s: not supported here\n", way.name);
  }
}

void write_through_ring(Way& way, const char* bytes, size_t batch) {
  if (!way.ring->usable()) return;
  if (way.offset + way.in_flight * batch > segment_bytes) way.offset = 0;
  int64_t started = monotonic_ns();
  for (unsigned i = 0; i < way.in_flight; ++i, way.offset += batch)
    way.ring->add(bytes, batch, way.offset, way.ring_sync);
  way.ring->run();
  way.times.push_back((monotonic_ns() - started) / way.in_flight);
}

void write_batch(Way& way, const char* bytes, size_t batch) {
  if (way.ring != nullptr) return write_through_ring(way, bytes, batch);
  if (way.file == nullptr) return;
  if (way.offset + batch > segment_bytes) way.offset = 0;
  int64_t started = monotonic_ns();
  PGSILO_CHECK(way.file->write_at(bytes, batch, way.offset).ok());
  if (!way.flags.synchronous) PGSILO_CHECK(way.file->sync_data().ok());
  way.times.push_back(monotonic_ns() - started);
  way.offset += batch;
}

void run(const std::string& directory) {
  std::unique_ptr<FileSystem> files = posix_file_system();
  const char* bytes = aligned_bytes(longest_batch);
  Way ways[] = {
      {"O_DIRECT|O_DSYNC, zeroed segment",
       {.write = true, .direct = true, .synchronous = true},
       Preparation::zeros},
      {"O_DIRECT + fdatasync, zeroed segment", {.write = true, .direct = true}, Preparation::zeros},
      {"O_DSYNC, zeroed segment", {.write = true, .synchronous = true}, Preparation::zeros},
      {"write + fdatasync, zeroed segment", {.write = true}, Preparation::zeros},
      {"io_uring, linked fdatasync, zeroed",
       {.direct = true},
       Preparation::zeros,
       RingSync::linked_fdatasync},
      {"io_uring, RWF_DSYNC, zeroed", {.direct = true}, Preparation::zeros, RingSync::dsync},
      {"io_uring, RWF_DSYNC, two in flight",
       {.direct = true},
       Preparation::zeros,
       RingSync::dsync,
       2},
      {"O_DIRECT|O_DSYNC, only reserved",
       {.write = true, .direct = true, .synchronous = true},
       Preparation::reserved},
      {"write + fdatasync, growing file", {.write = true}, Preparation::growing},
  };
  for (size_t batch :
       {size_t{512}, size_t{4096}, size_t{16384}, size_t{65536}, size_t{262144}, longest_batch}) {
    for (size_t i = 0; i < std::size(ways); ++i) {
      ways[i].offset = 0;
      ways[i].times.clear();
      prepare(*files, directory + "/log_device." + std::to_string(i), ways[i], bytes);
    }
    for (int round = 0; round < rounds; ++round) {
      for (Way& way : ways) {
        // Direct writes come in whole blocks.
        write_batch(way, bytes, way.flags.direct ? std::max(batch, file_block_bytes) : batch);
      }
    }
    for (Way& way : ways) {
      if (way.times.empty()) continue;
      std::sort(way.times.begin(), way.times.end());
      std::printf("%8zu bytes  %-38s median %6.0f  p99 %6.0f\n", batch, way.name,
                  static_cast<double>(way.times[rounds / 2]) / 1e3,
                  static_cast<double>(way.times[rounds * 99 / 100]) / 1e3);
    }
  }
  for (size_t i = 0; i < std::size(ways); ++i) {
    static_cast<void>(files->remove(directory + "/log_device." + std::to_string(i)));
  }
}

}  // namespace
}  // namespace pgsilo

int main(int argc, char** argv) {
  pgsilo::run(argc > 1 ? argv[1] : ".");
  return 0;
}
