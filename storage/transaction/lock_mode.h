// The strengths of record locks: PostgreSQL's row-level lock modes. Thread safety: values.
#pragma once

#include <cstdint>

namespace pgsilo {

// Each is stronger than the ones before it: it conflicts with whatever they conflict with.
enum class LockMode : uint8_t {
  none,
  key_share,      // nobody deletes the row or changes its key
  share,          // nobody changes the row
  no_key_update,  // ... nor shares it: the holder changes columns that belong to no unique key
  update,         // nobody else has any of these: the holder changes a key or deletes the row
};

constexpr bool conflict(LockMode one, LockMode other) {
  return static_cast<int>(one) + static_cast<int>(other) > static_cast<int>(LockMode::update);
}

}  // namespace pgsilo
