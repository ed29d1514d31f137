#include "sql/types/scan.h"

#include "base/memory_budget.h"
#include "sql/sql_error.h"
#include "sql/types/type_functions.h"

namespace pgsilo {

namespace {
// The message, and what is made of it on its way to the client and the log.
void require_room_to_quote(std::string_view text) {
  constexpr size_t copies = 3;
  constexpr size_t free_bytes = size_t{256} << 10;
  if (text.size() > free_bytes) require_room(copies * text.size());
}
}  // namespace

void throw_invalid_syntax(std::string_view type_name, std::string_view text) {
  require_room_to_quote(text);
  throw SqlError(sqlstate::invalid_text_representation,
                 concat("invalid input syntax for type ", type_name, ": \"", text, "\""));
}

void throw_invalid_syntax_plain(std::string_view type_name) {
  throw SqlError(sqlstate::invalid_text_representation,
                 concat("invalid input syntax for type ", type_name));
}

void throw_value_out_of_range(std::string_view type_name, std::string_view text) {
  require_room_to_quote(text);
  throw SqlError(sqlstate::numeric_value_out_of_range,
                 concat("value \"", text, "\" is out of range for type ", type_name));
}

namespace types {

const char* exact_bytes(std::string_view bytes, size_t width) {
  if (bytes.size() < width) {
    throw SqlError(sqlstate::protocol_violation, "insufficient data left in message");
  }
  if (bytes.size() > width) {
    throw SqlError(sqlstate::invalid_binary_representation, "incorrect binary data format");
  }
  return bytes.data();
}

void throw_cannot_accept(Oid type) {
  throw SqlError(sqlstate::feature_not_supported,
                 concat("cannot accept a value of type ", type_info(type).name));
}

void throw_cannot_display(Oid type) {
  throw SqlError(sqlstate::feature_not_supported,
                 concat("cannot display a value of type ", type_info(type).name));
}

}  // namespace types
}  // namespace pgsilo
