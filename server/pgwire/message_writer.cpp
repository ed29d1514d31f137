#include "server/pgwire/message_writer.h"

#include "executor/executable_plan.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {
constexpr size_t head_bytes = 5;  // type and length
}  // namespace

void MessageWriter::bare(BackendMessage type) {
  out_.reserve(head_bytes);
  out_.append(static_cast<char>(type));
  out_.append_be32(4);
}

void MessageWriter::authentication_ok() {
  begin(BackendMessage::authentication);
  out_.append_be32(0);
  end();
}

void MessageWriter::backend_key_data(int32_t process, int32_t secret) {
  begin(BackendMessage::backend_key_data);
  out_.append_be32(static_cast<uint32_t>(process));
  out_.append_be32(static_cast<uint32_t>(secret));
  end();
}

void MessageWriter::parameter_status(std::string_view name, std::string_view value) {
  begin(BackendMessage::parameter_status);
  cstring(name);
  cstring(value);
  end();
}

void MessageWriter::negotiate_protocol_version(uint32_t newest,
                                               std::span<const std::string_view> unknown_options) {
  begin(BackendMessage::negotiate_protocol_version);
  out_.append_be32(newest);
  out_.append_be32(static_cast<uint32_t>(unknown_options.size()));
  for (std::string_view option : unknown_options) cstring(option);
  end();
}

void MessageWriter::ready_for_query(ReadyState state) {
  begin(BackendMessage::ready_for_query);
  out_.append(static_cast<char>(state));
  end();
}

void MessageWriter::command_complete(std::string_view tag) {
  begin(BackendMessage::command_complete);
  cstring(tag);
  end();
}

void MessageWriter::parameter_description(std::span<const uint32_t> types) {
  begin(BackendMessage::parameter_description);
  out_.append_be16(static_cast<uint16_t>(types.size()));
  for (uint32_t type : types) out_.append_be32(type);
  end();
}

void MessageWriter::row_description(std::span<const ResultColumn> columns,
                                    std::span<const WireFormat> formats) {
  begin(BackendMessage::row_description);
  out_.append_be16(static_cast<uint16_t>(columns.size()));
  for (size_t i = 0; i < columns.size(); ++i) {
    const ResultColumn& column = columns[i];
    cstring(column.name);
    out_.append_be32(column.table_oid);
    out_.append_be16(static_cast<uint16_t>(column.column_number));
    // Of a domain clients are told the type beneath it.
    int32_t typmod = column.type_modifier;
    out_.append_be32(base_type_of(column.type_oid, &typmod));
    out_.append_be16(static_cast<uint16_t>(column.type_length));
    out_.append_be32(static_cast<uint32_t>(typmod));
    out_.append_be16(static_cast<uint16_t>(format_of_column(formats, i)));
  }
  end();
}

void require_known_format(WireFormat format) {
  if (format == WireFormat::text || format == WireFormat::binary) return;
  throw SqlError(sqlstate::invalid_parameter_value,
                 concat("unsupported format code: ", static_cast<int>(format)));
}

void MessageWriter::copy_response(BackendMessage type, uint32_t column_count) {
  begin(type);
  out_.append('\0');
  out_.append_be16(static_cast<uint16_t>(column_count));
  for (uint32_t i = 0; i < column_count; ++i) out_.append_be16(0);
  end();
}

void MessageWriter::copy_data(std::string_view bytes) {
  out_.reserve(head_bytes + bytes.size());  // nothing is begun that finds no memory
  begin(BackendMessage::copy_data);
  out_.append(bytes);
  end();
}

void MessageWriter::field(char code, std::string_view text) {
  if (text.empty()) return;
  out_.append(code);
  cstring(text);
}

void MessageWriter::diagnostic(const SqlDiagnostic& d) {
  begin(d.severity >= Severity::error ? BackendMessage::error_response
                                      : BackendMessage::notice_response);
  field('S', severity_name(d.severity));
  field('V', severity_name(d.severity));
  field('C', d.state.text());
  // The message is not optional in the protocol.
  out_.append('M');
  cstring(d.message);
  field('D', d.detail);
  field('H', d.hint);
  if (d.position > 0) {
    out_.append('P');
    out_.append_decimal(d.position);
    out_.append('\0');
  }
  if (d.internal_position > 0) {
    out_.append('p');
    out_.append_decimal(d.internal_position);
    out_.append('\0');
  }
  field('q', d.internal_query);
  field('W', d.context);
  field('s', d.schema);
  field('t', d.table);
  field('c', d.column);
  field('d', d.datatype);
  field('n', d.constraint);
  field('F', source_file(d));
  out_.append('L');
  out_.append_decimal(static_cast<int64_t>(d.place.line()));
  out_.append('\0');
  field('R', source_routine(d));
  out_.append('\0');
  end();
}

}  // namespace pgsilo
