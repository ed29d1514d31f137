// Replication slots: what they keep stays over checkpoints, restarts and power cuts until they are
// moved on, dropped, or keep more than they may; and what was told of them is so after each
// restart.
#include "wal/checkpoint/log_slots.h"

#include <cerrno>
#include <map>

#include "base/server_log.h"
#include "tests/crash/backup_bed.h"

namespace pgsilo {
namespace {

class LogSlotsTest : public BackupTest {
 protected:
  static LogSlots& slots(LoggedEngine& engine) { return engine.wal().checkpointer().slots(); }

  static const SlotStatus* find(const std::vector<SlotStatus>& all, std::string_view name) {
    auto found = std::ranges::find_if(
        all, [&](const SlotStatus& status) { return status.slot.name == name; });
    return found == all.end() ? nullptr : &*found;
  }

  static std::string availability(LoggedEngine& engine, std::string_view name) {
    std::vector<SlotStatus> all = slots(engine).status();
    const SlotStatus* found = find(all, name);
    return found == nullptr ? "none" : std::string(found->availability);
  }

  std::vector<uint64_t> segments_of(const std::string& log) {
    std::vector<std::string> names;
    EXPECT_TRUE(disk_->list(join_path("/data", log), &names).ok());
    std::vector<uint64_t> numbers;
    for (const std::string& name : names) {
      if (std::optional<uint64_t> number = parse_segment_name(name)) numbers.push_back(*number);
    }
    std::ranges::sort(numbers);
    return numbers;
  }

  // Whether each segment from the slot's cut on is there.
  bool keeps_all(LoggedEngine& engine, const WalOptions& used, std::string_view name) {
    std::vector<SlotStatus> all = slots(engine).status();
    const SlotStatus* status = find(all, name);
    if (status == nullptr || status->slot.cuts.size() != used.log_directories.size()) return false;
    for (size_t i = 0; i < used.log_directories.size(); ++i) {
      std::vector<uint64_t> numbers = segments_of(used.log_directories[i]);
      uint64_t first = status->slot.cuts[i].segment;
      auto kept = std::ranges::lower_bound(numbers, first);
      if (kept == numbers.end() || *kept != first) return false;
      if (numbers.back() - first != static_cast<uint64_t>(numbers.end() - kept) - 1) return false;
    }
    return true;
  }

  static SlotResult drop_first(LoggedEngine& engine) { return slots(engine).drop("first", 1); }
  static SlotResult advance_first(LoggedEngine& engine) {
    return slots(engine).advance("first", Epoch(UINT64_MAX), 1);
  }

  // Segments that only the slot keeps, on a device without a free byte; without `any_room` none
  // becomes free either.
  void fill_beside_slot(LoggedEngine& engine, bool any_room) {
    ASSERT_EQ(slots(engine).create("first", true, 0).outcome, SlotOutcome::ok);
    ASSERT_NO_FATAL_FAILURE(work(engine, 200));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    ASSERT_GT(live(engine), 3U);
    DeviceSpace space;
    ASSERT_TRUE(disk_->space("/data", &space).ok());
    disk_->set_capacity(any_room ? space.total_bytes - space.free_bytes : 1);
  }

  static uint64_t live(LoggedEngine& engine) { return engine.wal().status().logs[0].live_segments; }
  // Random changes of slots beside writers, until the power fails at a random step. What was told
  // of each that there is, and which one was being changed.
  void change_until_cut(const WalOptions& used, std::map<std::string, Epoch>* told,
                        std::string* under_way) {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    disk_->cut_power_at(disk_->steps() + 1 + random_.below(600));
    try {
      for (;;) {
        ASSERT_NO_FATAL_FAILURE(work(engine, random_.below(12)));
        std::string name = "slot" + std::to_string(random_.below(3));
        *under_way = name;
        ASSERT_NO_FATAL_FAILURE(change(engine, name, told));
        under_way->clear();
      }
    } catch (const SimulatedPowerCut&) {
    }
  }

