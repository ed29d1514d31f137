// Result rows as DataRow messages, each column in the format the client asked for.
// Thread safety: none; the session's fiber.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "executor/executable_plan.h"
#include "executor/result_sink.h"
#include "server/pgwire/protocol.h"
#include "server/session/reply.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {

class RowWriter final : public ResultSink {
 public:
  explicit RowWriter(Reply& reply) : reply_(reply) {}

  // For the rows that follow: if there is one and a column has not the form that it should have,
  // row() throws 22023 or 42883.
  void prepare(std::span<const ResultColumn> columns, std::span<const WireFormat> formats,
               const TypeContext& types);
  void row(std::span<const Datum> values) override;

 private:
  struct Column {
    const TypeInfo* type;
    void (*print)(const TypeInfo& type, Datum value, ByteBuffer& out, const TypeContext& types);
  };
  void print(std::span<const Datum> values, ByteBuffer& out);

  Reply& reply_;
  const TypeContext* types_ = nullptr;
  std::vector<Column> columns_;
  std::optional<SqlError> refusal_;
};

}  // namespace pgsilo
