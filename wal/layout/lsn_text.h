// How an epoch is shown where PostgreSQL shows a place in its log. Thread safety: plain functions.
#pragma once

#include <string>

#include "storage/epoch/epoch.h"

namespace pgsilo {

// As PostgreSQL writes a place: two hexadecimal numbers.
std::string lsn_text(Epoch epoch);
// What that wrote; 0: it did not.
Epoch epoch_of_lsn_text(const std::string& text);

}  // namespace pgsilo
