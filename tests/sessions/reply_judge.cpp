#include "tests/sessions/reply_judge.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tests/sessions/message_reader.h"

namespace pgsilo::sessions {

bool is_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    auto byte = [&](size_t i) {
      return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
    };
    unsigned char lead = byte(at);
    size_t length = lead < 0x80                   ? 1
                    : lead >= 0xc2 && lead < 0xe0 ? 2
                    : lead >= 0xe0 && lead < 0xf0 ? 3
                    : lead >= 0xf0 && lead < 0xf5 ? 4
                                                  : 0;
    if (length == 0) return false;
    for (size_t i = 1; i < length; ++i) {
      if ((byte(at + i) & 0xc0) != 0x80) return false;
    }
    at += length;
  }
  return true;
}

void ReplyJudge::sent(char type, std::string_view body) {
  bool is_describe = type == 'D' && !body.empty();
  sent_.push_back({type, is_describe ? body[0] : '\0'});
  close_over();
}

bool ReplyJudge::is_somewhere(bool at_end, std::initializer_list<Mode> modes) const {
  return std::any_of(places_.begin(), places_.end(), [&](const Place& place) {
    return (!at_end || place.next == first_ + sent_.size() || place.mode == Mode::gone) &&
           std::find(modes.begin(), modes.end(), place.mode) != modes.end();
  });
}

// Where the server goes without a word.
void ReplyJudge::silent_moves(const Place& place, std::vector<Place>* to) const {
  char type = sent_at(place.next);
  if (type == '\0') return;
  auto go = [&](Mode mode) { to->push_back({place.next + 1, mode}); };
  bool is_open = place.mode == Mode::idle || place.mode == Mode::skip ||
                 place.mode == Mode::copy_in || place.mode == Mode::copy_in_q;
  if (!is_open) return;
  if (type == '?') return go(Mode::lenient);
  if (type == 'X') return go(Mode::gone);
  if (place.mode == Mode::skip) return go(type == 'S' ? Mode::ready : Mode::skip);
  if (place.mode != Mode::idle) {
    if (type == 'd' || type == 'H' || type == 'S') go(place.mode);
    if (type == 'c' || type == 'f') go(place.mode == Mode::copy_in ? Mode::copied : Mode::copied_q);
    return;
  }
  switch (type) {
    case 'H':
    case 'd':
    case 'c':
    case 'f':
      return go(Mode::idle);
    case 'S':
      return go(Mode::ready);
    case 'Q':
      return go(Mode::query_first);
    case 'P':
      return go(Mode::parse);
    case 'B':
      return go(Mode::bind);
    case 'C':
      return go(Mode::close);
    case 'D':
      return go(sent_[place.next - first_].what == 'P' ? Mode::describe_portal
                                                       : Mode::describe_statement);
    case 'E':
      return go(Mode::execute);
    case 'F':
      return go(Mode::function);
    default:
      return go(Mode::lenient);
  }
}

void ReplyJudge::close_over() {
  for (size_t i = 0; i < places_.size(); ++i) {
    std::vector<Place> more;
    silent_moves(places_[i], &more);
    for (const Place& each : more) {
      if (std::find(places_.begin(), places_.end(), each) == places_.end()) places_.push_back(each);
    }
  }
}

void ReplyJudge::after_error(const Place& place, std::vector<Place>* to) const {
  auto go = [&](Mode mode) { to->push_back({place.next, mode}); };
  switch (place.mode) {
    case Mode::lenient:
    case Mode::ready:
      return go(place.mode);
    case Mode::query_first:
    case Mode::query:
    case Mode::rows_q:
    case Mode::copied_q:
    case Mode::copy_out_q:
    case Mode::function:
      return go(Mode::ready);
    case Mode::copy_in_q:
    case Mode::copy_in: {
      Mode mode = place.mode == Mode::copy_in ? Mode::skip : Mode::ready;
      go(mode);
      // A message that is none of COPY's ends it and is used up by that.
      char type = sent_at(place.next);
      if (type != '\0' && std::string_view("dcfHS").find(type) == std::string_view::npos)
        to->push_back({place.next + 1, mode});
      return;
    }
    case Mode::idle:
    case Mode::skip:
    case Mode::gone:
      return;  // but FATAL, which take() knows
    default:
      return go(Mode::skip);
  }
}

