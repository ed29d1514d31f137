#include "tests/scaling/code_places.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace pgsilo::scaling {

namespace {

uintptr_t program_begin() {
  Dl_info found{};
  dladdr(reinterpret_cast<void*>(&program_begin), &found);
  return reinterpret_cast<uintptr_t>(found.dli_fbase);
}

// A file that is gone with the object.
class ScratchFile {
 public:
  ScratchFile() : descriptor_(mkstemp(path_)) {}
  ~ScratchFile() {
    if (descriptor_ < 0) return;
    close(descriptor_);
    unlink(path_);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/pgsilo-places-XXXXXX";
  int descriptor_;
};

bool write_offsets(const char* path, const std::set<uintptr_t>& instructions) {
  FILE* file = std::fopen(path, "w");
  if (file == nullptr) return false;
  // A call's return address belongs to the instruction behind it.
  for (uintptr_t instruction : instructions)
    std::fprintf(file, "%#zx\n", static_cast<size_t>(instruction - 1 - program_begin()));
  return std::fclose(file) == 0;
}

// A compiler's cache may have the object from another checkout: the path's end that is a file here.
// Empty: there is none.
std::string file_here(const std::string& path) {
  const std::filesystem::path checkout = PGSILO_SOURCE_DIR;
  for (size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    std::string end = path.substr(slash + 1);
    if (std::filesystem::is_regular_file(checkout / end)) return end;
  }
  return "";
}

}  // namespace

bool CodePlaces::find(const std::set<uintptr_t>& instructions) {
  ScratchFile offsets;
  if (!write_offsets(offsets.path(), instructions)) return false;
  char program[4096] = {};
  if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) return false;
  std::string command =
      "addr2line -a -i -e '" + std::string(program) + "' < " + std::string(offsets.path());
  FILE* answers = popen(command.c_str(), "r");
  if (answers == nullptr) return false;
  auto asked = instructions.begin();
  std::vector<Place>* places = nullptr;
  std::map<std::string, std::string> files;  // as told, and here
  char text[8192];
  while (std::fgets(text, sizeof text, answers) != nullptr) {
    std::string line(text, std::string_view(text).find_first_of("\n ("));
    if (line.starts_with("0x")) {
      places = &places_[*asked++];
      continue;
    }
    size_t colon = line.rfind(':');
    auto [known, fresh] = files.try_emplace(line.substr(0, colon));
    if (fresh) known->second = file_here(std::filesystem::path(known->first).lexically_normal());
    if (!known->second.empty()) places->push_back({known->second, line.substr(colon + 1)});
  }
  return pclose(answers) == 0 && asked == instructions.end();
}

std::string CodePlaces::place_of(const Site& site) const {
  std::string general;
  for (uintptr_t call : site.calls) {
    auto found = places_.find(call);
    if (found == places_.end()) continue;
    for (const Place& place : found->second) {
      std::string text = place.file + ":" + place.line;
      if (!place.file.starts_with("base/")) return text;
      if (general.empty()) general = text;
    }
  }
  return general;
}

std::string_view file_of(std::string_view place) { return place.substr(0, place.rfind(':')); }

}  // namespace pgsilo::scaling
