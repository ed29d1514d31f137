#include "wal/tool/recovery_text.h"

#include "base/file.h"
#include "wal/layout/log_format.h"
#include "wal/tool/leftover.h"

namespace pgsilo {
namespace {

std::string number(uint64_t value, const char* what) {
  return std::to_string(value) + " " + what + (value == 1 ? "" : "s");
}

std::string epoch(Epoch value) { return std::to_string(value.value()); }

bool lost_something(const IncarnationReport& incarnation) {
  return incarnation.readable < incarnation.recorded;
}

// What comes behind the last block that counts, if it is worth a word.
std::string text_of_end(FileSystem& files, const IncarnationReport& incarnation,
                        const LogReport& log) {
  std::string text =
      "    ends in \"" + log.end_path + "\" at offset " + std::to_string(log.end_offset);
  std::string name = log.end_path.substr(log.end_path.find_last_of('/') + 1);
  std::optional<uint64_t> segment = parse_segment_name(name);
  Leftover leftover = Leftover::nothing;
  BlockPlace place{.log = log.log, .segment = segment.value_or(0), .offset = log.end_offset};
  FileResult result;
  if (segment) result = read_leftover(files, log.end_path, place, &leftover);
  if (!result.ok()) return text + ", which could not be read: " + result.text() + "\n";
  if (leftover == Leftover::old_block) leftover = Leftover::nothing;
  if (leftover == Leftover::nothing && !log.gap) return text + "\n";
  if (leftover != Leftover::nothing) text += ", before " + std::string(describe(leftover));
  if (log.gap) text += "; whole blocks come behind the gap";
  return text + (lost_something(incarnation) ? "\n" : ": the torn end of a batch, normal\n");
}

std::string text_of_log(FileSystem& files, const IncarnationReport& incarnation,
                        const LogReport& log) {
  std::string text = "  log \"" + log.path + "\" (" + log.log.text() + "): ";
  if (log.blocks == 0 && !log.gap) return text + "nothing\n";
  text += number(log.blocks, "block") + ", " + number(log.bytes, "byte") + ", complete to epoch " +
          epoch(log.reaches) + "\n";
  text += text_of_end(files, incarnation, log);
  text += "    to replay: " + number(log.records, "record") + ", " + std::to_string(log.entries) +
          (log.entries == 1 ? " entry\n" : " entries\n");
  if (log.ignored_records != 0) {
    text +=
        "    does not count, for it is above D: " + number(log.ignored_records, "record") + "\n";
  }
  return text;
}

std::string text_of(FileSystem& files, const IncarnationReport& incarnation) {
  std::string text = "start " + std::to_string(incarnation.number) + ", epochs from " +
                     epoch(incarnation.first_epoch) + ": ";
  if (!incarnation.closed) {
    text += "ended without a shutdown, not recovered since";
  } else {
    text += incarnation.clean ? "shut down cleanly" : "ended without a shutdown, recovered since";
  }
  text += "; D = " + epoch(incarnation.durable) + "\n";
  if (lost_something(incarnation)) {
    text += "  DAMAGED: epochs up to " + epoch(incarnation.recorded) +
            " were durable, the logs can be read up to epoch " + epoch(incarnation.readable) + "\n";
  }
  for (const LogReport& log : incarnation.logs) text += text_of_log(files, incarnation, log);
  return text;
}

std::string damage_of(const CheckpointReport& checkpoint) {
  std::string text;
  if (checkpoint.fatal_blocks != 0) {
    text += "  DAMAGED: " + number(checkpoint.fatal_blocks, "block") +
            " of the catalog, or not to be told from it; no start can leave them out\n";
  }
  if (checkpoint.searched_files != 0) {
    text += "  DAMAGED: the lists of blocks of " + number(checkpoint.searched_files, "file") +
            ", whose blocks recovery_skip_damaged_blocks=on would search for\n";
  }
  if (checkpoint.skippable_blocks != 0) {
    text += "  DAMAGED: " + number(checkpoint.skippable_blocks, "block") + " with " +
            number(checkpoint.skippable_records, "row") +
            ", which recovery_skip_damaged_blocks=on would leave out\n";
  }
  return text;
}

std::string text_of(const CheckpointReport& checkpoint) {
  if (checkpoint.number == 0) return "checkpoint: none\n";
  return "checkpoint " + std::to_string(checkpoint.number) +
         ", of what was committed before epoch " + epoch(checkpoint.begun) + ": " +
         number(checkpoint.files, "file") + ", " + number(checkpoint.bytes, "byte") + ", " +
         number(checkpoint.blocks, "block") + ", " + number(checkpoint.records, "row") +
         " to load\n" + damage_of(checkpoint);
}

}  // namespace

std::string recovery_text(FileSystem& files, const RecoveryReport& report, bool sound) {
  std::string text = "database " + report.database.text() + ", last start " +
                     std::to_string(report.last_incarnation) + "\n";
  text += text_of(report.checkpoint);
  for (const IncarnationReport& incarnation : report.incarnations)
    text += text_of(files, incarnation);
  text += sound ? "recovery" : "recovery with recovery_accept_data_loss=on";
  text += " would replay " + number(report.replay_bytes, "byte") + ": " +
          number(report.records, "record") + ", " + std::to_string(report.entries) +
          (report.entries == 1 ? " entry" : " entries") + "; new epochs begin at " +
          epoch(report.first_epoch) + "\n";
  return text;
}

}  // namespace pgsilo
