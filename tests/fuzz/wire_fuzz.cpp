// Message bodies and start-up packets as a hostile client would send them: every outcome is a value
// or an SqlError.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/pgwire/message_reader.h"
#include "server/pgwire/startup.h"
#include "sql/sql_error.h"

namespace {

// The shapes of Parse and Bind, driven by the input's own counts.
void read_parse(pgsilo::MessageReader reader) {
  reader.cstring();
  reader.cstring();
  for (uint16_t count = reader.uint16(); count > 0; --count) reader.uint32();
  reader.end();
}
void read_bind(pgsilo::MessageReader reader) {
  reader.cstring();
  reader.cstring();
  for (uint16_t count = reader.uint16(); count > 0; --count) reader.int16();
  for (uint16_t count = reader.uint16(); count > 0; --count) {
    int32_t length = reader.int32();
    if (length >= 0) reader.bytes(static_cast<size_t>(length));
  }
  for (uint16_t count = reader.uint16(); count > 0; --count) reader.int16();
  reader.end();
}

template <typename Reading>
void attempt(Reading&& reading) {
  try {
    reading();
  } catch (const pgsilo::SqlError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  attempt([&] { read_parse(pgsilo::MessageReader(bytes)); });
  attempt([&] { read_bind(pgsilo::MessageReader(bytes)); });
  attempt([&] { pgsilo::parse_startup(196608, bytes); });
  attempt([&] { pgsilo::parse_startup_options(bytes); });
  return 0;
}
