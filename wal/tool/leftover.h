// What lies where a block was looked for and none that counts was found. Thread safety: plain
// functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"
#include "wal/layout/log_format.h"

namespace pgsilo {

enum class Leftover : uint8_t {
  nothing,        // zeros, or the end of the file
  old_block,      // whole, of another place in this log: the file was used before
  foreign_block,  // whole, of another log
  broken_block,   // says that it belongs here, but is not whole
  other_bytes,    // no block: the middle of something older, or the head of a block that is gone
};

// `bytes` begin at the place, and reach to the end of the longest block or of the file.
Leftover classify_leftover(std::string_view bytes, const BlockPlace& place);
FileResult read_leftover(FileSystem& files, const std::string& path, const BlockPlace& place,
                         Leftover* leftover);
// For messages: "a block that is not whole".
std::string_view describe(Leftover leftover);

}  // namespace pgsilo
