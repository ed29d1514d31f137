#include "wal/layout/checkpoint_directory.h"

namespace pgsilo {
namespace {

constexpr char lock_name[] = "checkpoint.lock";

}  // namespace

bool CheckpointDirectory::failed(const char* what, const FileResult& result,
                                 std::string* why) const {
  *why = std::string("could not ") + what + " checkpoint directory \"" + path_ +
         "\": " + result.text();
  return false;
}

bool CheckpointDirectory::open(std::string* why) {
  FileResult result = make_directory(files_, path_);
  if (!result.ok()) return failed("create", result, why);
  result = files_.open(join_path(path_, lock_name), {.write = true, .create = true}, &lock_);
  if (result.ok()) result = lock_->try_lock();
  if (result.ok()) {
    result = files_.hold_directory(path_);
    return result.ok() || failed("open", result, why);
  }
  if (result.status != FileStatus::locked) return failed("lock", result, why);
  *why = "checkpoint directory \"" + path_ + "\" is named twice, or in use by another server";
  return false;
}

}  // namespace pgsilo
