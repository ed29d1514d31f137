#include "executor/spill/spill_error.h"

#include <cerrno>

#include "base/failed_call.h"

namespace pgsilo {

SqlError file_error(std::string_view what, const std::string& path, const FileResult& result) {
  SqlState state = sqlstate::io_error;
  if (result.status == FileStatus::no_space) {
    state = sqlstate::disk_full;
  } else if (result.error_number == EMFILE || result.error_number == ENFILE) {
    state = sqlstate::insufficient_resources;
  }
  return {state, could_not(what, path, result)};
}

SqlError damaged_block(const std::string& path, uint64_t block) {
  return {sqlstate::data_corrupted,
          concat("block ", block, " of temporary file \"", path, "\" is not what was written")};
}

}  // namespace pgsilo