  void change(LoggedEngine& engine, const std::string& name, std::map<std::string, Epoch>* told) {
    if (random_.one_in(3)) {
      if (slots(engine).drop(name, 1).outcome == SlotOutcome::ok) told->erase(name);
      return;
    }
    SlotResult changed = told->contains(name)
                             ? slots(engine).advance(name, engine.wal().durable_epoch(), 1)
                             : slots(engine).create(name, true, 0);
    ASSERT_EQ(changed.outcome, SlotOutcome::ok) << changed.why;
    (*told)[name] = changed.slot.restart;
  }
};

// As it was when the last segment began, whatever comes later.
TEST_F(LogSlotsTest, KeepSegmentsOverCheckpointsAndRestarts) {
  for (uint64_t round = 0; round < 6; ++round) {
    begin(round);
    WalOptions used = options(1 + static_cast<unsigned>(round) % 3);
    uint64_t first = 0;
    std::string segment;
    std::string content;
    for (int life = 0; life < 4; ++life) {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      states_.assign(1, {.epoch = {}, .content = engine.content(), .acknowledged_us = 0});
      if (life == 0) {
        ASSERT_NO_FATAL_FAILURE(work(engine, 20));
        ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
        SlotResult created = slots(engine).create("archive", true, 0);
        ASSERT_EQ(created.outcome, SlotOutcome::ok) << created.why;
        first = created.slot.cuts[0].segment;
        segment = join_path("/data/wal0", segment_name(first));
      }
      for (int i = 0; i < 3; ++i) {
        ASSERT_NO_FATAL_FAILURE(work(engine, 60));
        ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
        ASSERT_TRUE(keeps_all(engine, used, "archive")) << "round " << round << " life " << life;
      }
      if (content.empty()) content = disk_->content(segment);
      ASSERT_EQ(disk_->content(segment), content) << "round " << round << " life " << life;
      if (round % 2 == 0) {
        engine.wal().stop();
      } else {
        disk_->cut_power();
      }
      disk_->restart();
    }
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_TRUE(keeps_all(engine, used, "archive"));
    uint64_t kept = live(engine);
    EXPECT_GT(kept, 4U);
    ASSERT_EQ(slots(engine).drop("archive", 1).outcome, SlotOutcome::ok);
    engine.wal().checkpointer().step();
    EXPECT_LT(live(engine), kept);
    disk_->cut_power();
    disk_->restart();
    LoggedEngine next(*disk_, "/data", used);
    ASSERT_TRUE(next.start()) << next.why();
    EXPECT_EQ(availability(next, "archive"), "none");
  }
}

// Random changes until the power fails at a random step. The one under way has happened or not.
TEST_F(LogSlotsTest, AreAsTheyWereToldAfterAPowerCut) {
  for (uint64_t round = 0; round < 80; ++round) {
    begin(round);
    WalOptions used = options(1 + static_cast<unsigned>(round) % 2);
    std::map<std::string, Epoch> told;
    std::string under_way;
    ASSERT_NO_FATAL_FAILURE(change_until_cut(used, &told, &under_way));
    disk_->restart();
    LoggedEngine next(*disk_, "/data", used);
    ASSERT_TRUE(next.start()) << next.why();
    std::vector<SlotStatus> all = slots(next).status();
    for (const auto& [name, restart] : told) {
      const SlotStatus* found = find(all, name);
      if (found == nullptr && name == under_way) continue;
      ASSERT_NE(found, nullptr) << "round " << round << ": " << name;
      EXPECT_NE(found->availability, "lost") << "round " << round;
      if (name == under_way) continue;
      EXPECT_EQ(found->slot.restart, restart);
    }
    for (const SlotStatus& status : all)
      EXPECT_TRUE(told.contains(status.slot.name) || status.slot.name == under_way)
          << "round " << round << ": " << status.slot.name;
  }
}

class Words final : public ServerLogDoor {
 public:
  Words() { set_server_log(this); }
  ~Words() { set_server_log(nullptr); }
  void write(LogLevel, std::string_view message, std::string_view,
             std::string_view hint) noexcept override {
    text += std::string(message) + "\n" + std::string(hint) + "\n";
  }
  void flush(int64_t) noexcept override {}

