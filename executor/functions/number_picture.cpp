#include "executor/functions/number_picture.h"

#include <utility>

#include "base/long_work.h"
#include "sql/sql_error.h"
#include "sql/types/scan.h"

namespace pgsilo::functions {
namespace {

using std::string_view;
using Place = NumberPicture::Place;

class PictureReader {
 public:
  explicit PictureReader(string_view text) : text_(text) {}

  NumberPicture read() {
    for (WorkMeter meter; !text_.empty(); meter.did(64)) read_node();
    return std::move(picture_);
  }

 private:
  bool take(string_view word) {
    if (!starts_with_ignoring_case(text_, word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  void add(Place place, char text = 0, bool lower = false) {
    append(picture_.nodes, {place, text, lower});
  }
  [[noreturn]] static void fail(const char* message) {
    throw SqlError(sqlstate::syntax_error, message);
  }

  void add_digit(bool zero) {
    if (picture_.brackets) fail("\"9\" must be ahead of \"PR\"");
    if (after_shift_) {
      ++picture_.shifted;
    }
    if (after_point_) {
      ++picture_.after;
    } else {
      if (zero && picture_.first_zero < 0) picture_.first_zero = picture_.before;
      ++picture_.before;
    }
    add(zero ? Place::zero : Place::digit);
  }
  void add_sign(Place place) {
    picture_.sign_named = true;
    add(place);
  }

  void read_node() {
    char c = text_.front();
    if (c == '"') return read_quoted();
    if (text_.starts_with("\\\"")) {
      add(Place::literal, '"');
      return text_.remove_prefix(2);
    }
    if (c == '9' || c == '0') {
      text_.remove_prefix(1);
      return add_digit(c == '0');
    }
    bool lower = c >= 'a' && c <= 'z';
    if (take("FM")) {
      picture_.fill_mode = true;
    } else if (take("EEEE")) {
      picture_.exponent = true;
    } else if (take("PR")) {
      picture_.brackets = true;
    } else if (take("MI")) {
      add_sign(Place::minus);
    } else if (take("PL")) {
      add_sign(Place::plus);
    } else if (take("SG")) {
      add_sign(Place::both_signs);
    } else if (take("S")) {
      if (picture_.sign_named) fail("cannot use \"S\" twice");
      (after_point_ ? picture_.sign_at_after : picture_.sign_at_before) =
          after_point_ ? picture_.after : picture_.before;
      add_sign(Place::sign);
    } else if (take("RN")) {
      picture_.roman = true;
      add(Place::roman, 0, lower);
    } else if (take("TH")) {
      add(Place::ordinal, 0, lower);
    } else if (take(".") || take("D")) {
      if (after_point_) fail("multiple decimal points");
      after_point_ = true;
      add(Place::point);
    } else if (take(",") || take("G")) {
      add(Place::comma);
    } else if (take("L")) {
      add(Place::currency);
    } else if (take("V")) {
      if (after_point_) fail("cannot use \"V\" and decimal point together");
      after_shift_ = true;
    } else if (take("B") || take("C")) {
      // nothing to show
    } else {
      add(Place::literal, c);
      text_.remove_prefix(1);
    }
  }
  void read_quoted() {
    text_.remove_prefix(1);
    while (!text_.empty() && text_.front() != '"') {
      if (text_.front() == '\\' && text_.size() > 1) text_.remove_prefix(1);
      add(Place::literal, text_.front());
      text_.remove_prefix(1);
    }
    if (!text_.empty()) text_.remove_prefix(1);
  }

  string_view text_;
  NumberPicture picture_;
  bool after_point_ = false;
  bool after_shift_ = false;
};

}  // namespace

NumberPicture read_number_picture(string_view text) { return PictureReader(text).read(); }

}  // namespace pgsilo::functions
