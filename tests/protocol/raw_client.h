// A client that speaks the protocol byte by byte, for what libpq would never send.
// Thread safety: none.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/protocol/wire_messages.h"

namespace pgsilo::protocol_test {

struct Message {
  char type = '\0';  // '\0': the connection has ended
  std::string body;
};

class RawClient {
 public:
  // Connects to the server of PGHOST and PGPORT; no start-up packet yet.
  RawClient();
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(std::string_view bytes);
  // Sends the packet and takes everything up to ReadyForQuery; fails the test otherwise.
  void start(const std::vector<std::pair<std::string, std::string>>& parameters = {});
  static std::string startup_packet(
      const std::vector<std::pair<std::string, std::string>>& parameters,
      uint32_t version = 3u << 16);

  Message read();
  char read_byte();
  // Up to and with the next ReadyForQuery (or the end).
  std::vector<Message> read_answer();
  // The types of those messages as a word, notices and parameter changes left out; an error as
  // E(sqlstate).
  std::string answer();
  std::string ask(std::string_view bytes);
  // The first column of the query's first row, or the SQLSTATE of its failure; empty: no row.
  std::string first_value(std::string_view sql);
  // first_column() of the query's answer.
  std::string column(std::string_view sql);
  // True when nothing arrives for a while.
  bool is_silent(int milliseconds = 50);
  void shut_down();  // no more input from us
  // The process that listens at the socket.
  pid_t server_process() const;

  int32_t process = 0;
  int32_t secret = 0;

 private:
  int descriptor_ = -1;
};

// The field of an ErrorResponse or NoticeResponse; empty when it is not there.
std::string field(const Message& message, char code);
// The values of a DataRow; nulls as "\N".
std::vector<std::string> row_values(const Message& message);
std::string summary(const std::vector<Message>& messages);
// The first value of each row, and the SQLSTATE of an error, with a blank behind each.
std::string first_column(const std::vector<Message>& messages);

}  // namespace pgsilo::protocol_test
