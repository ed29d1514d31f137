// One message from the client: its type and its body, complete and of a legal length.
// Thread safety: none; the connection's fiber.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/parker.h"
#include "server/net/stop_flags.h"

namespace pgsilo {

class Connection;

struct Frame {
  char type = '\0';
  std::string_view body;   // in the connection's buffer, until it reads again
  size_t total_bytes = 0;  // to consume
  bool refused = false;    // there is no memory for the body: it is empty, and not read yet
};

// The next message if all of it has arrived and it may be one; else read_frame() says what is
// wrong.
bool find_frame(const Connection& connection, Frame* frame);

// (parks) Reads the next message without consuming it. False: end of input, the session is to stop,
// one of `also_stop` is up, or the deadline passed; what has arrived stays unread. Throws a
// fatal 08P01 when the type is unknown or the length is not possible; nothing is allocated for a
// length that is only claimed.
bool read_frame(Connection& connection, Frame* frame, int64_t deadline_us = Parker::no_deadline,
                StopFlags also_stop = {});

}  // namespace pgsilo
