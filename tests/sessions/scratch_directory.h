// A directory for a server of one's own: the one that is named, or a new one that goes away.
// Thread safety: one owner.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace pgsilo::sessions {

class ScratchDirectory {
 public:
  // `name`: empty: a new one. What a server left there before is removed.
  explicit ScratchDirectory(const std::string& name) : is_new_(name.empty()) {
    if (is_new_) {
      path_ = std::filesystem::temp_directory_path() / "pgsilo-test.XXXXXX";
      if (mkdtemp(path_.data()) == nullptr) std::abort();
    } else {
      path_ = std::filesystem::absolute(name);
      std::filesystem::remove_all(path_ + "/data");
    }
  }
  ~ScratchDirectory() {
    std::error_code error;
    if (is_new_) std::filesystem::remove_all(path_, error);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }
  // For who looks into what was found.
  void keep() { is_new_ = false; }

 private:
  bool is_new_;
  std::string path_;
};

}  // namespace pgsilo::sessions
