// A snapshot as text, so that tests can compare two.
#pragma once

#include <string>

#include "catalog/catalog_snapshot.h"

namespace pgsilo::testing {

// Everything descriptors say but where their trees and records are in memory.
std::string describe(const CatalogSnapshot& snapshot);

}  // namespace pgsilo::testing
