// How an epoch is shown where PostgreSQL shows a place in its log. Thread safety: a plain function.
#pragma once

#include <string>

#include "storage/epoch/epoch.h"

namespace pgsilo {

// As PostgreSQL writes a place: two hexadecimal numbers.
std::string lsn_text(Epoch epoch);

}  // namespace pgsilo
