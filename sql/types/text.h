// Character strings: UTF-8 checks, the operations behind text functions, LIKE, and the text forms
// of bytea. Positions and lengths count characters (code points) unless a name says bytes. Input is
// valid UTF-8 without NUL; that is checked once, where text enters (validate_text). Thread safety:
// pure functions. Results live in the arena or are part of the argument.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/arena.h"

namespace pgsilo {

class ByteBuffer;

// 22021 `invalid byte sequence for encoding "UTF8": 0xff`, also for NUL.
void validate_text(std::string_view bytes);
// The number of leading bytes that are valid text.
size_t valid_text_prefix(std::string_view bytes);

int32_t text_length(std::string_view text);
// Bytes that the first `characters` characters take; all of them if there are fewer.
size_t text_prefix_bytes(std::string_view text, int64_t characters);
// Cut to at most `bytes` bytes at a character boundary: identifiers, name.
std::string_view text_clip(std::string_view text, size_t bytes);
// bpchar's value without the blanks that do not count.
std::string_view bpchar_trim(std::string_view text);
// Filled up with blanks to so many characters.
std::string_view bpchar_pad(std::string_view text, int32_t characters, Arena& arena);

// substring(text FROM start [FOR count]); 22011 for a negative count.
std::string_view text_substring(std::string_view text, int32_t start);
std::string_view text_substring(std::string_view text, int32_t start, int32_t count);
std::string_view text_left(std::string_view text, int32_t count);
std::string_view text_right(std::string_view text, int32_t count);
// Where the bytes of `part` begin in `text` at `from` or later; npos: nowhere. In time proportional
// to both.
size_t find_part(std::string_view text, std::string_view part, size_t from = 0);
// 1-based; 0 when it does not occur.
int32_t text_position(std::string_view text, std::string_view part);
std::string_view text_overlay(std::string_view text, std::string_view replacement, int32_t start,
                              int32_t count, Arena& arena);
// trim(BOTH characters FROM text) and its halves.
std::string_view text_trim(std::string_view text, std::string_view characters, bool left,
                           bool right);
std::string_view text_pad_left(std::string_view text, int32_t length, std::string_view fill,
                               Arena& arena);
std::string_view text_pad_right(std::string_view text, int32_t length, std::string_view fill,
                                Arena& arena);
std::string_view text_repeat(std::string_view text, int32_t count, Arena& arena);
std::string_view text_replace(std::string_view text, std::string_view from, std::string_view to,
                              Arena& arena);
std::string_view text_translate(std::string_view text, std::string_view from, std::string_view to,
                                Arena& arena);
std::string_view text_reverse(std::string_view text, Arena& arena);
// split_part(text, delimiter, field); 22023 for field 0.
std::string_view text_split_part(std::string_view text, std::string_view delimiter, int32_t field);
std::string_view text_concat(std::string_view left, std::string_view right, Arena& arena);
std::string_view text_upper(std::string_view text, Arena& arena);
std::string_view text_lower(std::string_view text, Arena& arena);
std::string_view text_initcap(std::string_view text, Arena& arena);
int32_t text_ascii(std::string_view text);
std::string_view text_chr(int32_t code, Arena& arena);
std::string_view text_to_hex(uint64_t value, Arena& arena);
// quote_ident, quote_literal.
std::string_view quote_identifier(std::string_view text, Arena& arena);
std::string_view quote_literal(std::string_view text, Arena& arena);

// LIKE with `escape` (one character or empty for none; 22025 for more). The default escape is a
// backslash.
bool text_like(std::string_view text, std::string_view pattern, bool ignore_case, Arena& arena);
bool bytea_like(std::string_view bytes, std::string_view pattern);
// The pattern with its escape character turned into backslashes: `LIKE p ESCAPE e` is text_like(t,
// like_escape(p, e)).
std::string_view like_escape(std::string_view pattern, std::string_view escape, Arena& arena);
// The literal start of a LIKE pattern, unescaped, for index ranges; *exact when the pattern is that
// literal alone.
std::string_view like_prefix(std::string_view pattern, Arena& arena, bool* exact);

// bytea's text forms, \x hex and escape, and their halves.
std::string_view parse_bytea(std::string_view text, Arena& arena);
std::string_view decode_hex(std::string_view text, Arena& arena);
std::string_view decode_escape(std::string_view text, Arena& arena);
void print_hex(std::string_view bytes, ByteBuffer& out);
// encode(bytea, 'hex' | 'base64' | 'escape') and decode(text, ...); 22023 for other names.
std::string_view bytea_encode(std::string_view bytes, std::string_view encoding, Arena& arena);
std::string_view bytea_decode(std::string_view text, std::string_view encoding, Arena& arena);
void print_bytea_hex(std::string_view bytes, ByteBuffer& out);
void print_bytea_escape(std::string_view bytes, ByteBuffer& out);

}  // namespace pgsilo
