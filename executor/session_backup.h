// The online backup of the session that runs a statement; the server implements it
// (docs/backup.md). Thread safety: the session's fiber.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pgsilo {

class SessionBackup {
 public:
  virtual ~SessionBackup() = default;

  struct End {
    uint64_t epoch = 0;  // the state that a copy will be, at least
    std::string label_file;
  };
  // What a backup needs stays from now on, until the session ends or begins another one. The epoch
  // from which on the log is needed. Throws 55000 if one is in progress, 22023 for a label that is
  // too long.
  virtual uint64_t start(std::string_view label) = 0;
  // Waits until all that was committed is durable. Throws 55000 if none is in progress, or the
  // server had to give it up.
  virtual End stop() = 0;
};

}  // namespace pgsilo
