#include "server/session/row_writer.h"

#include "base/long_work.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

// In PostgreSQL's words: there the message is a string that cannot grow further.
[[noreturn]] void throw_too_long() {
  throw SqlError(sqlstate::program_limit_exceeded, "out of memory")
      .detail(concat("A row of the result is longer than ", limits::max_message_bytes, " bytes."));
}

using Print = void (*)(const TypeInfo& type, Datum value, ByteBuffer& out,
                       const TypeContext& types);

Print print_of(const TypeInfo& type, WireFormat format) {
  require_known_format(format);
  if (format == WireFormat::text) return type.functions.print;
  if (type.can_send()) return type.functions.send;
  throw SqlError(sqlstate::undefined_function,
                 concat("no binary output function available for type ", format_type(type.oid)));
}

}  // namespace

void RowWriter::prepare(std::span<const ResultColumn> columns, std::span<const WireFormat> formats,
                        const TypeContext& types) {
  types_ = &types;
  columns_.clear();
  refusal_.reset();
  try {
    for (size_t i = 0; i < columns.size(); ++i) {
      const TypeInfo& type = type_info(columns[i].type_oid);
      columns_.push_back({&type, print_of(type, format_of_column(formats, i))});
    }
  } catch (const SqlError& error) {
    refusal_ = error;
  }
}

void RowWriter::row(std::span<const Datum> values) {
  if (refusal_) [[unlikely]]
    throw *refusal_;
  MessageWriter& messages = reply_.messages();
  ByteBuffer& out = reply_.buffer();
  messages.begin(BackendMessage::data_row);
  out.append_be16(static_cast<uint16_t>(values.size()));
  try {
    print(values, out);
    if (messages.unfinished_bytes() > limits::max_message_bytes) [[unlikely]]
      throw_too_long();
  } catch (...) {
    messages.cut();  // before what is released leaves, and the rest moves
    throw;
  }
  messages.end();
  reply_.limit_held();
}

void RowWriter::print(std::span<const Datum> values, ByteBuffer& out) {
  Connection::LongOutput long_output(reply_.connection());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].null) {
      out.append_be32(UINT32_MAX);
      continue;
    }
    size_t length_at = out.size();
    out.append_be32(0);
    if (values[i].length > WorkMeter::block) [[unlikely]]
      long_output.begin();
    columns_[i].print(*columns_[i].type, values[i], out, *types_);
    out.patch_be32(length_at, static_cast<uint32_t>(out.size() - length_at - 4));
  }
}

}  // namespace pgsilo
