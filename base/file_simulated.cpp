#include "base/file_simulated.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace pgsilo {

class SimulatedFile final : public File {
 public:
  SimulatedFile(SimulatedFileSystem& system, std::shared_ptr<SimulatedFileSystem::Node> node,
                std::string path, OpenFlags flags)
      : File(flags.synchronous),
        system_(system),
        node_(std::move(node)),
        path_(std::move(path)),
        flags_(flags),
        generation_(system.generation_) {}

  ~SimulatedFile() override {
    std::lock_guard lock(system_.mutex_);
    if (holds_lock_ && generation_ == system_.generation_) node_->locked = false;
  }

  FileResult size(uint64_t* bytes) override {
    std::lock_guard lock(system_.mutex_);
    check_alive();
    *bytes = node_->cache.size();
    return {};
  }

  FileResult allocate(uint64_t bytes) override {
    std::lock_guard lock(system_.mutex_);
    check_alive();
    bool cut = false;
    FileResult result = system_.begin_step(&cut);
    if (!result.ok()) return result;
    if (bytes > node_->cache.size()) {
      uint64_t growth = bytes - node_->cache.size();
      if (system_.used_bytes() + growth > system_.capacity_) return {FileStatus::no_space, ENOSPC};
      node_->cache.resize(bytes);
    }
    if (cut) system_.die();
    return {};
  }

  FileResult try_lock() override {
    std::lock_guard lock(system_.mutex_);
    check_alive();
    if (node_->locked && !holds_lock_) return {FileStatus::locked, EWOULDBLOCK};
    node_->locked = holds_lock_ = true;
    return {};
  }

  FileResult is_at(const std::string& path, bool* is) const override {
    std::lock_guard lock(system_.mutex_);
    check_alive();
    const System::Node* named = system_.find(path);
    *is = named == node_.get();
    return named != nullptr ? FileResult{} : FileResult{FileStatus::not_found, ENOENT};
  }

 private:
  using System = SimulatedFileSystem;

  void check_alive() const {
    if (system_.dead_) throw SimulatedPowerCut{};
    PGSILO_CHECK(generation_ == system_.generation_);  // a file of the process before
  }

  void check_alignment(const void* data, size_t bytes, uint64_t offset) const {
    if (!flags_.direct) return;
    PGSILO_CHECK(reinterpret_cast<uintptr_t>(data) % file_block_bytes == 0);
    PGSILO_CHECK(bytes % file_block_bytes == 0 && offset % file_block_bytes == 0);
  }

  FileResult do_write(const void* data, size_t bytes, uint64_t offset, size_t* done) override {
    std::lock_guard lock(system_.mutex_);
    check_alive();
    check_alignment(data, bytes, offset);
    PGSILO_CHECK(flags_.write);
    bool cut = false;
    FileResult result = system_.begin_step(&cut);
    if (!result.ok()) return result;
    if (system_.step_ == system_.short_write_at_) {
      bytes = std::max(bytes / 2 / file_block_bytes * file_block_bytes,
                       std::min(bytes, file_block_bytes));
    }
    uint64_t end = offset + bytes;
    if (end > node_->cache.size()) {
      if (system_.used_bytes() + end - node_->cache.size() > system_.capacity_) {
        return {FileStatus::no_space, ENOSPC};
      }
      node_->cache.resize(end);
    }
    std::memcpy(node_->cache.data() + offset, data, bytes);
    for (uint64_t sector = offset / System::sector_bytes; sector * System::sector_bytes < end;
         ++sector) {
      node_->dirty.insert(sector);
      node_->lost.erase(sector);
    }
    if (cut) system_.die();
    if (flags_.synchronous && !system_.syncs_lie_) System::persist(*node_);
    *done = bytes;
    return {};
  }

  FileResult do_read(void* data, size_t bytes, uint64_t offset, size_t* done) override {
    std::lock_guard lock(system_.mutex_);
    check_alive();
    check_alignment(data, bytes, offset);
    bool fails = system_.reads_to_failure_ != 0 && --system_.reads_to_failure_ == 0;
    if (fails || path_ == system_.unreadable_) return {FileStatus::failed, EIO};
    std::string& cache = node_->cache;
    if (offset >= cache.size()) {
      *done = 0;
      return {};
    }
    *done = std::min<uint64_t>(bytes, cache.size() - offset);
    system_.bytes_read_ += *done;
    std::memcpy(data, cache.data() + offset, *done);
    if (flags_.direct) read_lost_sectors(static_cast<char*>(data), *done, offset);
    return {};
  }

