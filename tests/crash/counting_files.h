// Counts what is listed, and which files are opened.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file_forwarding.h"

namespace pgsilo {

class CountingFiles final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    ++calls;
    return files_.open(path, flags, file);
  }
  FileResult list(const std::string& directory, std::vector<std::string>* names) override {
    ++calls;
    return files_.list(directory, names);
  }

  uint64_t calls = 0;
};

}  // namespace pgsilo
