#include "base/process_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "base/small_memory.h"

// Of jemalloc; null where something else allocates.
extern "C" int mallctl(const char* name, void* old_value, size_t* old_bytes, void* new_value,
                       size_t new_bytes) __attribute__((weak));
// Of the sanitizers' allocators; null without them.
extern "C" size_t __sanitizer_get_current_allocated_bytes() __attribute__((weak));

namespace pgsilo {

namespace {

size_t statistic(const char* name) {
  size_t value = 0;
  size_t bytes = sizeof value;
  return mallctl(name, &value, &bytes, nullptr, 0) == 0 ? value : 0;
}

MemoryUsage jemalloc_usage() {
  // Numbers stand still until the epoch moves on.
  uint64_t epoch = 1;
  size_t bytes = sizeof epoch;
  mallctl("epoch", &epoch, &bytes, &epoch, bytes);
  SlabUsage small = small_memory_usage();
  return {statistic("stats.allocated") + small.chunks - small.free,
          statistic("stats.active") + statistic("stats.metadata") + small.chunks - small.purged +
              chunk_source().kept() * ChunkSource::chunk_bytes};
}

size_t resident_bytes() {
  size_t pages = 0, resident = 0;
  std::ifstream statm("/proc/self/statm");
  statm >> pages >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Half of what a limit leaves beside `taken` bytes.
size_t left_of(decltype(RLIMIT_AS) resource, size_t taken, size_t least) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return least;
  return std::min<size_t>(least, (limit.rlim_cur - std::min<size_t>(limit.rlim_cur, taken)) / 2);
}

size_t within_resource_limits(size_t stack_bytes, size_t least) {
  size_t size = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;
  std::ifstream statm("/proc/self/statm");
  statm >> size >> resident >> shared >> text >> library >> data;
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  least = left_of(RLIMIT_AS, size * page + stack_bytes, least);
  return left_of(RLIMIT_DATA, data * page + stack_bytes, least);
}

// The number that the file begins with; `unlimited` if it holds another word, or cannot be read.
size_t read_limit(const std::string& path, size_t unlimited) {
  std::ifstream file(path);
  std::string word;
  size_t limit = 0;
  if (!(file >> word)) return unlimited;
  auto result = std::from_chars(word.data(), word.data() + word.size(), limit);
  return result.ec == std::errc() && limit != 0 ? limit : unlimited;
}

// Each group from `path` up to the hierarchy's root may have a limit. In a container the path may
// be the host's: what does not exist here is passed over, and the root is the container's own.
size_t least_limit(const std::string& hierarchy, std::string path, const char* file, size_t least) {
  for (;;) {
    std::string directory = hierarchy;
    directory.append(path).append("/").append(file);
    least = std::min(least, read_limit(directory, least));
    size_t slash = path.rfind('/');
    if (slash == std::string::npos) return least;
    path.resize(slash);
  }
}

bool lists_memory(std::string_view controllers) {
  while (!controllers.empty()) {
    size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == "memory") return true;
    if (comma == std::string_view::npos) break;
    controllers.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

MemoryUsage measure_process_memory() {
  if (mallctl != nullptr) return jemalloc_usage();
  if (__sanitizer_get_current_allocated_bytes != nullptr) {
    size_t used = __sanitizer_get_current_allocated_bytes();
    return {used, used};
  }
  size_t resident = resident_bytes();
  return {resident, resident};
}

size_t memory_for_process(size_t stack_bytes, const std::string& root) {
  size_t least =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const std::string mounts = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  // "ID:controllers:path"; version 2 has no controllers here.
  for (std::string line; std::getline(groups, line);) {
    size_t first = line.find(':');
    size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    if (controllers.empty()) {
      least = least_limit(mounts, path, "memory.max", least);
    } else if (lists_memory(controllers)) {
      least = least_limit(mounts + "/memory", path, "memory.limit_in_bytes", least);
    }
  }
  return within_resource_limits(stack_bytes, least);
}

void take_thread_memory() {
  // It shall not be left out because nobody looks at it.
  void* volatile taken = std::malloc(1);
  std::free(taken);
}

}  // namespace pgsilo
