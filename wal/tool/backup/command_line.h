// What pgsilo-backup is asked to do. Thread safety: plain functions and values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pgsilo::backup_tool {

inline constexpr char program[] = "pgsilo-backup";
extern const char help[];

struct CommandLine {
  std::string command;
  std::vector<std::string> names;
  std::string host;
  std::string port;
  std::string user;
  std::string label = program;
  std::string slot;
  std::string archive;
  bool create_slot = false;
  bool once = false;
  std::optional<uint64_t> epoch;
  std::optional<uint64_t> time_us;  // since 1970
  bool verify = true;
  bool help = false;
};

// False: it was told what is wrong.
bool read_command_line(int count, char** words, CommandLine* line);

}  // namespace pgsilo::backup_tool