  // Where a failed sync left pages that only look written, the disk's content is what direct I/O
  // returns.
  void read_lost_sectors(char* data, size_t bytes, uint64_t offset) const {
    for (uint64_t sector : node_->lost) {
      uint64_t start = std::max<uint64_t>(offset, sector * System::sector_bytes);
      uint64_t end = std::min<uint64_t>(offset + bytes, (sector + 1) * System::sector_bytes);
      for (uint64_t at = start; at < end; ++at) {
        data[at - offset] = at < node_->disk.size() ? node_->disk[at] : '\0';
      }
    }
  }

  FileResult do_sync() override {
    std::lock_guard lock(system_.mutex_);
    check_alive();
    bool cut = false;
    FileResult result = system_.begin_step(&cut);
    ++system_.syncs_;
    if (!result.ok()) {
      system_.lose_pages(*node_);
      return result;
    }
    if (cut) system_.die();
    if (!system_.syncs_lie_) System::persist(*node_);
    return {};
  }

  System& system_;
  const std::shared_ptr<System::Node> node_;
  const std::string path_;
  const OpenFlags flags_;
  const uint64_t generation_;
  bool holds_lock_ = false;
};

FileResult SimulatedFileSystem::begin_step(bool* cut) {
  if (dead_) throw SimulatedPowerCut{};
  ++step_;
  *cut = step_ == cut_at_ || step_ == kill_at_;
  if (step_ == fail_at_) return failure_;
  return {};
}

void SimulatedFileSystem::die() {
  if (step_ == cut_at_) lose_power();
  dead_ = true;
  throw SimulatedPowerCut{};
}

void SimulatedFileSystem::cut_power() {
  std::lock_guard lock(mutex_);
  lose_power();
  dead_ = true;
}

void SimulatedFileSystem::restart() {
  std::lock_guard lock(mutex_);
  dead_ = false;
  ++generation_;
  cut_at_ = kill_at_ = fail_at_ = short_write_at_ = reads_to_failure_ = 0;
  for (auto& [path, node] : names_) node->locked = false;
}

void SimulatedFileSystem::put_sector(Node& node, uint64_t sector) {
  uint64_t start = sector * sector_bytes;
  if (start >= node.cache.size()) return;
  uint64_t end = std::min<uint64_t>(start + sector_bytes, node.cache.size());
  if (node.disk.size() < end) node.disk.resize(end);
  std::memcpy(node.disk.data() + start, node.cache.data() + start, end - start);
}

void SimulatedFileSystem::persist(Node& node) {
  node.disk.resize(node.cache.size());
  for (uint64_t sector : node.dirty) put_sector(node, sector);
  node.dirty.clear();
}

void SimulatedFileSystem::lose_pages(Node& node) {
  for (uint64_t sector : node.dirty) {
    if (random_.one_in(2)) {
      put_sector(node, sector);
    } else {
      node.lost.insert(sector);
    }
  }
  node.dirty.clear();
}

void SimulatedFileSystem::lose_power() {
  for (auto& [directory, changes] : unsynced_names_) {
    size_t kept = random_.below(changes.size() + 1);
    for (size_t i = 0; i < kept; ++i) apply(disk_names_, changes[i]);
  }
  unsynced_names_.clear();
  // Ascending: a directory comes before what is in it.
  std::erase_if(disk_names_, [this](const auto& entry) {
    std::string directory = parent_path(entry.first);
    return directory != "/" && directory != "." && !disk_names_.contains(directory);
  });
  names_ = disk_names_;
  for (auto& [path, node] : names_) {
    if (node->disk.size() < node->cache.size() && random_.one_in(2))
      node->disk.resize(node->cache.size());
    for (uint64_t sector : node->dirty) {
      if (random_.one_in(2)) put_sector(*node, sector);
    }
    node->cache = node->disk;
    node->dirty.clear();
    node->lost.clear();
  }
}

void SimulatedFileSystem::apply(Names& names, const NameChange& change) {
  if (!change.removed.empty()) names.erase(change.removed);
  if (!change.added.empty()) names[change.added] = change.node;
}

void SimulatedFileSystem::change_names(NameChange change) {
  apply(names_, change);
  std::string directory = parent_path(change.added.empty() ? change.removed : change.added);
  unsynced_names_[directory].push_back(std::move(change));
}

uint64_t SimulatedFileSystem::used_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [path, node] : names_) bytes += node->cache.size();
  return bytes;
}

