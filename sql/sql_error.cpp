#include "sql/sql_error.h"

#include <charconv>

namespace pgsilo {

void MessagePiece::write_signed(int64_t value) {
  char* end = std::to_chars(storage_, storage_ + sizeof storage_, value).ptr;
  text_ = {storage_, static_cast<size_t>(end - storage_)};
}

void MessagePiece::write_unsigned(uint64_t value) {
  char* end = std::to_chars(storage_, storage_ + sizeof storage_, value).ptr;
  text_ = {storage_, static_cast<size_t>(end - storage_)};
}

std::string concat_pieces(std::initializer_list<std::string_view> pieces) {
  size_t bytes = 0;
  for (std::string_view piece : pieces) bytes += piece.size();
  std::string text;
  text.reserve(bytes);
  for (std::string_view piece : pieces) text.append(piece);
  return text;
}

std::string_view severity_name(Severity severity) {
  static constexpr std::string_view names[] = {"DEBUG",   "LOG",   "INFO",  "NOTICE",
                                               "WARNING", "ERROR", "FATAL", "PANIC"};
  return names[static_cast<size_t>(severity)];
}

SqlError::SqlError(Severity severity, SqlState state, std::string message)
    : diagnostic_(std::make_shared<SqlDiagnostic>()) {
  diagnostic_->severity = severity;
  diagnostic_->state = state;
  diagnostic_->message = std::move(message);
}

void throw_unsupported(std::string_view feature, int position) {
  throw SqlError(sqlstate::feature_not_supported, concat(feature, " is not supported"))
      .at(position);
}

}  // namespace pgsilo
