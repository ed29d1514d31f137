// A directory of the simulated disk copied, as `cp -r` does it beside others that write.
// Thread safety: none.
#pragma once

#include <functional>
#include <string>

#include "base/file_simulated.h"
#include "base/random.h"

namespace pgsilo {

// File after file, in an order that is nobody's, with `between` after each; durably. One that is
// removed meanwhile is left out. Fails the test if it cannot be done.
void copy_directory(SimulatedFileSystem& disk, const std::string& from, const std::string& to,
                    Random& random, const std::function<void()>& between);
// Durably, the directories above it too.
void write_test_file(SimulatedFileSystem& disk, const std::string& path,
                     const std::string& content);

}  // namespace pgsilo