// 'G', 'H', 'd', 'c' and what follows them.
bool ReplyJudge::answers_copy(const Place& place, char type, Mode* to) {
  bool simple = place.mode == Mode::query_first || place.mode == Mode::query;
  bool begins = simple || place.mode == Mode::execute;
  if (type == 'G' && begins) {
    *to = simple ? Mode::copy_in_q : Mode::copy_in;
  } else if (type == 'H' && begins) {
    *to = simple ? Mode::copy_out_q : Mode::copy_out;
  } else if (type == 'd' && (place.mode == Mode::copy_out || place.mode == Mode::copy_out_q)) {
    *to = place.mode;
  } else if (type == 'c' && (place.mode == Mode::copy_out || place.mode == Mode::copy_out_q)) {
    *to = place.mode == Mode::copy_out ? Mode::copied : Mode::copied_q;
  } else if (type == 'C' && (place.mode == Mode::copied || place.mode == Mode::copied_q)) {
    *to = place.mode == Mode::copied ? Mode::idle : Mode::query;
  } else {
    return false;
  }
  return true;
}

void ReplyJudge::answers(const Place& place, char type, std::vector<Place>* to) const {
  auto go = [&](Mode mode) { to->push_back({place.next, mode}); };
  if (place.mode == Mode::lenient) return go(Mode::lenient);
  if (type == 'E') {
    if (is_fatal_) return go(Mode::gone);
    return after_error(place, to);
  }
  if (Mode copy{}; answers_copy(place, type, &copy)) return go(copy);
  static const std::map<std::pair<Mode, char>, Mode> moves = {
      {{Mode::parse, '1'}, Mode::idle},
      {{Mode::bind, '2'}, Mode::idle},
      {{Mode::close, '3'}, Mode::idle},
      {{Mode::describe_statement, 't'}, Mode::describe_row},
      {{Mode::describe_row, 'T'}, Mode::idle},
      {{Mode::describe_row, 'n'}, Mode::idle},
      {{Mode::describe_portal, 'T'}, Mode::idle},
      {{Mode::describe_portal, 'n'}, Mode::idle},
      {{Mode::execute, 'D'}, Mode::execute},
      {{Mode::execute, 'C'}, Mode::idle},
      {{Mode::execute, 's'}, Mode::idle},
      {{Mode::execute, 'I'}, Mode::idle},
      {{Mode::function, 'V'}, Mode::ready},
      {{Mode::query_first, 'T'}, Mode::rows_q},
      {{Mode::query_first, 'C'}, Mode::query},
      {{Mode::query_first, 'I'}, Mode::query},
      {{Mode::query, 'T'}, Mode::rows_q},
      {{Mode::query, 'C'}, Mode::query},
      {{Mode::query, 'I'}, Mode::query},
      {{Mode::query, 'Z'}, Mode::idle},
      {{Mode::rows_q, 'D'}, Mode::rows_q},
      {{Mode::rows_q, 'C'}, Mode::query},
      {{Mode::ready, 'Z'}, Mode::idle},
  };
  auto found = moves.find({place.mode, type});
  if (found != moves.end()) go(found->second);
}

std::string ReplyJudge::take(char type, std::string_view body) {
  if (std::string wrong = check_body(type, body); !wrong.empty())
    return std::string(1, type) + ": " + wrong;
  if (type == 'N' || type == 'S' || type == 'A') return "";
  std::vector<Place> next;
  for (const Place& each : places_) answers(each, type, &next);
  std::sort(next.begin(), next.end());
  next.erase(std::unique(next.begin(), next.end()), next.end());
  if (next.empty()) return std::string("message '") + type + "' where none such may come";
  places_ = std::move(next);
  close_over();
  forget_old();
  if (type == 'Z') return take_status(body);
  return "";
}

void ReplyJudge::forget_old() {
  size_t oldest = first_ + sent_.size();
  for (const Place& each : places_) oldest = std::min(oldest, each.next);
  while (first_ < oldest && !sent_.empty()) {
    sent_.pop_front();
    ++first_;
  }
}

std::string ReplyJudge::check_body(char type, std::string_view body) {
  MessageReader reader(body);
  switch (type) {
    case 'T':
      return take_fields(body);
    case 'D':
      return take_row(body);
    case 'E':
    case 'N':
      return take_error(body);
    case 'C': {
      fields_ = -1;
      formats_known_ = false;
      std::string_view tag = reader.text();
      if (!reader.is_whole() || tag.empty() || !is_utf8(tag)) return "no tag";
      take_tag(tag);
      return "";
    }
    case 'S':
      reader.text();
      reader.text();
      return reader.is_whole() ? "" : "not two texts";
    case 't':
      for (int i = reader.int16(); i > 0; --i) reader.int32();
      return reader.is_whole() ? "" : "wrong length";
    case 'G':
    case 'H': {
      int format = reader.byte();
      for (int i = reader.int16(); i > 0; --i) {
        if (int each = reader.int16(); each != 0 && each != 1) return "a format that is none";
      }
      return reader.is_whole() && (format == 0 || format == 1) ? "" : "wrong length or format";
    }
    case 'V':
      if (int length = reader.int32(); length > 0) reader.bytes(static_cast<size_t>(length));
      return reader.is_whole() ? "" : "wrong length";
    case 's':
    case 'I':
      fields_ = -1;
      formats_known_ = false;
      return body.empty() ? "" : "a body";
    case '2':
      formats_known_ = false;
      return body.empty() ? "" : "a body";
    case 'n':
    case '1':
    case '3':
      return body.empty() ? "" : "a body";
    case 'c':
      return body.empty() ? "" : "a body";
    case 'd':
      return "";
    case 'Z':
      return body.size() == 1 ? "" : "wrong length";
    case 'A':
      reader.int32();
      reader.text();
      reader.text();
      return reader.is_whole() ? "" : "wrong length";
    default:
      return "no message of the protocol";
  }
}

