// What a restore costs of an archive of many starts that lacks one of them.
#include <algorithm>
#include <ctime>

#include "tests/crash/archive_bed.h"

namespace pgsilo {
namespace {

class ArchiveGapTest : public ArchiveEndsTest {
 protected:
  static Incarnation start_of(uint64_t number, const Epoch& archived) {
    Incarnation start;
    start.number = number;
    start.id = {.high = 7, .low = number};
    start.first_epoch = Epoch(archived.value() + 10 * number);
    start.durable = Epoch(start.first_epoch.value() + 1);
    return start;
  }

  static std::string blocks_of(const Incarnation& start, const HistoryPoint& parent,
                               BlockPlace place) {
    std::string bytes(size_t{4} * log_format::block_unit, '\0');
    const LogBegin begin{.database = {},
                         .incarnation = start.id,
                         .parent = parent,
                         .first_epoch = start.first_epoch,
                         .segment_bytes = bytes.size(),
                         .logs = 1,
                         .writer = "test"};
    BlockHeader header;
    header.kind = BlockKind::begin;
    header.incarnation = start.number;
    header.incarnation_tag = short_identity(start.id);
    header.largest_epoch = start.durable;
    const std::string payload = encode_log_begin(begin);
    bytes.replace(log_format::block_header_bytes, payload.size(), payload);
    place.offset = 0;
    const size_t first = seal_block(bytes.data(), place, header, payload.size(), nullptr);
    header.kind = BlockKind::records;
    header.number = 1;
    place.offset = first;
    const BatchTrailer trailer{.complete = start.durable, .last_data = {start.durable}};
    seal_block(bytes.data() + first, place, header, 0, &trailer);
    return bytes;
  }

  // Starts that came behind the archived one, each with a segment of its own.
  void archive_starts(uint64_t starts) {
    BackupLabel label;
    BackupSource source;
    SourceLogs logs;
    ASSERT_TRUE(extend(&label, &source, &logs)) << why_;
    LogDirectory log(*disk_, "/archive/wal");
    ASSERT_TRUE(log.read_identity(&why_)) << why_;
    std::vector<uint64_t> numbers;
    ASSERT_TRUE(log.list_segments(&numbers).ok());
    const Incarnation& copied = label.control.incarnations.back();
    HistoryPoint parent = {copied.id, label.stop};
    for (uint64_t i = 1; i <= starts; ++i) {
      const Incarnation start = start_of(copied.number + i, label.stop);
      const BlockPlace place{.log = log.log(), .segment = numbers.back() + i, .offset = 0};
      ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, log.segment_path(place.segment),
                                              blocks_of(start, parent, place)));
      parent = {start.id, start.durable};
    }
    // As if an archiver had come to its end there.
    const ArchivedEnd end{.log = log.log(),
                          .segment = numbers.back() + starts,
                          .incarnation = copied.number + starts,
                          .incarnation_tag = short_identity(parent.incarnation),
                          .next_number = 1};
    ASSERT_TRUE(
        write_archive_progress(*disk_, "/archive", {.ends = {end}, .tip = {}, .had = {}}).ok());
    first_behind_ = log.segment_path(numbers.back() + 1);
    last_ = parent.durable;
  }

  // Of the processor's time the least of some runs. `*label`: what can be had.
  double cost_of_extending(BackupLabel* label, std::string* loss) {
    double least = 1e9;
    for (int run = 0; run < 3; ++run) {
      SourceLogs logs;
      loss->clear();
      EXPECT_EQ(read_label_file(*disk_, "/backup", label, &why_), LabelRead::ok);
      BackupSource source = source_of_backup("/backup", *label);
      EXPECT_TRUE(add_archive(*disk_, "/archive", &source, &why_)) << why_;
      EXPECT_TRUE(logs.find(*disk_, source, label->control, &why_) && logs.scan(*disk_, &why_));
      const std::clock_t begun = std::clock();
      EXPECT_TRUE(extend_label(*disk_, logs, label, loss, &why_)) << why_;
      least = std::min(least, static_cast<double>(std::clock() - begun));
    }
    return least;
  }

  std::string first_behind_;
  Epoch last_;
};

// Each start behind the gap leads there, and none further.
TEST_F(ArchiveGapTest, IsReachedOnceForAllStartsBehindIt) {
  begin(340);
  ASSERT_NO_FATAL_FAILURE(begin_archive(with(1)));
  ASSERT_NO_FATAL_FAILURE(archive_starts(1500));
  BackupLabel label;
  std::string loss;
  const double whole = cost_of_extending(&label, &loss);
  EXPECT_EQ(loss, "");
  EXPECT_EQ(label.stop, last_);
  ASSERT_TRUE(disk_->remove(first_behind_).ok());
  const double behind_a_gap = cost_of_extending(&label, &loss);
  EXPECT_NE(loss.find("start 3 of the server went on from a state that is not there"),
            std::string::npos)
      << loss;
  EXPECT_LT(label.stop, last_);
  EXPECT_LT(behind_a_gap, 4 * whole);
}

}  // namespace
}  // namespace pgsilo
