// Interactive blocks, snapshots, sequences.
#include <array>

#include "catalog/sequence/sequence_state.h"
#include "tests/scaling/engine_bed.h"
#include "tests/scaling/memory_names.h"

namespace pgsilo::scaling {
namespace {

// BEGIN; UPDATE by key; COMMIT.
class BlockUpdate final : public EngineBed {
 public:
  BlockUpdate(unsigned workers, bool refers)
      : EngineBed(workers), refers_(refers), next_(workers) {}
  std::vector<Part> parts() const override {
    if (refers_) return {{"block: update that refers to a row to which all refer"}};
    return {{"block: update of rows of its own"}};
  }
  void load() override {
    load_rows(rows_, (worker_count() + 1) * rows_apart);
    load_rows(parents_, (parent_count + 1) * rows_apart);
  }
  void run(size_t, unsigned index) override {
    BedWorker& w = worker(index);
    begin(w, TransactionMode::interactive);
    expect(w.transaction.share_relation(rows_));
    uint64_t turn = next_[index]++;
    if (refers_) {
      Key parent(turn % parent_count * rows_apart + rows_between);
      expect(w.transaction.get(parents_, parent.view(), w.buffer, &w.row, ReadPurpose::referenced,
                               {LockMode::key_share}));
    }
    update(w, rows_, own_row(index, turn), ReadPurpose::for_update);
    expect(w.transaction.end_statement());
    end(w);
  }

 private:
  // How many lines a lock has in its table is a matter of where its record lies.
  static constexpr uint64_t parent_count = 64;

  const bool refers_;
  Relation& rows_ = create_relation();
  Relation& parents_ = create_relation();
  std::vector<PerWorker> next_;
};

// A statement, or a block that only reads, at a snapshot of its own.
class SnapshotRead final : public EngineBed {
 public:
  explicit SnapshotRead(unsigned workers) : EngineBed(workers) {}
  std::vector<Part> parts() const override { return {{"read at a snapshot"}}; }
  void load() override { load_rows(rows_, rows_apart); }
  void run(size_t, unsigned index) override {
    BedWorker& w = worker(index);
    expect(w.transaction.begin_snapshot());
    expect(w.transaction.begin_statement());
    expect(w.transaction.get(rows_, Key(1).view(), w.buffer, &w.row));
    end(w);
  }

 private:
  Relation& rows_ = create_relation();
};

// nextval() in a one-shot that does nothing else.
class NextValue final : public EngineBed {
 public:
  explicit NextValue(unsigned workers) : EngineBed(workers), scribes_(workers) {
    name_memory("sequence", &state_, sizeof state_);
  }
  std::vector<Part> parts() const override { return {{"nextval of one sequence"}}; }
  void load() override {
    begin(loader());
    expect(state_.insert_row(loader().transaction));
    expect(loader().transaction.commit());
  }
  void open(unsigned index) override {
    EngineBed::open(index);
    scribes_[index] = std::make_unique<Transaction>(worker(index).context, worker(index).settings);
  }
  void run(size_t, unsigned index) override {
    BedWorker& w = worker(index);
    begin(w);
    SequenceGrant grant;
    expect(state_.take(w.transaction, *scribes_[index], definition_, &grant));
    end(w);
  }

 private:
  Relation& sequence_ = create_relation();
  Relation& states_ = create_relation();
  const SequenceDefinition definition_;
  SequenceState state_{sequence_, states_, {}, Epoch(0)};
  std::vector<std::unique_ptr<Transaction>> scribes_;
};

}  // namespace

std::vector<WorkloadKind> block_kinds() {
  return {{[](unsigned workers) { return std::make_unique<BlockUpdate>(workers, false); }},
          {[](unsigned workers) { return std::make_unique<BlockUpdate>(workers, true); }, 64},
          {[](unsigned workers) { return std::make_unique<SnapshotRead>(workers); }},
          {[](unsigned workers) { return std::make_unique<NextValue>(workers); }, 64}};
}

}  // namespace pgsilo::scaling
