// The template of to_char of numbers and of to_number, read into a picture: digit places before and
// after the point, and where signs, separators and text stand. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/asking_allocator.h"

namespace pgsilo::functions {

struct NumberPicture {
  enum class Place : uint8_t {
    digit,
    zero,
    point,
    comma,
    currency,
    minus,
    plus,
    sign,
    both_signs,
    ordinal,
    roman,
    literal
  };
  struct Node {
    Place place;
    char text = 0;  // of a literal
    bool lower = false;
  };
  AskingVector<Node> nodes;
  int before = 0;  // digit places
  int after = 0;
  int shifted = 0;         // digits after V: the number is multiplied by 10^shifted
  int first_zero = -1;     // index among the places before the point from which zeros are shown
  bool fill_mode = false;  // FM
  bool brackets = false;   // PR
  bool roman = false;      // RN
  bool exponent = false;
  bool sign_named = false;  // S, MI, PL or SG stands in the template
  // How many digit places are before S, on its side of the point; -1: it is not on that side.
  int sign_at_before = -1;
  int sign_at_after = -1;
};

// Throws 42601.
NumberPicture read_number_picture(std::string_view text);

}  // namespace pgsilo::functions