std::string ReplyJudge::take_fields(std::string_view body) {
  MessageReader reader(body);
  formats_.clear();
  fields_ = -1;
  for (int i = reader.int16(); i > 0; --i) {
    if (!is_utf8(reader.text())) return "a name that is no UTF-8";
    reader.bytes(4 + 2);
    if (reader.int32() == 0) return "a column without a type";
    reader.bytes(2 + 4);
    formats_.push_back(reader.int16());  // of a portal what was asked for, whatever it is
  }
  // Describe of a statement tells no formats; of a portal, which of several is not followed.
  formats_known_ = !is_somewhere(false, {Mode::describe_row, Mode::describe_portal});
  return reader.is_whole() ? "" : "wrong length";
}

std::string ReplyJudge::take_row(std::string_view body) {
  MessageReader reader(body);
  int count = reader.int16();
  if (fields_ >= 0 && count != fields_)
    return std::to_string(count) + " fields after a row of " + std::to_string(fields_);
  if (formats_known_ && count != static_cast<int>(formats_.size()))
    return std::to_string(count) + " fields where " + std::to_string(formats_.size()) +
           " were told";
  fields_ = count;
  for (int i = 0; i < count; ++i) {
    int length = reader.int32();
    if (length < -1) return "a length below -1";
    if (length < 0) continue;
    std::string_view value = reader.bytes(static_cast<size_t>(length));
    bool is_text = formats_known_ && formats_[static_cast<size_t>(i)] == 0;
    if (is_text && (!is_utf8(value) || value.find('\0') != std::string_view::npos))
      return "a text that is no UTF-8";
  }
  return reader.is_whole() ? "" : "wrong length";
}

std::string ReplyJudge::take_error(std::string_view body) {
  MessageReader reader(body);
  std::map<char, std::string> fields;
  for (char code = reader.letter(); code != '\0'; code = reader.letter())
    fields[code] = reader.text();
  if (!reader.is_whole()) return "wrong length";
  for (char needed : {'S', 'V', 'C', 'M'}) {
    if (fields[needed].empty()) return std::string("no field ") + needed;
  }
  for (const auto& [code, text] : fields) {
    if (!is_utf8(text)) return std::string("no UTF-8 in field ") + code + ": " + text;
  }
  const std::string& state = fields['C'];
  if (state.size() != 5) return "SQLSTATE " + state;
  bool is_error = fields['V'] == "ERROR" || fields['V'] == "FATAL" || fields['V'] == "PANIC";
  if (!is_error) return "";
  is_fatal_ = fields['V'] != "ERROR";
  sqlstate_ = state;
  message_ = fields['M'];
  fields_ = -1;
  formats_known_ = false;
  // A block fails; that it has ended at once, a COMMIT that failed can be the reason of.
  possible_ = possible_ == "I" ? "I" : "EI";
  return "";
}

// What a block's begin or end leaves behind. A savepoint's end leaves the block.
void ReplyJudge::take_tag(std::string_view tag) {
  if (tag == "BEGIN" || tag == "START TRANSACTION") {
    possible_ = "T";
  } else if (tag == "COMMIT" || tag == "ROLLBACK" || tag == "PREPARE TRANSACTION") {
    possible_ = "ITE";
  } else if (tag == "RELEASE" || tag == "SAVEPOINT") {
    possible_ = "T";
  }
}

std::string ReplyJudge::take_status(std::string_view body) {
  char told = body[0];
  if (!is_somewhere(false, {Mode::lenient}) && possible_.find(told) == std::string::npos)
    return std::string("status ") + told + " where " + possible_ + " can be, after " + sqlstate_;
  status_ = told;
  possible_ = std::string(1, told);
  return "";
}

}  // namespace pgsilo::sessions
