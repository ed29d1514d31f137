// What the first block of an incarnation in a log says (docs/log_format.md, "Begin block"). It is
// there before the control file names the incarnation, so that a log without it has lost what it
// held. Thread safety: plain functions and values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wal/layout/control_file.h"

namespace pgsilo {

struct LogBegin {
  Uuid database;
  Uuid incarnation;
  HistoryPoint parent;
  Epoch first_epoch;
  uint64_t unix_time_us = 0;
  uint64_t segment_bytes = 0;
  uint32_t logs = 0;        // of the incarnation
  uint32_t index = 0;       // of this one among them
  bool compressed = false;  // its blocks may be
  std::string writer;
};

// A block's payload.
std::string encode_log_begin(const LogBegin& begin);
// None: malformed, or it has required items that are not known here.
std::optional<LogBegin> decode_log_begin(std::string_view payload);

}  // namespace pgsilo