  std::string text;
};

TEST_F(LogSlotsTest, AreLostAtTheirLimit) {
  begin(11);
  WalOptions used = options(2);
  used.slot_keep_bytes = 4 * used.segment_bytes;
  Words words;
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 20));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    ASSERT_EQ(slots(engine).create("slow", true, 0).outcome, SlotOutcome::ok);
    ASSERT_EQ(slots(engine).create("idle", false, 0).outcome, SlotOutcome::ok);
    EXPECT_EQ(availability(engine, "slow"), "reserved");
    for (int turn = 0; turn < 100 && availability(engine, "slow") != "unreserved"; ++turn) {
      ASSERT_NO_FATAL_FAILURE(commit(engine));
      ASSERT_NE(availability(engine, "slow"), "lost");
    }
    while (availability(engine, "slow") != "unreserved") ASSERT_NO_FATAL_FAILURE(commit(engine));
    EXPECT_TRUE(keeps_all(engine, used, "slow"));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    EXPECT_EQ(availability(engine, "slow"), "lost");
    EXPECT_EQ(availability(engine, "idle"), "");
    EXPECT_NE(words.text.find("invalidating slot \"slow\" because its restart_lsn "),
              std::string::npos)
        << words.text;
    EXPECT_LE(live(engine), 2U);
    EXPECT_EQ(slots(engine).advance("slow", engine.wal().durable_epoch(), 1).outcome,
              SlotOutcome::not_reserved);
    disk_->cut_power();
  }
  disk_->restart();
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  EXPECT_EQ(availability(engine, "slow"), "lost");
  EXPECT_EQ(availability(engine, "idle"), "");
  EXPECT_EQ(slots(engine).drop("slow", 1).outcome, SlotOutcome::ok);
}

// Else they would stay until a checkpoint succeeds, which finds no space because of them.
TEST_F(LogSlotsTest, AreLostAtTheirLimitWhenACheckpointFindsNoSpace) {
  begin(18);
  WalOptions used = options(1);
  used.slot_keep_bytes = 4 * used.segment_bytes;
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_EQ(slots(engine).create("slow", true, 0).outcome, SlotOutcome::ok);
  while (live(engine) < 4) ASSERT_NO_FATAL_FAILURE(commit(engine));
  ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
  ASSERT_NE(availability(engine, "slow"), "lost");
  while (availability(engine, "slow") != "unreserved") ASSERT_NO_FATAL_FAILURE(commit(engine));
  uint64_t kept = live(engine);
  disk_->set_capacity(1);
  EXPECT_FALSE(engine.wal().checkpointer().run_now(CheckpointReason::request, &why_));
  EXPECT_EQ(why_, "No space left on device");
  EXPECT_EQ(availability(engine, "slow"), "lost");
  EXPECT_LT(live(engine), kept);
}

TEST_F(LogSlotsTest, GiveBackWhatWasCopied) {
  begin(12);
  WalOptions used = options(2);
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
  uint64_t most = 0;
  for (int turn = 0; turn < 12; ++turn) {
    ASSERT_NO_FATAL_FAILURE(work(engine, 40));
    SlotResult moved = slots(engine).advance("archive", Epoch(UINT64_MAX), 1);
    ASSERT_EQ(moved.outcome, SlotOutcome::ok) << moved.why;
    EXPECT_LE(moved.slot.restart, engine.wal().durable_epoch());
    ASSERT_EQ(slots(engine).advance("archive", Epoch(1), 1).outcome, SlotOutcome::behind);
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    ASSERT_TRUE(keeps_all(engine, used, "archive"));
    most = std::max(most, live(engine));
  }
  EXPECT_LE(most, 3U);
}

// Who has copied the log up to an epoch tells so when there is more of it.
TEST_F(LogSlotsTest, KeepWhatCameBehindTheEpochThatTheyAreMovedTo) {
  begin(18);
  WalOptions used = options(2);
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
  for (int turn = 0; turn < 6; ++turn) {
    ASSERT_NO_FATAL_FAILURE(work(engine, 40));
    Epoch copied = engine.wal().durable_epoch();
    std::vector<LogCut> at_once = slots(engine).advance("archive", copied, 1).slot.cuts;
    ASSERT_NO_FATAL_FAILURE(work(engine, 100));
    std::vector<LogCut> later = slots(engine).advance("archive", copied, 1).slot.cuts;
    ASSERT_EQ(later.size(), used.log_directories.size());
    ASSERT_EQ(at_once.size(), later.size());
    for (size_t i = 0; i < later.size(); ++i) EXPECT_EQ(later[i].segment, at_once[i].segment);
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    ASSERT_TRUE(keeps_all(engine, used, "archive"));
  }
}

