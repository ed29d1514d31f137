// One connection to the server, without blocking: what is to be sent is queued, what comes is
// judged. Thread safety: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sessions/reply_judge.h"

namespace pgsilo::sessions {

struct Address {
  std::string directory;
  int port = 0;
};

using Row = std::vector<std::string>;

class Connection {
 public:
  // Of one command that has completed.
  struct Answer {
    std::vector<Row> rows;
    std::string tag;
  };

  explicit Connection(const Address& address);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool is_connected() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  // A message; its type is its first byte. `bytes`, with type '?', need not be one.
  void send(std::string_view message);
  void send_garbage(std::string_view bytes);
  void send_startup(const std::vector<std::pair<std::string, std::string>>& parameters);
  bool has_output() const { return written_ < output_.size(); }

  // As much as goes. False: the connection has ended.
  bool write_some();
  bool read_some();
  // Waits until all has been answered. False: the connection ended, or `milliseconds` passed.
  bool finish(int milliseconds);
  void end();

  // Empty, or how the server broke the protocol.
  const std::string& violation() const { return violation_; }
  const ReplyJudge& judge() const { return judge_; }
  bool is_started() const { return is_started_; }
  int32_t process() const { return process_; }
  int32_t secret() const { return secret_; }
  // Since the last call, if they are kept: rows as texts, nulls as "\\N".
  std::vector<Answer> take_answers();
  // Their rows.
  std::vector<Row> take_rows();
  // SQLSTATEs and messages.
  std::vector<std::string> take_errors();
  uint64_t messages() const { return messages_; }
  void keep_answers() { keeps_answers_ = true; }

 private:
  void take(char type, std::string_view body);
  void keep(char type, std::string_view body);
  void take_startup(char type, std::string_view body);

  int descriptor_ = -1;
  std::string output_;
  size_t written_ = 0;
  std::string input_;
  ReplyJudge judge_;
  std::string violation_;
  bool is_started_ = false;
  bool keeps_answers_ = false;
  int32_t process_ = 0;
  int32_t secret_ = 0;
  uint64_t messages_ = 0;
  std::vector<Row> rows_;  // of the command that runs
  std::vector<Answer> answers_;
  std::vector<std::string> errors_;
};

// Asks the server to cancel what that session does.
void send_cancel(const Address& address, int32_t process, int32_t secret);

}  // namespace pgsilo::sessions
