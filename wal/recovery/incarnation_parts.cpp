#include "wal/recovery/incarnation_parts.h"

#include <algorithm>

#include "wal/layout/log_directory.h"
#include "wal/recovery/log_analyzer.h"

namespace pgsilo {
namespace {

// There is one: Wal::open checked.
size_t directory_of(const std::vector<LogDirectory*>& logs, const Uuid& log) {
  size_t index = 0;
  while (index < logs.size() && logs[index]->log() != log) ++index;
  return index;
}

void add_scans(const Incarnation& incarnation, const std::vector<SegmentScan>& scans,
               IncarnationParts& parts, LogPart& part) {
  for (const SegmentScan& scan : scans) {
    for (const BlockRun& run : scan.runs) {
      if (run.incarnation != incarnation.number || is_others(incarnation, run)) continue;
      parts.has_blocks = true;
      parts.recorded = std::max(parts.recorded, run.recorded);
      if (run.first_number != part.next_number) part.gap = true;
      if (part.gap) {
        if (part.prefix.empty()) part.end_path = scan.path;
        continue;
      }
      part.next_number = run.next_number;
      part.prefix.push_back({&scan, &run});
      part.end_path = scan.path;
      part.end_offset = run.end;
      if (!run.trailers.empty())
        part.reaches = std::max(part.reaches, run.trailers.back().complete);
    }
  }
}

std::string start_text(uint64_t number) {
  return "start " + std::to_string(number) + " of the server";
}

bool is_durable(const BatchTrailer& trailer, const IncarnationParts& parts) {
  if (trailer.last_data.size() != parts.logs.size()) return false;
  for (size_t log = 0; log < parts.logs.size(); ++log) {
    if (trailer.last_data[log] > parts.logs[log].reaches) return false;
  }
  return true;
}

}  // namespace

bool made_checkpoint(const ControlFile& control, const Incarnation& incarnation) {
  return control.checkpoint.exists() && incarnation.number == control.checkpoint.incarnation;
}

Epoch first_needed(const ControlFile& control, const Incarnation& incarnation) {
  return made_checkpoint(control, incarnation) ? control.checkpoint.begun : incarnation.first_epoch;
}

bool is_others(const Incarnation& incarnation, const BlockRun& run) {
  return incarnation.id != Uuid{} && run.incarnation_tag != short_identity(incarnation.id);
}

IncarnationParts collect_parts(const ControlFile& control, const Incarnation& incarnation,
                               const std::vector<LogDirectory*>& logs,
                               const std::vector<std::vector<SegmentScan>>& scans,
                               const ProgressMark* mark) {
  IncarnationParts parts;
  bool cut_here = made_checkpoint(control, incarnation);
  if (cut_here) parts.recorded = control.checkpoint.recorded;
  if (mark != nullptr) parts.recorded = std::max(parts.recorded, mark->recorded);
  for (const LogIdentity& identity : incarnation.logs) {
    size_t directory = directory_of(logs, identity.log);
    parts.files_missing |= scans[directory].empty();
    LogPart part;
    part.directory = logs[directory];
    part.end_path = part.directory->path();
    part.reaches = Epoch(first_needed(control, incarnation).value() - 1);
    const LogCut* cut = cut_here ? control.checkpoint.cut_of(identity.log) : nullptr;
    part.next_number = cut == nullptr ? 0 : cut->block;
    if (incarnation.id != Uuid{}) part.known_blocks = part.next_number + 1;
    if (const LogProgress* progress = progress_of(mark, identity.log))
      part.known_blocks = std::max(part.known_blocks, progress->blocks);
    add_scans(incarnation, scans[directory], parts, part);
    parts.logs.push_back(std::move(part));
  }
  return parts;
}

void ask_heirs(const Incarnation& incarnation, const std::vector<std::vector<SegmentScan>>& scans,
               IncarnationParts& parts) {
  if (incarnation.id == Uuid{}) return;
  for (const std::vector<SegmentScan>& log : scans) {
    for (const SegmentScan& scan : log) {
      for (const BlockRun& run : scan.runs) {
        if (run.parent.incarnation != incarnation.id || run.parent.durable <= parts.recorded)
          continue;
        parts.recorded = run.parent.durable;
        parts.heir = start_text(run.incarnation) + " began in \"" + scan.path + "\"";
      }
    }
  }
}

Epoch proven_epoch(const ControlFile& control, const Incarnation& incarnation,
                   const IncarnationParts& parts) {
  Epoch durable = Epoch(first_needed(control, incarnation).value() - 1);
  for (const LogPart& part : parts.logs) {
    for (const LogPart::Piece& piece : part.prefix) {
      for (const BatchTrailer& trailer : piece.run->trailers) {
        if (trailer.complete > durable && is_durable(trailer, parts)) durable = trailer.complete;
      }
    }
  }
  return durable;
}

bool lacks_blocks(const Incarnation& incarnation, const LogPart& part) {
  return !incarnation.closed && part.next_number < part.known_blocks;
}

IncarnationReport report_on(const Incarnation& incarnation, const IncarnationParts& parts) {
  IncarnationReport report{.number = incarnation.number,
                           .first_epoch = incarnation.first_epoch,
                           .closed = incarnation.closed,
                           .clean = incarnation.clean,
                           .recorded = {},
                           .readable = {},
                           .durable = {},
                           .logs = {}};
  for (const LogPart& part : parts.logs) {
    LogReport log;
    log.log = part.directory->log();
    log.path = part.directory->path();
    log.reaches = part.reaches;
    log.end_path = part.end_path;
    log.end_offset = part.end_offset;
    log.gap = part.gap;
    for (const LogPart::Piece& piece : part.prefix) {
      log.blocks += piece.run->next_number - piece.run->first_number;
      log.bytes += piece.run->end - piece.run->begin;
    }
    report.logs.push_back(std::move(log));
  }
  return report;
}

std::string describe_loss(const Incarnation& incarnation, const IncarnationParts& parts,
                          Epoch known, Epoch durable) {
  bool none_named = std::none_of(parts.logs.begin(), parts.logs.end(), [&](const LogPart& part) {
    return part.gap || lacks_blocks(incarnation, part);
  });
  std::string start = start_text(incarnation.number);
  std::string message;
  if (none_named && !parts.heir.empty()) {
    message = "the logs of " + start + " end too early: " + parts.heir +
              ", and went on from more than they hold\n";
    none_named = false;
  }
  for (const LogPart& part : parts.logs) {
    if (part.gap || (none_named && part.reaches < known)) {
      message += damaged_log(part.end_path, part.end_offset) + "\n";
    } else if (lacks_blocks(incarnation, part)) {
      message += "log \"" + part.end_path + "\" ends too early, at offset " +
                 std::to_string(part.end_offset) + ": " + start + " had written block " +
                 std::to_string(part.known_blocks - 1) + ", the next one here would be " +
                 std::to_string(part.next_number) + "\n";
    }
  }
  message += durable < known
                 ? "DETAIL:  S" + start.substr(1) + " had made everything up to epoch " +
                       std::to_string(known.value()) + " durable; the logs can be read up to epoch "
                 : "DETAIL:  What it held may have been durable; the logs can be read up to epoch ";
  return message + std::to_string(durable.value()) +
         ".\nHINT:  If the log that belongs here is elsewhere, put it back. Set "
         "recovery_accept_data_loss=on to start from there, giving up what was committed after it.";
}

bool is_parent(const ControlFile& control, const BlockRun& run) {
  return std::ranges::any_of(control.incarnations, [&](const Incarnation& incarnation) {
    const Uuid& parent = incarnation.parent.incarnation;
    return parent != Uuid{} && short_identity(parent) == run.incarnation_tag;
  });
}

// The oldest one went on from what was forgotten before. One that logged nothing hands on what it
// went on from, though it may have made the checkpoint.
HistoryPoint forget_incarnations(ControlFile* control) {
  std::vector<Incarnation>& known = control->incarnations;
  HistoryPoint newest = known.empty() ? HistoryPoint{} : known.front().parent;
  std::erase_if(known, [&](const Incarnation& incarnation) {
    const bool logged = incarnation.durable >= incarnation.first_epoch;
    const bool is_empty = incarnation.clean && !logged;
    if (may_be_met(*control, incarnation) && !is_empty) return false;
    if (logged) newest = {incarnation.id, incarnation.durable};
    return true;
  });
  return newest;
}

}  // namespace pgsilo
