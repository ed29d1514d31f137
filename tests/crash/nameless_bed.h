// Starts that die before the control file names them.
#pragma once

#include <cerrno>

#include "base/file_forwarding.h"
#include "tests/crash/archive_bed.h"
#include "wal/layout/slot_file.h"

namespace pgsilo {

// Lets no control file come into force once segments are written to.
class NamelessFiles final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    begun_ |= flags.write && path.ends_with(".segment");
    return files_.open(path, flags, file);
  }
  FileResult rename(const std::string& from, const std::string& to) override {
    if (begun_ && to.ends_with(control_file_name)) return {FileStatus::failed, EIO};
    return files_.rename(from, to);
  }

 private:
  bool begun_ = false;
};

class NamelessBed : public ArchiveEndsTest {
 protected:
  // Its begin blocks are all there, and archived if an archiver was copying.
  void die_before_it_is_named(const WalOptions& used, bool archived = false) {
    {
      NamelessFiles files(*disk_);
      LoggedEngine engine(files, "/data", used);
      ASSERT_FALSE(engine.start());
      disk_->cut_power();
    }
    disk_->restart();
    if (!archived) return;
    LogDirectory log(*disk_, join_path("/data", used.log_directories[0]));
    ASSERT_TRUE(log.read_identity(&why_)) << why_;
    std::vector<LogSlot> found;
    FileResult failure;
    ASSERT_EQ(read_slots(*disk_, "/data", log.database(), &found, &failure), SlotsRead::ok);
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    ASSERT_TRUE(archiver.copy(running(used), found.front(), &why_)) << why_;
  }
};

}  // namespace pgsilo
