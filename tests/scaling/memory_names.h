// What a line is called: by the object that it lies in, or by who asked for its memory, and by who
// uses it. Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pgsilo::scaling {

// An object that a workload has made, whole or a part of it. Until forget_memory_names().
void name_memory(std::string_view name, const void* at, size_t bytes);
void forget_memory_names();
// Empty: it has none.
std::string_view memory_name(uintptr_t address);

// The line's name in docs/scaling.md. `place`: memory_name(), or
// the source file in which its memory was asked for; `code`: the source file that used it.
std::string line_name(std::string_view place, std::string_view code);

}  // namespace pgsilo::scaling
