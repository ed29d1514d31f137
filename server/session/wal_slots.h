// Changes of replication slots for one session. What waits for the disk is done on the segment
// keeper's thread, not on the worker's. Thread safety: the session's fiber.
#pragma once

#include <functional>

#include "executor/execution_context.h"
#include "executor/session_slots.h"

namespace pgsilo {

class LogSlots;
struct SlotResult;

class WalSlots final : public SessionSlots {
 public:
  WalSlots(LogSlots& slots, ExecutionContext& context) : slots_(slots), context_(context) {}

  std::optional<uint64_t> create(std::string_view name, bool reserve, bool temporary) override;
  void drop(std::string_view name) override;
  uint64_t advance(std::string_view name, uint64_t epoch) override;
  // They are known by the session's process.
  bool has_temporary() const { return has_temporary_; }
  // Its temporary ones: it has ended, or a statement of it has failed.
  void drop_temporary() noexcept;

 private:
  SlotResult elsewhere(const std::function<SlotResult()>& work);
  void warn(const SlotResult& result, std::string_view hint);

  LogSlots& slots_;
  ExecutionContext& context_;
  bool has_temporary_ = false;
};

}  // namespace pgsilo
