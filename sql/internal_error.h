// Checks of the language, the planner and the executor: what they find is a mistake of ours in one
// statement. It ends with XX000, and the server's log tells where; the process goes on.
// PGSILO_CHECK (base/check.h) is for the rest: what guards data, where going on could lose it, and
// what holds latches or runs where nothing may be thrown.
//
// A failed PGSILO_REQUIRE throws like any error of the statement, so it may stand wherever an
// SqlError may be thrown, and nowhere else: not in destructors, not between a commit's reservation
// and its end.
#pragma once

#include <exception>

#include "sql/sql_error.h"

namespace pgsilo {

// XX000: "check failed: ...", with the place and the stack for the log.
[[noreturn]] void requirement_failed(const char* expression, const char* file, int line);

// What the statement that failed is told of the exception that is being handled, whatever it is.
// Call inside of a catch block.
SqlError error_of_current_exception();

}  // namespace pgsilo

#define PGSILO_REQUIRE(expression)                    \
  (__builtin_expect(static_cast<bool>(expression), 1) \
       ? static_cast<void>(0)                         \
       : ::pgsilo::requirement_failed(#expression, __FILE__, __LINE__))
