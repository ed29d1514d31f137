// Whether directories share a device's room. Thread safety: pure function of the disk.
#pragma once

#include <string>

namespace pgsilo {

class FileSystem;

// On one device; or nobody can tell.
bool lie_together(FileSystem& files, const std::string& one, const std::string& other);

}  // namespace pgsilo
