// Result rows as DataRow messages, each column in the format the client asked for.
// Thread safety: none; the session's fiber.
#pragma once

#include <span>
#include <vector>

#include "executor/executable_plan.h"
#include "executor/result_sink.h"
#include "server/pgwire/protocol.h"
#include "server/session/reply.h"
#include "sql/types/type.h"

namespace pgsilo {

class RowWriter final : public ResultSink {
 public:
  explicit RowWriter(Reply& reply) : reply_(reply) {}

  // For the rows that follow. Throws 42883 when a column has no binary form but should.
  void prepare(std::span<const ResultColumn> columns, std::span<const WireFormat> formats,
               const TypeContext& types);
  void row(std::span<const Datum> values) override;
  // A row of texts, for commands of the session.
  void text_row(std::span<const std::string_view> values);

 private:
  struct Column {
    void (*print)(Datum value, ByteBuffer& out, const TypeContext& types);
  };
  Reply& reply_;
  const TypeContext* types_ = nullptr;
  std::vector<Column> columns_;
};

}  // namespace pgsilo
