// to_number, whose entry is in number_format.cpp. Thread safety: a pure function.
#pragma once

#include "executor/functions/function.h"

namespace pgsilo::functions {

Datum text_to_number(EvalContext& context, const Datum* a);

}  // namespace pgsilo::functions
