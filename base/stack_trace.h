// Where the program stands: the functions that have called each other, newest first, as far as the
// running stack goes (of a fiber, or of a detour on a large stack, to where that begins).
// Thread safety: any thread.
#pragma once

#include <string>

namespace pgsilo {

// A name of the linker's as it is written in the sources; as it is if it is none.
std::string readable_name(const char* symbol);

// One line each: "function (offset)". Empty if it cannot be found out. `skipped`: of the newest.
std::string stack_trace(int skipped = 0);
// The same to a file descriptor, while nothing may be allocated any more.
void print_stack_trace(int descriptor);
// Loads what unwinding needs, so that nothing has to be loaded when memory is short.
void prepare_stack_traces();

}  // namespace pgsilo
