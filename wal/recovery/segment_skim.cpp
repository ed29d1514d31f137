#include "wal/recovery/segment_skim.h"

#include <algorithm>
#include <optional>

#include "base/file.h"
#include "wal/layout/log_directory.h"
#include "wal/log/segment_reader.h"

namespace pgsilo {
namespace {

// How much of a prepared segment must be as it was prepared.
constexpr uint64_t beginning_bytes = uint64_t{64} << 10;

struct Beginning {
  std::optional<BlockHeader> first;  // the first block
  bool unused = false;               // it was prepared and not written to
};

// Neither where it cannot be read: `scan` says why.
Beginning look_at_beginning(FileSystem& files, SegmentScan& scan, const Uuid& log) {
  SegmentReader reader(files, scan.path, scan.number, log);
  Beginning beginning;
  if (reader.open(beginning_bytes).ok()) {
    scan.bytes = reader.bytes();
    std::optional<BlockView> block = reader.next(0, log_format::block_unit);
    if (block) beginning.first = block->header;
    if (!block && reader.result().ok()) beginning.unused = reader.begins_unused();
  }
  scan.result = reader.result();
  return beginning;
}

// Without catalog rows, for which recovery reads a segment before it knows what to restore.
bool goes_on(const BlockHeader& first, const BlockHeader& next) {
  return first.incarnation == next.incarnation && first.incarnation_tag == next.incarnation_tag &&
         first.number < next.number && !next.system_before;
}

// Of the incarnation that goes on from a trusted segment into this one: all before is on disk, if
// `proven` is durable. A batch is written when the one before is synced; and what a durable batch
// holds is durable (docs/recovery.md).
bool proves_what_is_before(const SegmentScan& scan, uint64_t incarnation, Epoch proven) {
  if (scan.runs.empty()) return false;
  const BlockRun& run = scan.runs.front();
  return run.begin == 0 && run.incarnation == incarnation && run.first_complete != Epoch(0) &&
         run.first_complete <= proven;
}

}  // namespace

bool SegmentSkim::known(uint64_t incarnation) const {
  return std::any_of(control_.incarnations.begin(), control_.incarnations.end(),
                     [&](const Incarnation& each) { return each.number == incarnation; });
}

void SegmentSkim::trust() {
  for (size_t log = 0; log < scans_.size(); ++log) trust_log(log);
}

void SegmentSkim::trust_log(size_t log) {
  std::vector<SegmentScan>& scans = scans_[log];
  std::optional<BlockHeader> first;
  size_t used = 0;  // before the unused ones at the end
  for (size_t i = 0; i < scans.size(); ++i) {
    Beginning beginning = look_at_beginning(files_, scans[i], logs_[log]->log());
    const std::optional<BlockHeader>& next = beginning.first;
    if (first && next && known(first->incarnation) && goes_on(*first, *next))
      scans[i - 1].runs.push_back(trusted_run(*first, *next, scans[i - 1].bytes));
    first = next;
    if (!beginning.unused) used = i + 1;
  }
  size_t scanned = control_.all_closed() ? used : used + 1;
  for (size_t i = scanned; i < scans.size(); ++i) scans[i].skipped = true;
}

// An epoch up to which the incarnation is known to have become durable.
Epoch SegmentSkim::proven(const Incarnation& incarnation) const {
  if (incarnation.closed) return incarnation.durable;
  Epoch recorded;
  for (const auto& scans : scans_) {
    for (const SegmentScan& scan : scans) {
      for (const BlockRun& run : scan.runs) {
        if (run.incarnation == incarnation.number) recorded = std::max(recorded, run.recorded);
      }
    }
  }
  return recorded;
}

std::vector<SegmentIndex> SegmentSkim::doubt() {
  std::vector<SegmentIndex> doubted;
  doubt_trusted(doubted);
  doubt_skipped(doubted);
  return doubted;
}

void SegmentSkim::doubt_skipped(std::vector<SegmentIndex>& doubted) {
  if (control_.all_closed()) return;
  for (size_t log = 0; log < scans_.size(); ++log) {
    std::vector<SegmentScan>& scans = scans_[log];
    for (size_t i = 1; i < scans.size(); ++i) {
      if (!scans[i].skipped || scans[i - 1].skipped || scans[i - 1].runs.empty()) continue;
      scans[i].skipped = false;
      doubted.push_back({log, i});
    }
  }
}

void SegmentSkim::doubt_trusted(std::vector<SegmentIndex>& doubted) {
  for (const Incarnation& incarnation : control_.incarnations) {
    Epoch durable = proven(incarnation);
    for (size_t log = 0; log < scans_.size(); ++log) {
      std::vector<SegmentScan>& scans = scans_[log];
      size_t i = scans.size();
      while (i > 0 && !(is_trusted(scans[i - 1]) &&
                        scans[i - 1].runs.front().incarnation == incarnation.number)) {
        --i;
      }
      if (i == 0 || proves_what_is_before(scans[i], incarnation.number, durable)) continue;
      scans[i - 1].runs.clear();
      doubted.push_back({log, i - 1});
    }
  }
}

}  // namespace pgsilo
