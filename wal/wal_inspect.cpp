// What a start would make of a data directory, without one.
#include "wal/recovery/inspection.h"
#include "wal/recovery/known_progress.h"
#include "wal/recovery/opened_checkpoint.h"
#include "wal/wal_state.h"

namespace pgsilo {

// Where a start would refuse for a file's list of its blocks, as one would see it that does
// without. False: there is none that would go on.
bool Wal::State::open_for_inspection(std::vector<OpenedCheckpointFile>* opened,
                                     CheckpointReport* report, std::string* refusal) const {
  auto open = [&](std::vector<LostBlock>* lost, std::string* why) {
    opened->clear();
    return open_checkpoint(files, directory, options.checkpoint_directories, control.database,
                           control.checkpoint, opened, lost, why);
  };
  if (open(/*lost=*/nullptr, refusal)) return true;
  std::vector<LostBlock> lost;
  std::string why;
  if (!open(&lost, &why)) return false;
  report->searched_files = lost.size();
  for (const LostBlock& missing : lost) {
    report->skippable_blocks += missing.blocks;
    report->skippable_records += missing.records;
  }
  return true;
}

namespace {

// What a start could leave out of it, and what not. The first relation's words: it is loaded first.
std::string tell(const CheckpointDamage& damage, CheckpointReport* report) {
  for (const auto& [relation, damaged] : damage) {
    report->skippable_blocks += damaged.skippable_blocks;
    report->skippable_records += damaged.skippable_records;
    report->fatal_blocks += damaged.fatal_blocks;
  }
  return damage.empty() ? "" : damage.begin()->second.why;
}

}  // namespace

bool Wal::inspect(const LiveRelationsIn& live, RecoveryListener* listener, RecoveryReport* report,
                  std::string* why) {
  const State& state = *state_;
  report->new_database = state.new_database;
  if (state.new_database) return true;
  RecoveryMeter meter(state.clock, listener);
  const CheckpointManifest& manifest = state.control.checkpoint;
  std::vector<OpenedCheckpointFile> checkpoint;
  std::string refusal;
  if (!state.open_for_inspection(&checkpoint, &report->checkpoint, &refusal)) {
    *why = refusal;
    return false;
  }
  unsigned threads = state.recovery_threads();
  meter.expect(manifest.bytes());
  report->checkpoint.number = manifest.number;
  report->checkpoint.begun = manifest.begun;
  report->checkpoint.bytes = manifest.bytes();
  CheckpointDamage damage =
      inspect_checkpoint(state.files, checkpoint, threads, meter, &report->checkpoint);
  std::optional<ProgressMark> mark;
  std::string unknown;
  bool known = state.from_backup ||
               find_progress(state.files, state.directory, state.control, &mark, &unknown);
  AnalyzerOptions options{.threads = threads, .mark = mark ? &*mark : nullptr};
  LogAnalysis analysis;
  bool sound = inspect_logs(state.files, state.log_directories(), state.control, options, meter,
                            report, &analysis, why);
  RecoveryMeter silent(state.clock, nullptr);
  if (sound) forget_dropped(state.files, checkpoint, analysis, live, threads, silent, &damage);
  std::string broken = tell(damage, &report->checkpoint);
  bool whole = broken.empty();
  // recover() looks for the mark first, and loads the checkpoint when it has analyzed the logs.
  if (sound && !whole) *why = broken;
  if (!known) *why = unknown;
  if (!sound || !whole) state.blame_backup(why);
  // Before all that it opens the checkpoint.
  if (!refusal.empty()) *why = refusal;
  meter.report(true);
  if (!known || !sound || !whole || !refusal.empty()) return false;
  std::vector<LogSlot> slots;
  return state.from_backup || state.read_slot_file(&slots, why);
}

}  // namespace pgsilo