SimulatedFileSystem::Node* SimulatedFileSystem::find(const std::string& path) {
  auto found = names_.find(path);
  return found == names_.end() ? nullptr : found->second.get();
}

FileResult SimulatedFileSystem::open(const std::string& path, OpenFlags flags,
                                     std::unique_ptr<File>* file) {
  std::lock_guard lock(mutex_);
  if (dead_) throw SimulatedPowerCut{};
  if (flags.direct && refuse_direct_) return {FileStatus::unsupported, EINVAL};
  Node* node = find(path);
  if (node != nullptr && flags.create && flags.exclusive)
    return {FileStatus::already_exists, EEXIST};
  if (node == nullptr) {
    if (!flags.create) return {FileStatus::not_found, ENOENT};
    bool cut = false;
    FileResult result = begin_step(&cut);
    if (!result.ok()) return result;
    change_names({.removed = {}, .added = path, .node = std::make_shared<Node>()});
    if (cut) die();
  }
  *file = std::make_unique<SimulatedFile>(*this, names_[path], path, flags);
  return {};
}

FileResult SimulatedFileSystem::rename(const std::string& from, const std::string& to) {
  std::lock_guard lock(mutex_);
  bool cut = false;
  FileResult result = begin_step(&cut);
  if (!result.ok() && !fail_late_) return result;
  auto found = names_.find(from);
  if (found == names_.end()) return {FileStatus::not_found, ENOENT};
  change_names({.removed = from, .added = to, .node = found->second});
  if (cut) die();
  return result;
}

FileResult SimulatedFileSystem::remove(const std::string& path) {
  std::lock_guard lock(mutex_);
  if (dead_) throw SimulatedPowerCut{};
  if (find(path) == nullptr) return {FileStatus::not_found, ENOENT};
  bool cut = false;
  FileResult result = begin_step(&cut);
  if (!result.ok()) return result;
  change_names({.removed = path, .added = {}, .node = nullptr});
  if (cut) die();
  return {};
}

FileResult SimulatedFileSystem::create_directory(const std::string& path) {
  std::lock_guard lock(mutex_);
  if (dead_) throw SimulatedPowerCut{};
  if (find(path) != nullptr) return {FileStatus::already_exists, EEXIST};
  bool cut = false;
  FileResult result = begin_step(&cut);
  if (!result.ok()) return result;
  auto node = std::make_shared<Node>();
  node->is_directory = true;
  change_names({.removed = {}, .added = path, .node = std::move(node)});
  if (cut) die();
  return {};
}

FileResult SimulatedFileSystem::list(const std::string& directory,
                                     std::vector<std::string>* names) {
  std::lock_guard lock(mutex_);
  if (dead_) throw SimulatedPowerCut{};
  names->clear();
  Node* node = find(directory);
  if (node == nullptr || !node->is_directory) return {FileStatus::not_found, ENOENT};
  for (const auto& [path, child] : names_) {
    if (parent_path(path) == directory) names->push_back(path.substr(directory.size() + 1));
  }
  return {};
}

FileResult SimulatedFileSystem::space(const std::string&, DeviceSpace* space) {
  std::lock_guard lock(mutex_);
  uint64_t used = used_bytes();
  *space = {.total_bytes = capacity_, .free_bytes = capacity_ - std::min(capacity_, used)};
  return {};
}

FileResult SimulatedFileSystem::sync_directory(const std::string& directory) {
  std::lock_guard lock(mutex_);
  bool cut = false;
  FileResult result = begin_step(&cut);
  if (!result.ok()) return result;
  if (cut) die();
  if (!syncs_lie_) {
    for (const NameChange& change : unsynced_names_[directory]) apply(disk_names_, change);
    unsynced_names_.erase(directory);
  }
  return {};
}

void SimulatedFileSystem::corrupt(const std::string& path, uint64_t offset,
                                  const std::string& bytes) {
  std::lock_guard lock(mutex_);
  Node* node = find(path);
  PGSILO_CHECK(node != nullptr && offset + bytes.size() <= node->cache.size());
  node->disk.resize(node->cache.size());
  std::memcpy(node->cache.data() + offset, bytes.data(), bytes.size());
  std::memcpy(node->disk.data() + offset, bytes.data(), bytes.size());
}

std::string SimulatedFileSystem::content(const std::string& path) {
  std::lock_guard lock(mutex_);
  Node* node = find(path);
  return node == nullptr ? std::string() : node->cache;
}

}  // namespace pgsilo
