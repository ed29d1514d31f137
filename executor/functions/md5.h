// MD5 (RFC 1321), for md5() only: never for anything that needs a secure hash.
#pragma once

#include <string_view>

namespace pgsilo {

// Writes the digest as 32 lower-case hexadecimal digits.
void md5_hex(std::string_view bytes, char* digits);

}  // namespace pgsilo
