// In key order or against it: what the planner decides and the index tree does.
#pragma once

#include <cstdint>

namespace pgsilo {

enum class ScanDirection : uint8_t { forward, backward };

}  // namespace pgsilo
