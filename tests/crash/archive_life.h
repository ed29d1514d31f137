// A server that is archived as docs/backup.md tells, its backups and what can be restored of them,
// on a simulated disk; what is done to it is random.
#pragma once

#include <set>

#include "tests/crash/archive_bed.h"

namespace pgsilo {

class ArchiveLife : public ArchiveEndsTest {
 protected:
  struct Base {
    std::string directory;
    Epoch stop;
  };
  // What can be restored of a base and the archive.
  struct Found {
    BackupLabel label;
    BackupSource source;
    SourceLogs logs;
  };

  void TearDown() override { end(); }
  void end() {
    archiver_.reset();
    engine_.reset();
  }
  void tell(const std::string& what) { trace_ += " " + what; }
  std::string next_name(const std::string& kind) { return "/" + kind + std::to_string(++names_); }

  // --- the server ---

  void start() {
    used_.workers = static_cast<unsigned>(used_.log_directories.size());
    engine_.emplace(*disk_, data_, used_);
    bool started = engine_->start();
    // Taken out, and needed yet.
    if (!started && engine_->why().find("is missing") != std::string::npos) {
      tell("(all logs)");
      let_all_logs_be_there();
      engine_.emplace(*disk_, data_, used_);
      started = engine_->start();
    }
    ASSERT_TRUE(started) << engine_->why();
    const Content found = engine_->content();
    if (found == states_.back().content) return;
    ASSERT_TRUE(was_cut_) << "the server lost something, or has more";
    states_.push_back({engine_->wal().status().recorded_epoch, found, 0});
  }
  void let_all_logs_be_there() {
    used_.log_directories.assign(pool_.begin(), pool_.end());
    used_.workers = static_cast<unsigned>(pool_.size());
  }
  void stop() {
    archiver_.reset();
    engine_->wal().stop();
    engine_.reset();
  }
  void restart(bool clean) {
    tell(clean ? "stop" : "kill");
    if (clean) return stop();
    disk_->cut_power();
    end();
    disk_->restart();
  }
  // At any step of what is done, of the server's or the archiver's.
  template <typename Do>
  void cut_power_in(Do&& do_it) {
    tell("cut:");
    was_cut_ = true;
    disk_->cut_power_at(disk_->steps() + 1 + random_.below(400));
    try {
      ASSERT_NO_FATAL_FAILURE(do_it());
      disk_->cut_power_at(0);
      disk_->cut_power();
    } catch (const SimulatedPowerCut&) {
    }
    end();
    disk_->restart();
    ASSERT_NO_FATAL_FAILURE(start());
    was_cut_ = false;
    has_failed_ = true;
  }

  void change_logs() {
    if (random_.one_in(4)) pool_.insert(next_name("log").substr(1));
    std::vector<std::string> chosen;
    for (const std::string& log : pool_) {
      if (random_.one_in(2)) chosen.push_back(log);
    }
    if (chosen.empty()) chosen.push_back(*pool_.begin());
    if (random_.one_in(2)) std::ranges::reverse(chosen);
    used_.log_directories = chosen;
    std::string names;
    for (const std::string& log : chosen) names += (names.empty() ? "" : ",") + log;
    tell("logs=" + names);
  }

  void start_anew() {
    const bool others = random_.one_in(3);
    if (others) {
      tell("covered");
      ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(*engine_));
      end();
      change_logs();
    } else {
      restart(random_.one_in(2));
    }
    ASSERT_NO_FATAL_FAILURE(start());
  }

  void be_somehow() {
    switch (random_.below(5)) {
      case 0:
        tell("work");
        return work(*engine_, random_.below(60));
      case 1:
        tell("row");
        return log_to_one(*engine_, static_cast<unsigned>(random_.below(used_.workers)));
      case 2:
        tell("checkpoint");
        return random_.one_in(2) ? make_checkpoint(*engine_) : cover_all(*engine_);
      default:
        tell("idle");
    }
  }

  // --- backups ---

