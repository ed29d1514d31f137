#include "base/huge_pages.h"

#include <sys/prctl.h>

#include <fstream>
#include <string>

// Read by jemalloc before main().
extern "C" const char* malloc_conf;
const char* malloc_conf = "thp:always";

namespace pgsilo {

// The file names the modes, the one in force in brackets: "always [madvise] never".
bool system_gives_huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  return std::getline(file, modes) && modes.find("[never]") == std::string::npos;
}

void refuse_huge_pages() { prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }

}  // namespace pgsilo
