#include "wal/layout/lsn_text.h"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace pgsilo {

std::string lsn_text(Epoch epoch) {
  std::array<char, 20> text;
  std::snprintf(text.data(), text.size(), "%" PRIX32 "/%" PRIX32,
                static_cast<uint32_t>(epoch.value() >> 32), static_cast<uint32_t>(epoch.value()));
  return text.data();
}

}  // namespace pgsilo
