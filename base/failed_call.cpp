#include "base/failed_call.h"

namespace pgsilo {

std::string could_not(std::string_view what, const std::string& path, const FileResult& result) {
  return "could not " + std::string(what) + " \"" + path + "\": " + result.text();
}

}  // namespace pgsilo
