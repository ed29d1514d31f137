// Which source file and line an instruction comes from, by the program's own debug information:
// binutils' addr2line is asked once for all. Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/scaling/simulated_core.h"

namespace pgsilo::scaling {

class CodePlaces {
 public:
  // Looks all of them up. False: addr2line cannot be run.
  bool find(const std::set<uintptr_t>& instructions);
  // The innermost file of the engine's that the site is in, "storage/record/record.h:12"; what all
  // use (base/) only if there is no other. Empty: there is none.
  std::string place_of(const Site& site) const;

 private:
  struct Place {
    std::string file;  // of the project; else it is not listed
    std::string line;
  };
  std::map<uintptr_t, std::vector<Place>> places_;  // inlined ones first
};

// "storage/record/record.h" of "storage/record/record.h:12".
std::string_view file_of(std::string_view place);

}  // namespace pgsilo::scaling
