// What a user can cause and is told: errors (thrown) and notices (collected), with the fields of
// PostgreSQL's ErrorResponse and NoticeResponse. An SqlError is thrown inside a statement and
// caught where the statement ends; nothing else swallows it.
//
//   throw SqlError(sqlstate::undefined_table, concat("relation \"", name, "\" does not
//   exist")).at(position);
//
// Thread safety: an SqlError may be rethrown in another thread; its content does not change once it
// is thrown.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>

#include "sql/sqlstate.h"

namespace pgsilo {

// One piece of a message: text, a character or an integer in decimal.
class MessagePiece {
 public:
  MessagePiece(std::string_view text) : text_(text) {}
  MessagePiece(const char* text) : text_(text) {}
  MessagePiece(const std::string& text) : text_(text) {}
  MessagePiece(char character) : storage_{character}, text_(storage_, 1) {}
  template <std::integral Integer>
  MessagePiece(Integer value) {
    if constexpr (std::is_signed_v<Integer>) {
      write_signed(value);
    } else {
      write_unsigned(value);
    }
  }
  MessagePiece(const MessagePiece&) = delete;
  MessagePiece& operator=(const MessagePiece&) = delete;
  std::string_view text() const { return text_; }

 private:
  void write_signed(int64_t value);
  void write_unsigned(uint64_t value);

  char storage_[20];
  std::string_view text_;
};

std::string concat_pieces(std::initializer_list<std::string_view> pieces);

// The pieces in a row: concat("column \"", name, "\" is number ", 3).
template <typename... Parts>
std::string concat(const Parts&... parts) {
  return concat_pieces({MessagePiece(parts).text()...});
}

enum class Severity : uint8_t { debug, log, info, notice, warning, error, fatal, panic };
// "ERROR" and so on, as PostgreSQL spells it on the wire.
std::string_view severity_name(Severity severity);

// Everything a report can carry; empty strings and -1 mean the field is absent.
struct SqlDiagnostic {
  Severity severity = Severity::error;
  SqlState state = sqlstate::internal_error;
  std::string message;
  std::string detail;
  std::string hint;
  std::string context;         // "where": call stack of procedures
  std::string internal_query;  // text of a query that the system made itself
  std::string schema;
  std::string table;
  std::string column;
  std::string datatype;
  std::string constraint;
  std::string log_detail;      // for the server's log alone: of internal errors, the stack
  int position = -1;           // 1-based, in characters (not bytes) of the statement's text
  int internal_position = -1;  // the same in internal_query
  std::source_location place;  // where in our sources it was made
  std::string_view routine;    // what PostgreSQL calls that place; empty: by our function's name
};

// What the protocol calls file and routine of a report: the name of the file without its folders,
// PostgreSQL's name of the routine where clients go by it, else that of our function, without
// what C++ writes around it.
std::string_view source_file(const SqlDiagnostic& diagnostic);
std::string_view source_routine(const SqlDiagnostic& diagnostic);

class SqlError : public std::exception {
 public:
  SqlError(SqlState state, std::string message,
           std::source_location place = std::source_location::current())
      : SqlError(Severity::error, state, std::move(message), place) {}
  // severity is error (the transaction fails) or fatal (the session ends too).
  SqlError(Severity severity, SqlState state, std::string message,
           std::source_location place = std::source_location::current());

  const char* what() const noexcept override { return diagnostic_->message.c_str(); }
  const SqlDiagnostic& diagnostic() const { return *diagnostic_; }
  SqlState state() const { return diagnostic_->state; }

  // For building in a throw expression.
  SqlError&& at(int position) && {
    diagnostic_->position = position;
    return std::move(*this);
  }
  SqlError&& detail(std::string text) && {
    diagnostic_->detail = std::move(text);
    return std::move(*this);
  }
  SqlError&& hint(std::string text) && {
    diagnostic_->hint = std::move(text);
    return std::move(*this);
  }
  SqlError&& context(std::string text) && {
    diagnostic_->context = std::move(text);
    return std::move(*this);
  }
  SqlError&& table(std::string_view schema, std::string_view name) && {
    diagnostic_->schema = schema;
    diagnostic_->table = name;
    return std::move(*this);
  }
  SqlError&& column(std::string_view name) && {
    diagnostic_->column = name;
    return std::move(*this);
  }
  SqlError&& constraint(std::string_view name) && {
    diagnostic_->constraint = name;
    return std::move(*this);
  }
  SqlError&& datatype(std::string_view schema, std::string_view name) && {
    diagnostic_->schema = schema;
    diagnostic_->datatype = name;
    return std::move(*this);
  }

  // A name of PostgreSQL's by which clients recognise the error; it lives for ever.
  SqlError&& routine(std::string_view name) && {
    diagnostic_->routine = name;
    return std::move(*this);
  }

  // For a catch that adds what it alone knows (the position of the expression, the COPY line) and
  // rethrows with `throw;`.
  SqlDiagnostic& amend() { return *diagnostic_; }

 private:
  std::shared_ptr<SqlDiagnostic> diagnostic_;  // shared: copying an exception must not throw
};

// 0A000: what we do not do, said by name: "COPY ... WHERE is not supported".
[[noreturn]] void throw_unsupported(std::string_view feature, int position = -1,
                                    std::source_location place = std::source_location::current());

}  // namespace pgsilo
