#include "server/pgwire/frame.h"

#include <new>

#include "base/byte_order.h"
#include "base/memory_budget.h"
#include "server/limits.h"
#include "server/net/connection.h"
#include "server/pgwire/protocol.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

constexpr size_t header_bytes = 5;

// 0: not a type that clients may send.
uint32_t max_length(char type) {
  switch (static_cast<FrontendMessage>(type)) {
    case FrontendMessage::bind:
    case FrontendMessage::copy_data:
    case FrontendMessage::function_call:
    case FrontendMessage::parse:
    case FrontendMessage::query:
      return limits::max_message_bytes;
    case FrontendMessage::close:
    case FrontendMessage::copy_done:
    case FrontendMessage::copy_fail:
    case FrontendMessage::describe:
    case FrontendMessage::execute:
    case FrontendMessage::flush:
    case FrontendMessage::sync:
    case FrontendMessage::terminate:
      return limits::max_small_message_bytes;
    case FrontendMessage::password:
      break;
  }
  return 0;
}

}  // namespace

bool find_frame(const Connection& connection, Frame* frame) {
  std::string_view input = connection.unread();
  if (input.size() < header_bytes) return false;
  size_t length = load_be32(input.data() + 1);
  if (length >= input.size() || length < 4 || length > max_length(input[0])) return false;
  *frame = {.type = input[0],
            .body = {input.data() + header_bytes, length - 4},
            .total_bytes = length + 1,
            .refused = false};
  return true;
}

bool read_frame(Connection& connection, Frame* frame, int64_t deadline_us, StopFlags also_stop) {
  if (!connection.fill(header_bytes, deadline_us, also_stop)) return false;
  char type = connection.unread()[0];
  uint32_t length = load_be32(connection.unread().data() + 1);
  uint32_t longest = max_length(type);
  if (longest == 0) {
    throw SqlError(Severity::fatal, sqlstate::protocol_violation,
                   concat("invalid frontend message type ",
                          static_cast<int>(static_cast<unsigned char>(type))));
  }
  if (length < 4 || length > longest) {
    throw SqlError(Severity::fatal, sqlstate::protocol_violation, "invalid message length");
  }
  frame->total_bytes = size_t{1} + length;
  frame->type = type;
  frame->refused = false;
  try {
    bool is_long = length > limits::free_message_bytes;
    if (is_long && connection.unread().size() < frame->total_bytes && !memory_admits(length)) {
      frame->refused = true;
    } else if (!connection.fill(frame->total_bytes, deadline_us, also_stop)) {
      return false;
    }
  } catch (const std::bad_alloc&) {
    frame->refused = true;
  }
  if (frame->refused) return true;
  frame->body = connection.unread().substr(header_bytes, length - 4);
  return true;
}

}  // namespace pgsilo
