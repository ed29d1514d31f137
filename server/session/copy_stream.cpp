#include "server/session/copy_stream.h"

#include <cstdio>

#include "base/byte_order.h"
#include "server/limits.h"
#include "server/pgwire/frame.h"
#include "server/pgwire/message_reader.h"
#include "server/session/reply.h"
#include "server/session/session_interrupts.h"
#include "server/session/transaction_control.h"
#include "sql/memory_error.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"

namespace pgsilo {
namespace {

SqlError lost_client() {
  return SqlError(Severity::fatal, sqlstate::connection_failure,
                  "unexpected EOF on client connection with an open transaction");
}

}  // namespace

void CopyInStream::begin(uint32_t column_count) {
  reply_.begin_answer();
  transactions_.let_go_of_caution();  // others would wait for a client
  delivered_bytes_ = 0;
  reply_.messages().copy_response(BackendMessage::copy_in_response, column_count);
  reply_.let_leave();
}

bool CopyInStream::read(std::string_view* piece) {
  for (;;) {
    connection_.consume(delivered_bytes_);
    delivered_bytes_ = 0;
    Frame frame;
    if (!read_frame(connection_, &frame, Parker::no_deadline, interrupts_.begin_client_wait())) {
      // What of a message has arrived stays; the rest of it comes to nobody, like the rest of COPY.
      interrupts_.check_client_wait();
      throw lost_client();
    }
    if (frame.refused) throw memory_limit_error();
    delivered_bytes_ = frame.total_bytes;
    switch (static_cast<FrontendMessage>(frame.type)) {
      case FrontendMessage::copy_data:
        *piece = frame.body;
        return true;
      case FrontendMessage::copy_done:
        connection_.consume(delivered_bytes_);
        delivered_bytes_ = 0;
        return false;
      case FrontendMessage::copy_fail: {
        std::string reason(MessageReader(frame.body).cstring());
        connection_.consume(delivered_bytes_);
        delivered_bytes_ = 0;
        validate_text(reason);
        throw SqlError(sqlstate::query_canceled, concat("COPY from stdin failed: ", reason));
      }
      case FrontendMessage::flush:
      case FrontendMessage::sync:
        // Libraries send them by habit.
        break;
      default: {
        char code[8];
        std::snprintf(code, sizeof code, "0x%02X", static_cast<unsigned char>(frame.type));
        // What it meant to do with us cannot be known: as PostgreSQL, we part.
        throw SqlError(Severity::fatal, sqlstate::protocol_violation,
                       concat("unexpected message type ", code, " during COPY from stdin"));
      }
    }
  }
}

void CopyOutStream::begin(uint32_t column_count) {
  reply_.messages().copy_response(BackendMessage::copy_out_response, column_count);
}

void CopyOutStream::write(std::string_view row) {
  {
    Connection::LongOutput long_output(reply_.connection());
    if (row.size() > ByteBuffer::free_bytes) [[unlikely]]
      long_output.begin();
    reply_.messages().copy_data(row);
  }
  reply_.limit_held();
}

void CopyOutStream::end() { reply_.messages().bare(BackendMessage::copy_done); }

}  // namespace pgsilo
