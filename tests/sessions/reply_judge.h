// Whether what a server says is what the protocol lets it say to what it was sent.
//
// The grammar of PostgreSQL's protocol as an automaton over two sequences: messages sent, in order,
// and messages that came. Which of the sent ones a reply belongs to is not always told (an error in
// the middle of COPY may or may not have read the Sync behind it), so all places where the server
// can be are kept; a reply that no place allows breaks the protocol. Lengths, counts of fields,
// formats and the status of the transaction are held against each other, too.
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace pgsilo::sessions {

class ReplyJudge {
 public:
  // A message of a legal length. `type` '?': bytes that are none; from then on anything well-formed
  // may come, until the connection ends.
  void sent(char type, std::string_view body);
  // Empty, or what is wrong with it.
  std::string take(char type, std::string_view body);

  // Everything sent may have been answered; if the last of it was not followed by Sync, more may
  // come.
  bool settled() const { return is_somewhere(true, {Mode::idle, Mode::skip, Mode::gone}); }
  // The server waits for data and has none.
  bool wants_copy_data() const { return is_somewhere(true, {Mode::copy_in, Mode::copy_in_q}); }
  // The end of the connection is no surprise.
  bool may_end() const { return is_somewhere(false, {Mode::gone, Mode::lenient}); }
  char status() const { return status_; }
  std::string last_sqlstate() const { return sqlstate_; }
  std::string last_message() const { return message_; }

 private:
  // Those of the simple protocol end in _q.
  enum class Mode : uint8_t {
    idle,
    skip,
    ready,
    gone,
    lenient,
    parse,
    bind,
    close,
    describe_statement,
    describe_row,
    describe_portal,
    execute,
    function,
    query_first,
    query,
    rows_q,
    copy_in,
    copy_in_q,
    copied,
    copied_q,
    copy_out,
    copy_out_q,
  };
  struct Place {
    size_t next;  // of the messages sent
    Mode mode;
    auto operator<=>(const Place&) const = default;
  };
  struct Sent {
    char type;
    char what;  // of Describe
  };

  bool is_somewhere(bool at_end, std::initializer_list<Mode> modes) const;
  void close_over();
  void silent_moves(const Place& place, std::vector<Place>* to) const;
  void answers(const Place& place, char type, std::vector<Place>* to) const;
  void after_error(const Place& place, std::vector<Place>* to) const;
  static bool answers_copy(const Place& place, char type, Mode* to);
  std::string take_fields(std::string_view body);
  std::string take_row(std::string_view body);
  std::string take_error(std::string_view body);
  std::string take_status(std::string_view body);
  void take_tag(std::string_view tag);
  std::string check_body(char type, std::string_view body);
  char sent_at(size_t index) const {
    return index - first_ < sent_.size() ? sent_[index - first_].type : '\0';
  }
  void forget_old();

  std::deque<Sent> sent_;
  size_t first_ = 0;  // index of sent_.front()
  std::vector<Place> places_ = {{0, Mode::idle}};
  bool is_fatal_ = false;
  char status_ = 'I';
  std::string possible_ = "I";  // statuses that the next ReadyForQuery may tell
  std::vector<int> formats_;    // of the last RowDescription
  bool formats_known_ = false;
  int fields_ = -1;  // of the rows of one answer
  std::string sqlstate_;
  std::string message_;
};

bool is_utf8(std::string_view text);

}  // namespace pgsilo::sessions