  void take(bool with_slot) {
    tell(with_slot ? "take -C" : "take");
    if (with_slot) {
      ASSERT_EQ(slots(*engine_).create("archive", true, 0).outcome, SlotOutcome::ok);
    }
    Backup backup(engine_->wal().checkpointer(), "test");
    if (random_.one_in(3)) {
      ASSERT_NO_FATAL_FAILURE(work(*engine_, random_.below(8)));
    }
    BackupTest::stop(*engine_, backup);
    BackupLabel label;
    ASSERT_TRUE(read_backup_label(backup.label_file(), &label, &why_)) << why_;
    Base base{next_name("base"), label.stop};
    BackupCopyReport report;
    ASSERT_TRUE(copy_backup(*disk_, running(used_, data_), label, base.directory, &report, &why_))
        << why_;
    bases_.push_back(base);
  }

  // What none of the bases needs that are kept. Not to one from before the server was restored,
  // which may have gone on in earlier segments, nor before a copy's have made way.
  void prune() {
    if (bases_.empty() || holds_copys_) return;
    tell("prune");
    bases_.erase(bases_.begin(),
                 bases_.begin() + static_cast<ptrdiff_t>(random_.below(bases_.size())));
    if (bases_.front().stop < restored_at_) return;
    BackupLabel label;
    ASSERT_EQ(read_label_file(*disk_, bases_.front().directory, &label, &why_), LabelRead::ok);
    std::vector<std::string> names;
    ASSERT_TRUE(disk_->list(archive_, &names).ok());
    for (const std::string& name : names) {
      LogDirectory log(*disk_, join_path(archive_, name));
      if (disk_->content(join_path(log.path(), log_identity_name)).empty()) continue;
      ASSERT_TRUE(log.read_identity(&why_)) << why_;
      const LogCut* cut = label.control.checkpoint.cut_of(log.log());
      std::vector<uint64_t> numbers;
      ASSERT_TRUE(log.list_segments(&numbers).ok());
      for (uint64_t number : numbers) {
        if (cut == nullptr || number >= cut->segment) break;
        ASSERT_TRUE(disk_->remove(log.segment_path(number)).ok());
      }
    }
  }

