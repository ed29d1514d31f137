#include "executor/functions/roman_numerals.h"

#include <algorithm>
#include <iterator>

#include "sql/types/scan.h"

namespace pgsilo::functions {
namespace {

constexpr size_t places = 15;

}  // namespace

std::string roman_numeral(int64_t number, bool padded, bool lower) {
  if (number < 1 || number > 3999) return std::string(places, '#');
  constexpr int values[] = {1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1};
  constexpr const char* names[] = {"M",  "CM", "D",  "CD", "C",  "XC", "L",
                                   "XL", "X",  "IX", "V",  "IV", "I"};
  std::string text;
  for (size_t i = 0; i < std::size(values); ++i) {
    for (; number >= values[i]; number -= values[i]) text += names[i];
  }
  if (lower) std::transform(text.begin(), text.end(), text.begin(), lower_letter);
  if (padded) text.insert(0, places - text.size(), ' ');
  return text;
}

}  // namespace pgsilo::functions
