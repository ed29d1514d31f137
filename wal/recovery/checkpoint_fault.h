// What keeps a file or a block of a checkpoint from being used. Thread safety: a value.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "base/file.h"

namespace pgsilo {

struct CheckpointFault {
  enum class Kind : uint8_t {
    none,
    damaged,     // the bytes are not those that were written, or another's
    unreadable,  // it is not there, or its device does not give it
    unknown,     // of a later format
  };

  Kind kind = Kind::none;
  std::string words;  // for messages: which file, where
  FileResult result;  // unreadable: why

  explicit operator bool() const { return kind != Kind::none; }
  // Whether the disk has not got what it should; else the process lacks something (descriptors,
  // rights, memory), or knowledge.
  bool is_of_the_disk() const {
    if (kind == Kind::damaged) return true;
    return kind == Kind::unreadable && (result.status == FileStatus::not_found ||
                                        result.error_number == EIO || result.error_number == 0);
  }

  static CheckpointFault damaged(std::string words) {
    return {Kind::damaged, std::move(words), {}};
  }
  static CheckpointFault unreadable(const std::string& words, const FileResult& result) {
    return {Kind::unreadable, "could not read " + words + ": " + result.text(), result};
  }
};

// As every message names it.
inline std::string checkpoint_file_named(const std::string& path) {
  return "checkpoint file \"" + path + "\"";
}
inline CheckpointFault damaged_checkpoint(const std::string& path, uint64_t offset) {
  return CheckpointFault::damaged(checkpoint_file_named(path) + " is damaged at offset " +
                                  std::to_string(offset));
}

}  // namespace pgsilo
