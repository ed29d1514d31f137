// Replication slots, as the session that runs a statement changes them; the server implements it
// (docs/backup.md). Nothing of it is undone by a rollback. Thread safety: the session's fiber.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pgsilo {

class SessionSlots {
 public:
  virtual ~SessionSlots() = default;

  // From which epoch on the slot keeps the log; none unless `reserve`. A temporary one goes with
  // the session, or with its next error. Throws 42602, 42710, 53400, 55000, 58030.
  virtual std::optional<uint64_t> create(std::string_view name, bool reserve, bool temporary) = 0;
  // Throws 42704, 55006, 58030.
  virtual void drop(std::string_view name) = 0;
  // To where it has been moved. Throws 42704, 55000, 55006, 58030, XX000.
  virtual uint64_t advance(std::string_view name, uint64_t epoch) = 0;
};

}  // namespace pgsilo
