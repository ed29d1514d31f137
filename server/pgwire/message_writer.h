// Writes the server's messages into a buffer.
// Thread safety: none; as the buffer.
// Invariant: between begin() and end() the buffer holds an unfinished message; cut() drops it, and
// so must whoever goes on after an exception.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/byte_buffer.h"
#include "server/pgwire/protocol.h"

namespace pgsilo {

struct ResultColumn;
struct SqlDiagnostic;

class MessageWriter {
 public:
  explicit MessageWriter(ByteBuffer& out) : out_(out) {}

  // A message piece by piece: begin(), append to buffer(), end().
  void begin(BackendMessage type) {
    start_ = out_.size();
    out_.append(static_cast<char>(type));
    out_.append_be32(0);
  }
  void end() {
    out_.patch_be32(start_ + 1, static_cast<uint32_t>(out_.size() - start_ - 1));
    start_ = none;
  }
  // Gives up the message that was begun, if one was.
  void cut() {
    if (start_ < out_.size()) out_.truncate(start_);
    start_ = none;
  }
  // Of the message that was begun, so far.
  size_t unfinished_bytes() const { return out_.size() - start_; }
  ByteBuffer& buffer() { return out_; }

  // A message without a body.
  void bare(BackendMessage type);
  void authentication_ok();
  void backend_key_data(int32_t process, int32_t secret);
  void parameter_status(std::string_view name, std::string_view value);
  void negotiate_protocol_version(uint32_t newest,
                                  std::span<const std::string_view> unknown_options);
  void ready_for_query(ReadyState state);
  void command_complete(std::string_view tag);
  void parameter_description(std::span<const uint32_t> types);
  // `formats`: none for all text, one for all columns, or one per column.
  void row_description(std::span<const ResultColumn> columns, std::span<const WireFormat> formats);
  void copy_response(BackendMessage type, uint32_t column_count);
  void copy_data(std::string_view bytes);
  // ErrorResponse or NoticeResponse, by the diagnostic's severity.
  void diagnostic(const SqlDiagnostic& diagnostic);

 private:
  void cstring(std::string_view text) {
    out_.append(text);
    out_.append('\0');
  }
  void field(char code, std::string_view text);

  static constexpr size_t none = SIZE_MAX;
  ByteBuffer& out_;
  size_t start_ = none;
};

// Throws 22023 for a format code that does not exist.
void require_known_format(WireFormat format);

// The format of column `index` under the protocol's short forms.
inline WireFormat format_of_column(std::span<const WireFormat> formats, size_t index) {
  if (formats.empty()) return WireFormat::text;
  return formats.size() == 1 ? formats[0] : formats[index];
}

}  // namespace pgsilo
