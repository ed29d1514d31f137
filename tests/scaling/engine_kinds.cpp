#include "tests/scaling/workload.h"

namespace pgsilo::scaling {

std::vector<WorkloadKind> all_kinds() {
  std::vector<WorkloadKind> all;
  for (const auto& kinds :
       {reading_kinds(), writing_kinds(), block_kinds(), logged_kinds(), tpcc_kinds()})
    all.insert(all.end(), kinds.begin(), kinds.end());
  return all;
}

}  // namespace pgsilo::scaling