TEST_F(LogSlotsTest, WithoutTheirSegmentsAreLost) {
  begin(13);
  WalOptions used = options(1);
  std::string segment;
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    SlotResult created = slots(engine).create("archive", true, 0);
    ASSERT_EQ(created.outcome, SlotOutcome::ok);
    segment = join_path("/data/wal0", segment_name(created.slot.cuts[0].segment));
    ASSERT_NO_FATAL_FAILURE(work(engine, 200));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    disk_->cut_power();
  }
  disk_->restart();
  ASSERT_TRUE(disk_->remove(segment).ok());
  Words words;
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  EXPECT_EQ(availability(engine, "archive"), "lost");
  EXPECT_NE(words.text.find("replication slot \"archive\" is lost: log segment \"" + segment +
                            "\" is missing"),
            std::string::npos)
      << words.text;
}

TEST_F(LogSlotsTest, AreRefusedWhereTheyCannotBeWritten) {
  begin(14);
  LoggedEngine engine(*disk_, "/data", options(1));
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_EQ(slots(engine).create("first", true, 0).outcome, SlotOutcome::ok);
  ASSERT_NO_FATAL_FAILURE(commit(engine));
  for (FileStatus status : {FileStatus::failed, FileStatus::no_space}) {
    bool full = status == FileStatus::no_space;
    disk_->fail_at(disk_->steps() + 2, {status, full ? ENOSPC : EIO});
    SlotResult created = slots(engine).create("second", true, 0);
    EXPECT_EQ(created.outcome, full ? SlotOutcome::no_space : SlotOutcome::failed);
    EXPECT_NE(created.why.find("could not write file \"/data/pgsilo.slots\": "), std::string::npos)
        << created.why;
    EXPECT_EQ(availability(engine, "second"), "none");
  }
  for (auto change : {&LogSlotsTest::drop_first, &LogSlotsTest::advance_first}) {
    disk_->fail_at(disk_->steps() + 2, {FileStatus::failed, EIO});
    EXPECT_EQ(change(engine).outcome, SlotOutcome::failed);
    EXPECT_EQ(availability(engine, "first"), "reserved");
  }
}

// What gives log back is done at once, and written in the place of what was given back.
TEST_F(LogSlotsTest, GiveTheirLogBackOnAFullDevice) {
  for (bool drops : {true, false}) {
    for (bool any_room : {true, false}) {
      begin(20);
      WalOptions used = options(1);
      Epoch moved;
      {
        LoggedEngine engine(*disk_, "/data", used);
        ASSERT_TRUE(engine.start()) << engine.why();
        ASSERT_NO_FATAL_FAILURE(fill_beside_slot(engine, any_room));
        SlotResult changed = drops ? drop_first(engine) : advance_first(engine);
        ASSERT_EQ(changed.outcome, SlotOutcome::ok) << changed.why;
        EXPECT_NE(changed.why.find("No space left on device"), std::string::npos) << changed.why;
        EXPECT_EQ(availability(engine, "first"), drops ? "none" : "reserved");
        EXPECT_TRUE(slots(engine).lag());
        moved = changed.slot.restart;
        uint64_t kept = live(engine);
        engine.wal().checkpointer().step();
        EXPECT_LT(live(engine), kept);
        EXPECT_EQ(slots(engine).lag(), !any_room);
      }
      disk_->restart();
      disk_->set_capacity(UINT64_MAX);
      LoggedEngine next(*disk_, "/data", used);
      ASSERT_TRUE(next.start()) << next.why();
      std::vector<SlotStatus> all = slots(next).status();
      const SlotStatus* found = find(all, "first");
      ASSERT_EQ(found == nullptr, drops && any_room);
      if (found == nullptr) continue;
      // Whatever the disk has of it, it does not keep what is not there.
      EXPECT_TRUE(found->availability == "lost" ? !any_room : keeps_all(next, used, "first"));
      EXPECT_EQ(found->slot.restart == moved, drops || any_room);
    }
  }
}

