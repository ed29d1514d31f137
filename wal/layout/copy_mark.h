// Which copy of the database a data directory is, and a log directory is of, where that is a
// restored backup: all copies' logs have the same identities. The server that was backed up has no
// such mark. Thread safety: plain functions.
#pragma once

#include <string>

#include "base/random.h"

namespace pgsilo {

class FileSystem;
struct FileResult;

inline constexpr char copy_mark_name[] = "pgsilo.copy";

// `*copy` is null if there is no mark. False: `why`.
bool read_copy_mark(FileSystem& files, const std::string& directory, Uuid* copy, std::string* why);
// Atomically and durably.
FileResult write_copy_mark(FileSystem& files, const std::string& directory, const Uuid& copy);

}  // namespace pgsilo
