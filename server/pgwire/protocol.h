// The message types of PostgreSQL's frontend/backend protocol 3.0 ("Message Formats" in its
// manual).
#pragma once

#include <cstdint>

namespace pgsilo {

// What clients send after start-up.
enum class FrontendMessage : char {
  bind = 'B',
  close = 'C',
  copy_data = 'd',
  copy_done = 'c',
  copy_fail = 'f',
  describe = 'D',
  execute = 'E',
  flush = 'H',
  function_call = 'F',
  parse = 'P',
  password = 'p',
  query = 'Q',
  sync = 'S',
  terminate = 'X',
};

// What we send.
enum class BackendMessage : char {
  authentication = 'R',
  backend_key_data = 'K',
  bind_complete = '2',
  close_complete = '3',
  command_complete = 'C',
  copy_data = 'd',
  copy_done = 'c',
  copy_in_response = 'G',
  copy_out_response = 'H',
  data_row = 'D',
  empty_query_response = 'I',
  error_response = 'E',
  negotiate_protocol_version = 'v',
  no_data = 'n',
  notice_response = 'N',
  parameter_description = 't',
  parameter_status = 'S',
  parse_complete = '1',
  portal_suspended = 's',
  ready_for_query = 'Z',
  row_description = 'T',
};

// The transaction state in ReadyForQuery.
enum class ReadyState : char { idle = 'I', in_transaction = 'T', failed = 'E' };

// Format codes of parameters and result columns. A client may name others
// (require_known_format()).
enum class WireFormat : int16_t { text = 0, binary = 1 };

// The "versions" that start a connection.
inline constexpr uint32_t protocol_version_3 = 3u << 16;
inline constexpr uint32_t cancel_request_code = 80877102;
inline constexpr uint32_t ssl_request_code = 80877103;
inline constexpr uint32_t gssenc_request_code = 80877104;

}  // namespace pgsilo
