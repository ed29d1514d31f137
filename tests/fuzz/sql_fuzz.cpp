// SQL text: the nesting bound and the parser answer with statements or an SqlError, whatever comes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "sql/parser/parser.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    pgsilo::validate_text(text);  // the wire does this before the parser sees a text
    pgsilo::Arena arena;
    pgsilo::parse(text, arena);
  } catch (const pgsilo::SqlError&) {
  }
  return 0;
}
