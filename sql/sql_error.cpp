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

std::string_view source_file(const SqlDiagnostic& diagnostic) {
  std::string_view path = diagnostic.place.file_name();
  return path.substr(path.rfind('/') + 1);
}

// Compilers write the whole signature: "void pgsilo::{anonymous}::fail(const Node&) [with T = x]".
std::string_view source_routine(const SqlDiagnostic& diagnostic) {
  if (!diagnostic.routine.empty()) return diagnostic.routine;
  std::string_view name = diagnostic.place.function_name();
  size_t from = 0;
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  if (size_t at = name.rfind(anonymous); at != std::string_view::npos) from = at + anonymous.size();
  constexpr std::string_view call = "operator()";
  size_t end = name.find('(', from);
  if (end != std::string_view::npos && end + 1 >= call.size() &&
      name.substr(end + 2 - call.size(), call.size()) == call) {
    end += 2;
  }
  name = name.substr(0, end);  // of a lambda: the function it stands in
  return name.substr(name.find_last_of(": *&") + 1);
}

std::string_view severity_name(Severity severity) {
  static constexpr std::string_view names[] = {"DEBUG",   "LOG",   "INFO",  "NOTICE",
                                               "WARNING", "ERROR", "FATAL", "PANIC"};
  return names[static_cast<size_t>(severity)];
}

SqlError::SqlError(Severity severity, SqlState state, std::string message,
                   std::source_location place)
    : diagnostic_(std::make_shared<SqlDiagnostic>()) {
  diagnostic_->place = place;
  diagnostic_->severity = severity;
  diagnostic_->state = state;
  diagnostic_->message = std::move(message);
}

void throw_unsupported(std::string_view feature, int position, std::source_location place) {
  throw SqlError(sqlstate::feature_not_supported, concat(feature, " is not supported"), place)
      .at(position);
}

}  // namespace pgsilo
