// Character classes, collating elements and case, as the locale C.UTF-8 has them.
#include <algorithm>
#include <array>
#include <clocale>
#include <cwctype>
#include <mutex>

#include "base/long_work.h"
#include "sql/regex/code_set.h"
#include "sql/regex/regex_error.h"
#include "sql/sql_error.h"
#include "sql/types/scan.h"

namespace pgsilo::regex {
namespace {

constexpr uint32_t highest_unicode = 0x10ffff;

// The C library's tables for the locale that PostgreSQL uses; the process itself stays in "C".
locale_t unicode_locale() {
  static const locale_t locale = [] {
    locale_t made = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (made == nullptr) throw SqlError(sqlstate::internal_error, "there is no locale C.UTF-8");
    return made;
  }();
  return locale;
}

struct ClassName {
  std::u32string_view name;
  CharacterClass value;
};
constexpr ClassName class_names[] = {
    {U"alnum", CharacterClass::alnum},   {U"alpha", CharacterClass::alpha},
    {U"ascii", CharacterClass::ascii},   {U"blank", CharacterClass::blank},
    {U"cntrl", CharacterClass::cntrl},   {U"digit", CharacterClass::digit},
    {U"graph", CharacterClass::graph},   {U"lower", CharacterClass::lower},
    {U"print", CharacterClass::print},   {U"punct", CharacterClass::punct},
    {U"space", CharacterClass::space},   {U"upper", CharacterClass::upper},
    {U"xdigit", CharacterClass::xdigit}, {U"word", CharacterClass::word},
};
constexpr size_t class_count = std::size(class_names);

const char* library_name(CharacterClass which) {
  switch (which) {
    case CharacterClass::alnum:
    case CharacterClass::word:
      return "alnum";
    case CharacterClass::alpha:
      return "alpha";
    case CharacterClass::digit:
      return "digit";
    case CharacterClass::graph:
      return "graph";
    case CharacterClass::lower:
      return "lower";
    case CharacterClass::print:
      return "print";
    case CharacterClass::punct:
      return "punct";
    case CharacterClass::space:
      return "space";
    case CharacterClass::upper:
      return "upper";
    default:
      return nullptr;
  }
}

// Some milliseconds, once in the process's life for each class.
CodeSet library_codes(CharacterClass which) {
  locale_t locale = unicode_locale();
  wctype_t type = wctype_l(library_name(which), locale);
  CodeSet codes;
  for (uint32_t code = 0; code <= highest_unicode; ++code) {
    if (iswctype_l(static_cast<wint_t>(code), type, locale) == 0) continue;
    if (!codes.empty() && codes.back().last + 1 == code) {
      codes.back().last = code;
    } else {
      codes.push_back({code, code});
    }
  }
  return codes;
}

CodeSet make_class(CharacterClass which) {
  switch (which) {
    case CharacterClass::ascii:
      return {{0, 0x7f}};
    case CharacterClass::blank:
      return {{'\t', '\t'}, {' ', ' '}};
    case CharacterClass::cntrl:
      return {{0, 0x1f}, {0x7f, 0x9f}};
    case CharacterClass::xdigit:
      return {{'0', '9'}, {'A', 'F'}, {'a', 'f'}};
    case CharacterClass::word: {
      CodeSet codes = library_codes(which);
      codes.push_back({'_', '_'});
      make_normal(codes);
      return codes;
    }
    default:
      return library_codes(which);
  }
}

struct Element {
  std::u32string_view name;
  char code;
};
// POSIX's portable character set. The digits, letters and signs that are named by themselves are
// single characters.
constexpr Element elements[] = {
    {U"NUL", '\0'},
    {U"SOH", '\001'},
    {U"STX", '\002'},
    {U"ETX", '\003'},
    {U"EOT", '\004'},
    {U"ENQ", '\005'},
    {U"ACK", '\006'},
    {U"BEL", '\007'},
    {U"alert", '\007'},
    {U"BS", '\010'},
    {U"backspace", '\b'},
    {U"HT", '\011'},
    {U"tab", '\t'},
    {U"LF", '\012'},
    {U"newline", '\n'},
    {U"VT", '\013'},
    {U"vertical-tab", '\v'},
    {U"FF", '\014'},
    {U"form-feed", '\f'},
    {U"CR", '\015'},
    {U"carriage-return", '\r'},
    {U"SO", '\016'},
    {U"SI", '\017'},
    {U"DLE", '\020'},
    {U"DC1", '\021'},
    {U"DC2", '\022'},
    {U"DC3", '\023'},
    {U"DC4", '\024'},
    {U"NAK", '\025'},
    {U"SYN", '\026'},
    {U"ETB", '\027'},
    {U"CAN", '\030'},
    {U"EM", '\031'},
    {U"SUB", '\032'},
    {U"ESC", '\033'},
    {U"IS4", '\034'},
    {U"FS", '\034'},
    {U"IS3", '\035'},
    {U"GS", '\035'},
    {U"IS2", '\036'},
    {U"RS", '\036'},
    {U"IS1", '\037'},
    {U"US", '\037'},
    {U"space", ' '},
    {U"exclamation-mark", '!'},
    {U"quotation-mark", '"'},
    {U"number-sign", '#'},
    {U"dollar-sign", '$'},
    {U"percent-sign", '%'},
    {U"ampersand", '&'},
    {U"apostrophe", '\''},
    {U"left-parenthesis", '('},
    {U"right-parenthesis", ')'},
    {U"asterisk", '*'},
    {U"plus-sign", '+'},
    {U"comma", ','},
    {U"hyphen", '-'},
    {U"hyphen-minus", '-'},
    {U"period", '.'},
    {U"full-stop", '.'},
    {U"slash", '/'},
    {U"solidus", '/'},
    {U"zero", '0'},
    {U"one", '1'},
    {U"two", '2'},
    {U"three", '3'},
    {U"four", '4'},
    {U"five", '5'},
    {U"six", '6'},
    {U"seven", '7'},
    {U"eight", '8'},
    {U"nine", '9'},
    {U"colon", ':'},
    {U"semicolon", ';'},
    {U"less-than-sign", '<'},
    {U"equals-sign", '='},
    {U"greater-than-sign", '>'},
    {U"question-mark", '?'},
    {U"commercial-at", '@'},
    {U"left-square-bracket", '['},
    {U"backslash", '\\'},
    {U"reverse-solidus", '\\'},
    {U"right-square-bracket", ']'},
    {U"circumflex", '^'},
    {U"circumflex-accent", '^'},
    {U"underscore", '_'},
    {U"low-line", '_'},
    {U"grave-accent", '`'},
    {U"left-brace", '{'},
    {U"left-curly-bracket", '{'},
    {U"vertical-line", '|'},
    {U"right-brace", '}'},
    {U"right-curly-bracket", '}'},
    {U"tilde", '~'},
    {U"DEL", '\177'},
};

}  // namespace

CharacterClass find_class(std::u32string_view name) {
  for (const ClassName& candidate : class_names)
    if (candidate.name == name) return candidate.value;
  throw_invalid(error::character_class);
}

const CodeSet& class_codes(CharacterClass which) {
  static std::array<std::once_flag, class_count> made;
  static std::array<CodeSet, class_count> classes;
  auto index = static_cast<size_t>(which);
  std::call_once(made[index], [&] {
    // Other fibers of the thread would wait here for one that is suspended, and it for them.
    UnpausedWork unpaused;
    classes[index] = make_class(which);
  });
  return classes[index];
}

bool is_class_member(uint32_t code, CharacterClass which) {
  locale_t locale = unicode_locale();
  auto character = static_cast<wint_t>(code);
  switch (which) {
    case CharacterClass::alpha:
      return iswalpha_l(character, locale) != 0;
    case CharacterClass::digit:
      return code < 0x80 && is_digit(static_cast<char>(code));
    case CharacterClass::space:
      return iswspace_l(character, locale) != 0;
    default:
      return iswalnum_l(character, locale) != 0;
  }
}

uint32_t collating_element(std::u32string_view name) {
  if (name.size() == 1) return name[0];
  for (const Element& element : elements)
    if (element.name == name) return static_cast<unsigned char>(element.code);
  throw_invalid(error::collating_element);
}

uint32_t lower_code(uint32_t code) {
  if (code < 0x80) return static_cast<unsigned char>(lower_letter(static_cast<char>(code)));
  return static_cast<uint32_t>(towlower_l(static_cast<wint_t>(code), unicode_locale()));
}

uint32_t upper_code(uint32_t code) {
  if (code < 0x80) return static_cast<unsigned char>(upper_letter(static_cast<char>(code)));
  return static_cast<uint32_t>(towupper_l(static_cast<wint_t>(code), unicode_locale()));
}

void append_cases(uint32_t code, CodeSet& to) {
  uint32_t lower = lower_code(code);
  uint32_t upper = upper_code(code);
  to.push_back({lower, lower});
  if (upper != lower) to.push_back({upper, upper});
}

void append_cases_of_range(uint32_t first, uint32_t last, CodeSet& to) {
  constexpr size_t most = 100'000;
  size_t added = 0;
  auto add = [&](uint32_t code) {
    if (code >= first && code <= last) return;
    if (++added > most) throw_invalid(error::too_complex);
    to.push_back({code, code});
  };
  WorkMeter meter;
  // No character beyond Unicode has a case.
  for (uint32_t code = first; code <= std::min(last, highest_unicode); ++code) {
    meter.did(64);
    if (uint32_t lower = lower_code(code); lower != code) add(lower);
    if (uint32_t upper = upper_code(code); upper != code) add(upper);
  }
}

}  // namespace pgsilo::regex
