#include "server/descriptor_plan.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "server/limits.h"

namespace pgsilo {
namespace {

// What files may need beside those that are open.
size_t reserve(const DescriptorNeeds& needs) {
  return limits::reserved_descriptors + limits::reserved_descriptors_per_log * needs.logs +
         limits::reserved_descriptors_per_checkpoint_file * needs.checkpoint_files +
         needs.temporary_files;
}

// Listening sockets are not.
bool is_connection(int descriptor) {
  int listens = 0;
  socklen_t bytes = sizeof listens;
  return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) == 0 && listens == 0;
}

}  // namespace

size_t raise_descriptor_limit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return limit.rlim_cur;
}

size_t descriptors_in_use() {
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return 64;  // more than a server without clients has
  size_t count = 0;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] != '.' && !is_connection(std::atoi(entry->d_name))) ++count;
  }
  closedir(directory);
  return count;
}

size_t most_temporary_files(size_t limit) {
  return std::clamp(limit / limits::temporary_file_share_of_descriptors,
                    limits::least_temporary_files, limits::most_temporary_files);
}

size_t seats_for_clients(const DescriptorNeeds& needs) {
  size_t taken = needs.in_use + needs.door + reserve(needs);
  return needs.limit - std::min(needs.limit, taken);
}

size_t least_descriptors(const DescriptorNeeds& needs) {
  return needs.in_use + needs.door + reserve(needs) + limits::least_seats;
}

}  // namespace pgsilo
