#include "server/session/row_writer.h"

#include "sql/sql_error.h"

namespace pgsilo {
namespace {

// In PostgreSQL's words: there the message is a string that cannot grow further.
[[noreturn]] void throw_too_long() {
  throw SqlError(sqlstate::program_limit_exceeded, "out of memory")
      .detail(concat("A row of the result is longer than ", limits::max_message_bytes, " bytes."));
}

}  // namespace

void RowWriter::prepare(std::span<const ResultColumn> columns, std::span<const WireFormat> formats,
                        const TypeContext& types) {
  types_ = &types;
  columns_.clear();
  for (size_t i = 0; i < columns.size(); ++i) {
    const TypeInfo& type = type_info(columns[i].type_oid);
    bool binary = format_of_column(formats, i) == WireFormat::binary;
    if (binary && type.send == nullptr) {
      throw SqlError(
          sqlstate::undefined_function,
          concat("no binary output function available for type ", format_type(type.oid)));
    }
    columns_.push_back({binary ? type.send : type.print});
  }
}

void RowWriter::row(std::span<const Datum> values) {
  MessageWriter& messages = reply_.messages();
  ByteBuffer& out = reply_.buffer();
  messages.begin(BackendMessage::data_row);
  out.append_be16(static_cast<uint16_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].null) {
      out.append_be32(UINT32_MAX);
      continue;
    }
    size_t length_at = out.size();
    out.append_be32(0);
    columns_[i].print(values[i], out, *types_);
    out.patch_be32(length_at, static_cast<uint32_t>(out.size() - length_at - 4));
  }
  if (messages.unfinished_bytes() > limits::max_message_bytes) [[unlikely]]
    throw_too_long();
  messages.end();
  reply_.row_done();
}

void RowWriter::text_row(std::span<const std::string_view> values) {
  MessageWriter& messages = reply_.messages();
  ByteBuffer& out = reply_.buffer();
  messages.begin(BackendMessage::data_row);
  out.append_be16(static_cast<uint16_t>(values.size()));
  for (std::string_view value : values) {
    out.append_be32(static_cast<uint32_t>(value.size()));
    out.append(value);
  }
  messages.end();
  reply_.row_done();
}

}  // namespace pgsilo
