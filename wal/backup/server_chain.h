// The starts that a server's present one went on from, as its control file tells and the begin
// blocks in its logs and in an archive: whether they lead to what is archived (docs/backup.md, the
// archive). Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "wal/backup/archive_directory.h"
#include "wal/backup/first_blocks.h"
#include "wal/layout/control_file.h"

namespace pgsilo {

// Whether a server's control file lists a start as its own, by its tag.
bool is_listed(const ControlFile& control, uint64_t tag);

class ServerChain {
 public:
  // `control`: the server's control file, which names its present start.
  ServerChain(FileSystem& files, std::vector<FirstBlocks*> archived,
              std::vector<FirstBlocks*> server, const ControlFile& control)
      : files_(files),
        archived_(std::move(archived)),
        server_(std::move(server)),
        control_(control) {}

  enum class Leads : uint8_t {
    to_it,
    past_it,  // or to an earlier state of it
    nowhere,  // it cannot be followed so far
  };
  // Or to `had`, which is no earlier.
  Leads leads_to(const ArchivedTip& tip, const ArchivedHad& had);
  // Where leads_to() got: a start's number, and what that one went on from.
  uint64_t last_number() const { return last_number_; }
  const HistoryPoint& last_parent() const { return last_parent_; }

  // The newest start before the present one of which the archive has anything that counts, none
  // before that of `tip`; none: there is none, or that one is not reached.
  std::optional<ArchivedTip> newest_before(const std::optional<ArchivedTip>& tip);

  // The newest start, none before that of `tip`, of which the blocks in the archive say themselves
  // that some of it is durable; none: none does.
  std::optional<ArchivedTip> newest_proven(const std::optional<ArchivedTip>& tip);

  // Then no answer counts.
  const ReadFailure& failure() const { return failure_; }

 private:
  struct Begin {
    HistoryPoint parent;
    uint64_t number = 0;  // the start's
  };
  using States = std::map<uint64_t, Epoch>;  // of starts, by their tags
  States states_of(const ArchivedHad& had, const ArchivedTip& tip);
  std::optional<Begin> begin_of(const Uuid& start);
  Epoch logged_up_to(uint64_t tag, Epoch counted);
  Epoch logged_in(const FirstBlocks& log, uint64_t segment, Epoch counted,
                  Epoch* recorded = nullptr);
  Epoch recorded_in(uint64_t tag);
  std::map<uint64_t, uint64_t> archived_numbers() const;

  FileSystem& files_;
  const std::vector<FirstBlocks*> archived_;
  const std::vector<FirstBlocks*> server_;
  const ControlFile& control_;
  uint64_t last_number_ = 0;
  HistoryPoint last_parent_;
  ReadFailure failure_;
};

}  // namespace pgsilo