  // The archive's device is full, say, so old segments are taken out.
  void prune_behind_failure() {
    for (int starts = 0; starts < 2; ++starts) {
      if (random_.one_in(2)) {
        ASSERT_NO_FATAL_FAILURE(start_anew());
      }
      ASSERT_NO_FATAL_FAILURE(be_somehow());
    }
    ASSERT_NO_FATAL_FAILURE(follow_and_fail());
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(*engine_));
    ASSERT_NO_FATAL_FAILURE(take(/*with_slot=*/false));
    bases_.erase(bases_.begin(), std::prev(bases_.end()));
    ASSERT_NO_FATAL_FAILURE(prune());
  }

  // --- the archive ---

  // As `pgsilo-backup follow` does it.
  bool copy(LogArchive& archiver, LoggedEngine& engine, const WalOptions& used,
            const std::string& data) {
    const Epoch durable = asked_ = engine.wal().status().recorded_epoch;
    const LogSlot slot = slots(engine).status().front().slot;
    if (!archiver.copy(running(used, data), slot, &why_, durable)) return false;
    if (durable <= slot.restart) return true;
    SlotResult moved = slots(engine).advance("archive", durable, 1);
    EXPECT_EQ(moved.outcome, SlotOutcome::ok) << moved.why;
    return true;
  }
  bool turn() {
    if (!archiver_) {
      archiver_.emplace(*disk_, archive_);
      if (!archiver_->open(&why_)) return false;
    }
    return copy(*archiver_, *engine_, used_, data_);
  }

  // A log that was taken out before it had caught up is let back.
  void follow() {
    tell("follow");
    if (random_.one_in(2)) archiver_.reset();
    // Pruned beneath one that runs on it looks anew.
    bool done = turn() || (archiver_->may_be_tried_again() && turn());
    if (!done && why_.find("have its directory again until") != std::string::npos) {
      tell("(back)");
      ASSERT_NO_FATAL_FAILURE(stop());
      let_all_logs_be_there();
      ASSERT_NO_FATAL_FAILURE(start());
      done = turn();
    }
    ASSERT_TRUE(done) << why_;
    told_ = asked_;
    is_fresh_ = holds_copys_ = has_failed_ = false;
    if (random_.one_in(3)) {
      older_ = files_of(archive_);
      older_of_ = archive_;
    }
    if (!random_.one_in(2)) return;
    Found found;
    ASSERT_NO_FATAL_FAILURE(look(&found));
    ASSERT_GE(found.label.stop, told_);
    const Epoch stop = found.label.stop;
    ASSERT_NO_FATAL_FAILURE(expect_state_at(stop, std::move(found)));
  }

  // Killed, or its device fails, at a call.
  void follow_and_fail() {
    tell("follow!");
    archiver_.emplace(*disk_, archive_);
    disk_->fail_at(disk_->steps() + 1 + random_.below(60), {FileStatus::failed, EIO});
    if (archiver_->open(&why_)) {
      const LogSlot slot = slots(*engine_).status().front().slot;
      const Epoch durable = engine_->wal().status().recorded_epoch;
      static_cast<void>(archiver_->copy(running(used_, data_), slot, &why_, durable));
    }
    disk_->fail_at(0, {});
    has_failed_ = true;
    if (random_.one_in(2)) archiver_.reset();
  }

  void move_archive() {
    tell("move");
    const std::string to = next_name("archive");
    for (const auto& [path, content] : files_of(archive_))
      ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, to + path.substr(archive_.size()), content));
    archive_ = to;
    archiver_.reset();
  }

  // --- restores ---

  // What a copy archived by mistake is set aside first, and what an archiver that failed has of
  // starts of which a log was taken out too early is made whole.
  bool lacks_something() const {
    return holds_copys_ || (has_failed_ && used_.log_directories.size() < pool_.size());
  }
  void look(Found* found) {
    if (lacks_something()) {
      ASSERT_NO_FATAL_FAILURE(follow());
    }
    std::string loss;
    do {
      *found = {};
      loss.clear();
      ASSERT_FALSE(bases_.empty());
      const size_t base = random_.below(bases_.size());
      ASSERT_TRUE(find(bases_[base], found, &loss)) << why_;
      earliest_ = bases_[base].stop;
      // Of a log that began anew before where this base needs it.
      if (!loss.empty()) bases_.erase(bases_.begin() + static_cast<ptrdiff_t>(base));
    } while (loss.find(" goes on in segment ") != std::string::npos);
    ASSERT_EQ(loss, "");
  }
  bool find(const Base& base, Found* found, std::string* loss) {
    if (read_label_file(*disk_, base.directory, &found->label, &why_) != LabelRead::ok)
      return false;
    found->source = source_of_backup(base.directory, found->label);
    const ControlFile control = found->label.control;
    copied_ = control.incarnations.back().number;
    return add_archive(*disk_, archive_, &found->source, &why_) &&
           found->logs.find(*disk_, found->source, control, &why_) &&
           found->logs.scan(*disk_, &why_) &&
           extend_label(*disk_, found->logs, &found->label, loss, &why_);
  }
  bool restore(const Found& found, const std::string& data, WalOptions* used) {
    BackupCopyReport report;
    if (!copy_backup(*disk_, found.source, found.label, data, &report, &why_)) return false;
    *used = used_;
    used->log_directories = report.log_directories;
    used->workers = static_cast<unsigned>(report.log_directories.size());
    return true;
  }

  // `*refused`: it cannot be restored, or started, for why_.
  void expect_state_or_refusal(Epoch epoch, Found found, bool* refused) {
    if (epoch < found.label.stop) end_label_at(epoch, copied_, &found.label);
    WalOptions used;
    const std::string data = next_name("read");
    *refused = !restore(found, data, &used);
    if (*refused) return;
    LoggedEngine engine(*disk_, data, used);
    *refused = !engine.start();
    if (*refused) why_ = engine.why();
    if (*refused) return;
    ASSERT_TRUE(was_at(epoch, engine.content())) << "epoch " << epoch.value();
  }
  void expect_state_at(Epoch epoch, Found found) {
    bool refused = false;
    ASSERT_NO_FATAL_FAILURE(expect_state_or_refusal(epoch, std::move(found), &refused));
    ASSERT_FALSE(refused) << why_;
  }

  void restore_a_point() {
    tell("-e");
    Found found;
    ASSERT_NO_FATAL_FAILURE(look(&found));
    ASSERT_GE(found.label.stop, earliest_) << earliest_.value() << " " << found.label.stop.value();
    const uint64_t span = found.label.stop.value() - earliest_.value();
    const Epoch epoch(earliest_.value() + random_.below(span + 1));
    ASSERT_NO_FATAL_FAILURE(expect_state_at(epoch, std::move(found)));
  }

  // The machine is lost; what is restored is the server from then on.
  void lose() {
    if (lacks_something()) {
      ASSERT_NO_FATAL_FAILURE(follow());
    }
    // A base that is ahead of the archive would need a new one.
    const bool is_ahead =
        std::ranges::any_of(bases_, [&](const Base& base) { return base.stop > told_; });
    if (is_ahead) {
      ASSERT_NO_FATAL_FAILURE(follow());
    }
    tell("LOST");
    disk_->cut_power();
    end();
    disk_->restart();
    Found found;
    ASSERT_NO_FATAL_FAILURE(look(&found));
    ASSERT_GE(found.label.stop, told_);
    data_ = next_name("server");
    ASSERT_TRUE(restore(found, data_, &used_)) << why_;
    const Epoch state = found.label.stop;
    std::erase_if(states_, [&](const State& each) { return each.epoch > state; });
    std::erase_if(bases_, [&](const Base& base) { return base.stop > state; });
    restored_at_ = state;
    pool_.clear();
    for (const std::string& log : used_.log_directories) pool_.insert(log);
    is_fresh_ = true;
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(take(/*with_slot=*/true));
  }

  // A restore is tried out, and archived by mistake, but logs no records. (Of a server that is
  // restored itself and has archived nothing yet nobody could tell it: the first of the two goes
  // on.)
  void drill() {
    if (is_fresh_) {
      ASSERT_NO_FATAL_FAILURE(follow());
    }
    Found found;
    ASSERT_NO_FATAL_FAILURE(look(&found));
    WalOptions used;
    const std::string data = next_name("drill");
    ASSERT_TRUE(restore(found, data, &used)) << why_;
    if (random_.one_in(3)) used.log_directories.push_back("own");
    used.workers = static_cast<unsigned>(used.log_directories.size());
    const bool archived = random_.one_in(2);
    tell(archived ? "drill!" : "drill");
    for (uint64_t starts = 1 + random_.below(3); starts > 0; --starts) {
      LoggedEngine engine(*disk_, data, used);
      ASSERT_TRUE(engine.start()) << engine.why();
      if (random_.one_in(2)) {
        ASSERT_NO_FATAL_FAILURE(cover_all(engine));
      }
      if (random_.one_in(3)) {
        Backup backup(engine.wal().checkpointer(), "test");
        BackupTest::stop(engine, backup);
      }
      if (archived) {
        ASSERT_NO_FATAL_FAILURE(archive_by_mistake(engine, used, data));
      }
      engine.wal().stop();
    }
    archiver_.reset();
    holds_copys_ = archived;
  }
  // It may be refused.
  void archive_by_mistake(LoggedEngine& engine, const WalOptions& used, const std::string& data) {
    if (slots(engine).status().empty()) {
      ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
    }
    LogArchive archiver(*disk_, archive_);
    static_cast<void>(archiver.open(&why_) && copy(archiver, engine, used, data));
  }

  std::string data_;
  std::string archive_;
  WalOptions used_;
  std::set<std::string> pool_;  // of log directories that the server has, or had
  std::optional<LoggedEngine> engine_;
  std::optional<LogArchive> archiver_;        // one that runs on
  std::map<std::string, std::string> older_;  // what the archive had once
  std::string older_of_;
  std::vector<Base> bases_;
  Epoch asked_;
  Epoch restored_at_;      // the server, if it was lost
  Epoch told_;             // up to where follow has archived
  bool is_fresh_ = false;  // the server: restored, and not archived since
  uint64_t copied_ = 0;    // of the base that was looked at: its start, and where it ends
  Epoch earliest_;
  bool has_failed_ = false;   // follow, or the power
  bool holds_copys_ = false;  // the archive, in part
  bool was_cut_ = false;
  int names_ = 0;
  std::string trace_;
};

}  // namespace pgsilo
