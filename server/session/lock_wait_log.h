// What the server's log says of waits for locks that last for deadlock_timeout (log_lock_waits), in
// PostgreSQL's words. Thread safety: none; the session's fiber.
#pragma once

#include <string>

#include "storage/transaction/record_lock.h"

namespace pgsilo {

struct ExecutionContext;
struct SessionServices;
class SessionLog;
class TransactionControl;

class LockWaitLog final : public LongWaitObserver {
 public:
  // All of them outlive it.
  LockWaitLog(const SessionServices& services, const ExecutionContext& context,
              TransactionControl& transactions, SessionLog& log)
      : services_(services), context_(context), transactions_(transactions), log_(log) {}

  // Says nothing when there is no memory for it.
  void observe(LockTag tag, LockMode mode, Stage stage, int64_t waited_us) noexcept override;

 private:
  std::string described(LockTag tag) const;
  std::string queue(LockTag tag) const;

  const SessionServices& services_;
  const ExecutionContext& context_;
  TransactionControl& transactions_;
  SessionLog& log_;
};

}  // namespace pgsilo
