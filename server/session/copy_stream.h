// The COPY sub-protocol: the client's side as the executor's CopySource and CopySink.
// Thread safety: none; the session's fiber.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "executor/execution_context.h"

namespace pgsilo {

class Connection;
class Reply;
class SessionInterrupts;
class TransactionControl;

class CopyInStream final : public CopySource {
 public:
  CopyInStream(Connection& connection, Reply& reply, TransactionControl& transactions,
               SessionInterrupts& interrupts)
      : connection_(connection),
        reply_(reply),
        transactions_(transactions),
        interrupts_(interrupts) {}
  // What was asked for by the client may not be run again: its answer has begun.
  void begin(uint32_t column_count) override;
  bool read(std::string_view* piece) override;

 private:
  Connection& connection_;
  Reply& reply_;
  TransactionControl& transactions_;
  SessionInterrupts& interrupts_;
  size_t delivered_bytes_ = 0;  // of the message whose piece the executor holds
};

class CopyOutStream final : public CopySink {
 public:
  explicit CopyOutStream(Reply& reply) : reply_(reply) {}
  void begin(uint32_t column_count) override;
  void write(std::string_view row) override;
  void end() override;

 private:
  Reply& reply_;
};

}  // namespace pgsilo
