// Whether a directory is a database of ours or may become one, found out by nothing but looking:
// what belongs to somebody else is not to be touched, least of all while its owner runs.
// Thread safety: pure function of the disk.
#pragma once

#include <string>

namespace pgsilo {

class FileSystem;
struct WalOptions;

// True for a database of ours, for an empty directory, for one in which our first start was cut
// short, and for one that is not there. Else `why` says what is in the way; a second line is a
// hint.
bool check_data_directory(FileSystem& files, const std::string& directory,
                          const WalOptions& options, std::string* why);

}  // namespace pgsilo
