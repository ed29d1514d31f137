// Random lives of a server that is archived as docs/backup.md tells: quiet and busy starts, clean
// and not, logs that come and go, backups and pruning, machines that are lost and restored, copies
// that are archived by mistake, files that are damaged. No restore may be older than what was told,
// or mixed, and no archive refused. PGSILO_ARCHIVE_LIVES=N: so many, from PGSILO_ARCHIVE_SEED on.
#include <cstdlib>

#include "tests/crash/archive_life.h"

namespace pgsilo {
namespace {

uint64_t setting(const char* name, uint64_t usual) {
  const char* value = std::getenv(name);
  return value == nullptr ? usual : std::strtoull(value, nullptr, 10);
}

class ArchiveLivesTest : public ArchiveLife {
 protected:
  // --- damage ---

  // A file of the archive, of a backup or of the server's log is lost, or damaged. What is restored
  // then, or behind a turn of follow, is refused, or told to lack something, or all there is; with
  // the file put back all goes on.
  void damage() {
    if (lacks_something()) {
      ASSERT_NO_FATAL_FAILURE(follow());
    }
    archiver_.reset();
    const Base base = bases_[random_.below(bases_.size())];
    if (random_.one_in(4)) return damage_servers(base);
    const auto archived = files_of(archive_);
    const auto backup = files_of(base.directory);
    Epoch there = told_;
    if (random_.one_in(4) && older_of_ == archive_) {
      const std::string log =
          parent_path(std::next(archived.begin(), pick(archived.size()))->first);
      ASSERT_NO_FATAL_FAILURE(put_log_back(log));
      // With its notes: nothing tells.
      if (log == archive_) there = Epoch();
    } else if (random_.one_in(4)) {
      ASSERT_NO_FATAL_FAILURE(lay_segments_there());
    } else {
      ASSERT_NO_FATAL_FAILURE(damage_one_of(random_.one_in(5) ? backup : archived));
    }
    if (random_.one_in(2)) {
      ASSERT_NO_FATAL_FAILURE(try_to_follow(&there));
    }
    ASSERT_NO_FATAL_FAILURE(expect_all_or_a_word(base, there));
    ASSERT_NO_FATAL_FAILURE(put_back(archive_, archived));
    ASSERT_NO_FATAL_FAILURE(put_back(base.directory, backup));
  }
  // What was copied of it stays in the archive.
  void damage_servers(const Base& base) {
    const auto log = files_of(join_path(data_, used_.log_directories.front()));
    const auto& [path, content] = *std::next(log.begin(), pick(log.size()));
    ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, path, damaged(content)));
    tell("damaged:" + path);
    Epoch there = told_;
    ASSERT_NO_FATAL_FAILURE(try_to_follow(&there));
    ASSERT_NO_FATAL_FAILURE(expect_all_or_a_word(base, there));
    ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, path, content));
    has_failed_ = true;
  }
  // Those of the server of which the archive has none yet, or one of them.
  void lay_segments_there() {
    std::vector<std::string> names;
    ASSERT_TRUE(disk_->list(archive_, &names).ok());
    const auto log = files_of(join_path(data_, used_.log_directories.front()));
    for (const std::string& name : names) {
      const std::string directory = join_path(archive_, name);
      const std::string& identity =
          log.at(join_path(join_path(data_, used_.log_directories.front()), log_identity_name));
      if (disk_->content(join_path(directory, log_identity_name)) != identity) continue;
      tell("laid:" + directory);
      for (const auto& [path, content] : log) {
        const std::string to = directory + path.substr(parent_path(path).size());
        const bool is_segment = path.ends_with(".segment") && disk_->content(to).empty();
        if (is_segment && !random_.one_in(3)) {
          ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, to, content));
        }
      }
    }
  }
  // From a copy that was made earlier; or all of the archive.
  void put_log_back(const std::string& log) {
    tell("older:" + log);
    std::map<std::string, std::string> before;
    for (const auto& [path, content] : older_) {
      if (parent_path(path) == log) before[path] = content;
    }
    if (log != archive_) return put_back(log, before);
    ASSERT_NO_FATAL_FAILURE(put_back(archive_, older_));
  }
  // A turn that does not move the slot. When it is done another one is.
  void try_to_follow(Epoch* there) {
    bool done = false;
    ASSERT_NO_FATAL_FAILURE(try_to_follow(there, &done));
    if (!done) return;
    ASSERT_NO_FATAL_FAILURE(try_to_follow(there, &done));
    ASSERT_TRUE(done) << why_;
  }
  void try_to_follow(Epoch* there, bool* done) {
    LogArchive archiver(*disk_, archive_);
    const Epoch durable = engine_->wal().status().recorded_epoch;
    const LogSlot slot = slots(*engine_).status().front().slot;
    *done = archiver.open(&why_) && archiver.copy(running(used_, data_), slot, &why_, durable);
    tell(*done ? "(follow)" : "(no follow)");
    if (*done) *there = durable;
  }
  ptrdiff_t pick(size_t size) { return static_cast<ptrdiff_t>(random_.below(size)); }
  void damage_one_of(const std::map<std::string, std::string>& files) {
    const auto& [path, content] = *std::next(files.begin(), pick(files.size()));
    const auto& [other, others] = *std::next(files.begin(), pick(files.size()));
    ASSERT_TRUE(disk_->remove(path).ok());
    switch (random_.below(4)) {
      case 0:
        return tell("lost:" + path);
      case 1:
        tell(path + "=" + other);
        return write_test_file(*disk_, path, others);
      case 2:
        tell("short:" + path);
        return write_test_file(*disk_, path, content.substr(0, random_.below(content.size() + 1)));
      default:
        tell("damaged:" + path);
        return write_test_file(*disk_, path, damaged(content));
    }
  }
  // A bit, or all from some byte on.
  std::string damaged(std::string content) {
    if (content.empty()) return content;
    const size_t at = random_.below(content.size());
    if (random_.one_in(2)) return content.replace(at, content.size(), content.size() - at, 0);
    content[at] = static_cast<char>(content[at] ^ (1 << random_.below(8)));
    return content;
  }
  void expect_all_or_a_word(const Base& base, Epoch there) {
    Found found;
    std::string loss;
    if (!find(base, &found, &loss)) return tell("=refused");
    const Epoch stop = found.label.stop;
    const bool is_point = !loss.empty() || random_.one_in(2);
    if (is_point && stop < base.stop) return tell("=less");
    Epoch epoch = std::max(stop, there);
    if (is_point)
      epoch = Epoch(base.stop.value() + random_.below(stop.value() - base.stop.value() + 1));
    bool refused = false;
    ASSERT_NO_FATAL_FAILURE(expect_state_or_refusal(epoch, std::move(found), &refused));
    tell(refused ? "=refused later" : loss.empty() ? "=all" : "=told");
  }

  // --- lives ---

  void begin_life(uint64_t seed) {
    end();
    begin(seed);
    random_ = Random(seed);
    data_ = "/data";
    archive_ = "/archive";
    used_ = options(1 + static_cast<unsigned>(random_.below(2)));
    pool_ = {used_.log_directories.begin(), used_.log_directories.end()};
    bases_.clear();
    older_of_.clear();
    told_ = restored_at_ = Epoch();
    is_fresh_ = holds_copys_ = has_failed_ = false;
    trace_.clear();
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(be_somehow());
    ASSERT_NO_FATAL_FAILURE(take(/*with_slot=*/true));
    ASSERT_NO_FATAL_FAILURE(follow());
  }

  void step() {
    switch (random_.below(23)) {
      case 20:
      case 21:
        return damage();
      case 22:
        return prune_behind_failure();
      case 0:
      case 1:
      case 2:
      case 3:
        return start_anew();
      case 4:
      case 5:
      case 6:
      case 7:
        return follow();
      case 8:
        return follow_and_fail();
      case 9:
        return take(/*with_slot=*/false);
      case 10:
        return prune();
      case 11:
        return move_archive();
      case 12:
        return restore_a_point();
      case 13:
        return lose();
      case 14:
        return drill();
      case 15:
        return cut_power_in([&] { random_.one_in(2) ? be_somehow() : follow(); });
      default:
        return be_somehow();
    }
  }
};

TEST_F(ArchiveLivesTest, OfServersThatAreLostAndRestored) {
  const uint64_t first = setting("PGSILO_ARCHIVE_SEED", 1);
  const uint64_t lives = setting("PGSILO_ARCHIVE_LIVES", 200);
  for (uint64_t seed = first; seed < first + lives; ++seed) {
    ASSERT_NO_FATAL_FAILURE(begin_life(seed)) << "seed " << seed << ":" << trace_;
    for (int steps = 0; steps < 30; ++steps)
      ASSERT_NO_FATAL_FAILURE(step()) << "seed " << seed << ":" << trace_;
  }
}

}  // namespace
}  // namespace pgsilo
