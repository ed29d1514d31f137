// to_number: the text is read by the template, place by place, with PostgreSQL's rules for what is
// passed over and where signs may stand.
#include "executor/functions/number_reading.h"

#include "base/asking_allocator.h"
#include "base/long_work.h"
#include "executor/functions/number_picture.h"
#include "sql/sql_error.h"
#include "sql/types/numeric.h"
#include "sql/types/scan.h"
#include "sql/types/type.h"

namespace pgsilo::functions {
namespace {

using std::string_view;
using Place = NumberPicture::Place;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

class NumberReader {
 public:
  NumberReader(const NumberPicture& picture, string_view text) : picture_(picture), text_(text) {
    for (const NumberPicture::Node& node : picture.nodes) {
      has_sign_ |= node.place == Place::sign;
      has_point_ |= node.place == Place::point;
      has_minus_ |= node.place == Place::minus || node.place == Place::both_signs;
      has_plus_ |= node.place == Place::plus || node.place == Place::both_signs;
    }
  }

  // The sign or a blank, then digits.
  AskingString read() {
    WorkMeter meter;
    for (const NumberPicture::Node& node : picture_.nodes) {
      if (text_.empty()) break;
      read_node(node);
      meter.did(64);
    }
    if (number_.ends_with('.')) number_.pop_back();
    return number_;
  }

  int digits_after_point() const { return after_point_; }

 private:
  void read_node(const NumberPicture::Node& node) {
    switch (node.place) {
      case Place::digit:
      case Place::zero:
      case Place::point:
        return read_number(node.place != Place::point);
      case Place::comma:
        if (!picture_.fill_mode) take(',');
        return;
      case Place::currency:
        return pass_other_characters(1);
      case Place::ordinal:
        if (number_[0] != '#' && !has_point_) pass_other_characters(2);
        return;
      case Place::minus:
      case Place::plus:
      case Place::both_signs:
        return read_written_sign(node.place);
      case Place::literal:
        if (!is_continuation(node.text)) pass_character();
        return;
      case Place::sign:  // is read with the first or the last digit
      case Place::roman:
        return;
    }
  }

  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  void pass_character() {
    text_.remove_prefix(1);
    while (!text_.empty() && is_continuation(text_.front())) text_.remove_prefix(1);
  }
  // Not what may be part of a number.
  void pass_other_characters(int count) {
    for (int i = 0; i < count && !text_.empty(); ++i) {
      if (string_view("0123456789.,+-").find(text_.front()) != string_view::npos) return;
      pass_character();
    }
  }

  void read_written_sign(Place place) {
    if (place != Place::plus && take('-')) {
      number_[0] = '-';
    } else if (place != Place::minus && take('+')) {
      number_[0] = '+';
    } else {
      pass_other_characters(1);
    }
  }

  bool has_digits() const { return before_point_ + after_point_ > 0; }

  void read_number(bool is_digit_place) {
    take(' ');
    if (text_.empty()) return;
    if (number_[0] == ' ' && is_digit_place && !has_digits()) read_sign_before();
    if (text_.empty()) return;
    bool is_read = false;
    if (is_digit(text_.front())) {
      is_read = read_digit();
      if (!is_read) return text_.remove_prefix(1);
    } else if (has_point_ && !point_read_ && text_.front() == '.') {
      number_ += '.';
      point_read_ = true;
      is_read = true;
    }
    if (number_[0] == ' ' && has_digits()) read_sign_behind(is_read);
    if (!text_.empty()) text_.remove_prefix(1);
  }

  // False: there are more behind the point than the template has places for.
  bool read_digit() {
    if (point_read_ && after_point_ == picture_.after) return false;
    number_ += text_.front();
    ++(point_read_ ? after_point_ : before_point_);
    return true;
  }

  void read_sign_before() {
    if (take('-') || (picture_.brackets && take('<'))) {
      number_[0] = '-';
    } else if (take('+')) {
      number_[0] = '+';
    }
  }

  // The character that was read last is still the first of the text.
  void read_sign_behind(bool is_read) {
    if (has_sign_) {
      if (!is_read || text_.size() < 2 || (text_[1] != '-' && text_[1] != '+')) return;
      number_[0] = text_[1];
      text_.remove_prefix(1);
    } else if (!is_read && !has_plus_ && !has_minus_ &&
               (text_.front() == '-' || text_.front() == '+')) {
      number_[0] = text_.front();
    }
  }

  const NumberPicture& picture_;
  string_view text_;
  AskingString number_ = " ";
  bool has_sign_ = false;
  bool has_point_ = false;
  bool has_minus_ = false;
  bool has_plus_ = false;
  bool point_read_ = false;
  int before_point_ = 0;
  int after_point_ = 0;
};

}  // namespace

Datum text_to_number(EvalContext& context, const Datum* a) {
  if (a[1].bytes().empty()) return Datum();
  NumberPicture picture = read_number_picture(a[1].bytes());
  if (picture.exponent || picture.roman) {
    throw SqlError(sqlstate::feature_not_supported,
                   concat("\"", picture.exponent ? "EEEE" : "RN", "\" not supported for input"));
  }
  NumberReader reader(picture, a[0].bytes());
  AskingString number = reader.read();
  int scale = reader.digits_after_point();
  int precision = picture.before + scale;
  Datum result = parse_numeric(number, (precision << 16 | scale) + typmod_header, *context.arena);
  if (picture.shifted == 0) return result;
  Datum factor = numeric_power(numeric_from_integer(10, *context.arena),
                               numeric_from_integer(-int64_t{picture.shifted}, *context.arena),
                               *context.arena);
  return numeric_mul(result, factor, *context.arena);
}

}  // namespace pgsilo::functions
