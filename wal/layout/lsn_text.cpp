#include "wal/layout/lsn_text.h"

#include <array>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <system_error>

namespace pgsilo {

std::string lsn_text(Epoch epoch) {
  std::array<char, 20> text;
  std::snprintf(text.data(), text.size(), "%" PRIX32 "/%" PRIX32,
                static_cast<uint32_t>(epoch.value() >> 32), static_cast<uint32_t>(epoch.value()));
  return text.data();
}

Epoch epoch_of_lsn_text(const std::string& text) {
  uint32_t high = 0;
  uint32_t low = 0;
  const char* end = text.data() + text.size();
  auto [slash, fault] = std::from_chars(text.data(), end, high, 16);
  if (fault != std::errc() || slash == end || *slash != '/') return {};
  if (std::from_chars(slash + 1, end, low, 16).ec != std::errc()) return {};
  return Epoch((uint64_t{high} << 32) | low);
}

}  // namespace pgsilo
