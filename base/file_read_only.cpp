#include "base/file_read_only.h"

#include <cerrno>
#include <vector>

namespace pgsilo {
namespace {

FileResult refused() { return {FileStatus::failed, EROFS}; }

class ReadOnlyFile final : public File {
 public:
  explicit ReadOnlyFile(std::unique_ptr<File> file) : File(false), file_(std::move(file)) {}

  FileResult size(uint64_t* bytes) override { return file_->size(bytes); }
  FileResult allocate(uint64_t) override { return refused(); }
  FileResult try_lock() override { return file_->try_lock(); }
  FileResult is_at(const std::string& path, bool* is) const override {
    return file_->is_at(path, is);
  }

 private:
  FileResult do_write(const void*, size_t, uint64_t, size_t*) override { return refused(); }
  FileResult do_read(void* data, size_t bytes, uint64_t offset, size_t* done) override {
    return file_->read_at(data, bytes, offset, done);
  }
  FileResult do_sync() override {
    FileResult result = file_->sync_data();
    // Nothing can be in a cache where nothing can be written.
    return result.status == FileStatus::unsupported ? FileResult{} : result;
  }

  const std::unique_ptr<File> file_;
};

}  // namespace

FileResult ReadOnlyFileSystem::open(const std::string& path, OpenFlags flags,
                                    std::unique_ptr<File>* file) {
  std::unique_ptr<File> opened;
  FileResult result = files_.open(path, {.direct = flags.direct}, &opened);
  if (result.status == FileStatus::not_found && flags.create) return refused();
  if (result.ok() && flags.create && flags.exclusive) return {FileStatus::already_exists, EEXIST};
  if (result.ok()) *file = std::make_unique<ReadOnlyFile>(std::move(opened));
  return result;
}

FileResult ReadOnlyFileSystem::rename(const std::string&, const std::string&) { return refused(); }

FileResult ReadOnlyFileSystem::remove(const std::string&) { return refused(); }

FileResult ReadOnlyFileSystem::create_directory(const std::string& path) {
  std::vector<std::string> names;
  return list(path, &names).ok() ? FileResult{FileStatus::already_exists, EEXIST} : refused();
}

}  // namespace pgsilo