// The next change that can be written has all of them.
TEST_F(LogSlotsTest, AreAllWrittenWhenThereIsRoom) {
  begin(21);
  WalOptions used = options(1);
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(fill_beside_slot(engine, /*any_room=*/false));
    ASSERT_EQ(drop_first(engine).outcome, SlotOutcome::ok);
    CheckpointReason reason;
    engine.wal().checkpointer().would_begin(&reason);
    EXPECT_TRUE(slots(engine).lag());
    disk_->set_capacity(UINT64_MAX);
    engine.wal().checkpointer().would_begin(&reason);
    EXPECT_FALSE(slots(engine).lag());
    disk_->cut_power();
  }
  disk_->restart();
  LoggedEngine next(*disk_, "/data", used);
  ASSERT_TRUE(next.start()) << next.why();
  EXPECT_EQ(availability(next, "first"), "none");
}

TEST_F(LogSlotsTest, OfAFileThatIsDamagedAreUnknown) {
  begin(15);
  WalOptions used = options(1);
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_EQ(slots(engine).create("a", true, 0).outcome, SlotOutcome::ok);
    ASSERT_EQ(slots(engine).create("b", false, 0).outcome, SlotOutcome::ok);
    disk_->cut_power();
  }
  disk_->restart();
  const std::string path = "/data/pgsilo.slots";
  const std::string content = disk_->content(path);
  for (size_t i = 8; i < content.size(); i += 5) {
    std::string damaged = content;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    write_test_file(*disk_, path, damaged);
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_FALSE(engine.start()) << i;
    EXPECT_NE(engine.why().find("\"/data/pgsilo.slots\""), std::string::npos) << engine.why();
  }
  write_test_file(*disk_, path, content);
  used.max_slots = 1;
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_FALSE(engine.start());
    EXPECT_NE(engine.why().find("Increase max_replication_slots"), std::string::npos);
  }
  used.max_slots = 2;
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  EXPECT_EQ(slots(engine).create("c", false, 0).outcome, SlotOutcome::all_in_use);
  EXPECT_EQ(slots(engine).create("a", false, 0).outcome, SlotOutcome::exists);
}

// What another session holds it alone moves and drops; nobody finds it after a restart.
TEST_F(LogSlotsTest, ThatAreTemporaryGoWithTheirSession) {
  begin(16);
  WalOptions used = options(1);
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
  ASSERT_EQ(slots(engine).create("short", true, 7).outcome, SlotOutcome::ok);
  ASSERT_EQ(slots(engine).create("long", false, 0).outcome, SlotOutcome::ok);
  EXPECT_EQ(slots(engine).drop("short", 8).outcome, SlotOutcome::active);
  EXPECT_EQ(slots(engine).advance("short", Epoch(UINT64_MAX), 8).outcome, SlotOutcome::active);
  ASSERT_NO_FATAL_FAILURE(work(engine, 300));
  ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
  uint64_t kept = live(engine);
  slots(engine).drop_temporary(7);
  EXPECT_EQ(availability(engine, "short"), "none");
  engine.wal().checkpointer().step();
  EXPECT_LT(live(engine), kept);
  ASSERT_EQ(slots(engine).create("short", true, 7).outcome, SlotOutcome::ok);
  disk_->cut_power();
  disk_->restart();
  LoggedEngine next(*disk_, "/data", used);
  ASSERT_TRUE(next.start()) << next.why();
  EXPECT_EQ(availability(next, "short"), "none");
  EXPECT_EQ(availability(next, "long"), "");
}

// A copy's slots would keep log for who copies the original's.
TEST_F(LogSlotsTest, AreNotACopys) {
  begin(17);
  WalOptions used = options(1);
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
  size_t stopped = 0;
  ASSERT_NO_FATAL_FAILURE(back_up(engine, &stopped));
  write_test_file(*disk_, "/copy/pgsilo.slots", disk_->content("/data/pgsilo.slots"));
  {
    LoggedEngine copy(*disk_, "/copy", used);
    ASSERT_TRUE(copy.start()) << copy.why();
    EXPECT_EQ(availability(copy, "archive"), "none");
  }
  LoggedEngine again(*disk_, "/copy", used);
  ASSERT_TRUE(again.start()) << again.why();
  EXPECT_EQ(availability(again, "archive"), "none");
}

}  // namespace
}  // namespace pgsilo
