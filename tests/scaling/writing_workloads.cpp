// One-shots that write.
#include <string>

#include "base/hash.h"
#include "tests/scaling/engine_bed.h"

namespace pgsilo::scaling {
namespace {

// Each worker updates rows that are its alone.
class OwnUpdate final : public EngineBed {
 public:
  explicit OwnUpdate(unsigned workers) : EngineBed(workers), next_(workers) {}
  std::vector<Part> parts() const override { return {{"update of rows of its own"}}; }
  void load() override { load_rows(rows_, (worker_count() + 1) * rows_apart); }
  void run(size_t, unsigned index) override {
    BedWorker& w = worker(index);
    begin(w);
    update(w, rows_, own_row(index, next_[index]++));
    end(w);
  }

 private:
  Relation& rows_ = create_relation();
  std::vector<PerWorker> next_;
};

// Each worker updates the row that its neighbour has updated before.
class PassedUpdate final : public EngineBed {
 public:
  explicit PassedUpdate(unsigned workers) : EngineBed(workers), next_(workers) {}
  std::vector<Part> parts() const override {
    return {{"update of a row that another has updated"}};
  }
  void load() override { load_rows(rows_, (worker_count() + 1) * rows_apart); }
  void run(size_t, unsigned index) override {
    BedWorker& w = worker(index);
    begin(w);
    auto owner = static_cast<unsigned>((index + next_[index]++) % worker_count());
    update(w, rows_, own_row(owner, 0));
    end(w);
  }

 private:
  Relation& rows_ = create_relation();
  std::vector<PerWorker> next_;
};

// Who refers to a row looks at it, and writes nothing of it.
class ReferringUpdate final : public EngineBed {
 public:
  explicit ReferringUpdate(unsigned workers) : EngineBed(workers), next_(workers) {}
  std::vector<Part> parts() const override {
    return {{"update that refers to a row to which all refer"}};
  }
  void load() override {
    load_rows(rows_, (worker_count() + 1) * rows_apart);
    load_rows(parents_, rows_apart);
  }
  void run(size_t, unsigned index) override {
    BedWorker& w = worker(index);
    begin(w);
    expect(w.transaction.get(parents_, Key(rows_between).view(), w.buffer, &w.row,
                             ReadPurpose::referenced));
    update(w, rows_, own_row(index, next_[index]++));
    end(w);
  }

 private:
  Relation& rows_ = create_relation();
  Relation& parents_ = create_relation();
  std::vector<PerWorker> next_;
};

enum class Where : uint8_t { ascending, anywhere, hidden };

class Insert final : public EngineBed {
 public:
  Insert(unsigned workers, Where where) : EngineBed(workers), where_(where), next_(workers) {}
  std::vector<Part> parts() const override {
    if (where_ == Where::ascending) return {{"insert, keys ascending for each worker"}};
    return {{where_ == Where::anywhere ? "insert, keys anywhere" : "insert without a key"}};
  }
  void load() override {
    for (unsigned index = 0; index < worker_count(); ++index) {
      for (int i = 0; i < rows_before; ++i) {
        begin(loader());
        insert(loader(), index);
        expect(loader().transaction.commit());
      }
    }
  }
  void run(size_t, unsigned index) override {
    BedWorker& w = worker(index);
    begin(w);
    insert(w, index);
    end(w);
  }

 private:
  static constexpr int rows_before = 60;

  uint64_t next_number(BedWorker& w, unsigned index) {
    if (where_ == Where::hidden) return rows_.next_row_id(w.context.index());
    uint64_t number = uint64_t{index + 1} << 32 | next_[index]++;
    return where_ == Where::ascending ? number : hash_integer(number);
  }
  void insert(BedWorker& w, unsigned index) {
    const std::array<char, row_bytes> row{};
    expect(
        w.transaction.insert(rows_, Key(next_number(w, index)).view(), {row.data(), row.size()}));
  }

  const Where where_;
  Relation& rows_ = create_relation();
  std::vector<PerWorker> next_;
};

// Rows are deleted; when that is durable they are taken out of the tree, and their memory freed.
class Delete final : public EngineBed {
 public:
  Delete(unsigned workers, bool beside_an_idle_block)
      : EngineBed(workers), beside_idle_(beside_an_idle_block), next_(workers) {}
  std::vector<Part> parts() const override {
    if (beside_idle_) {
      return {{"delete beside an idle block"},
              {"its unhooking beside an idle block", true},
              {"read by key beside an idle block"}};
    }
    return {{"delete"}, {"its unhooking", true}};
  }
  void load() override {
    load_rows(rows_, (worker_count() + 1) * rows_of_each);
    if (!beside_idle_) return;
    idle_ = make_worker();
    begin(*idle_, TransactionMode::interactive);
  }
  void run(size_t part, unsigned index) override {
    BedWorker& w = worker(index);
    if (part == 1) {
      w.housekeep();
      return;
    }
    begin(w);
    if (part == 2) {
      Key last((worker_count() + 1) * rows_of_each - 1);
      expect(w.transaction.get(rows_, last.view(), w.buffer, &w.row));
      end(w);
      return;
    }
    Key key(index * rows_of_each + next_[index]++);
    expect(w.transaction.get(rows_, key.view(), w.buffer, &w.row));
    expect(w.transaction.remove(w.row));
    expect(w.transaction.commit());
  }

 private:
  static constexpr uint64_t rows_of_each = 120;

  const bool beside_idle_;
  Relation& rows_ = create_relation();
  std::vector<PerWorker> next_;
  std::unique_ptr<BedWorker> idle_;
};

template <typename Kind, typename... Arguments>
WorkloadKind kind(unsigned rounds, Arguments... arguments) {
  return {[=](unsigned workers) { return std::make_unique<Kind>(workers, arguments...); }, rounds};
}

}  // namespace

std::vector<WorkloadKind> writing_kinds() {
  return {kind<OwnUpdate>(16),
          kind<PassedUpdate>(64),
          kind<ReferringUpdate>(16),
          kind<Insert>(60, Where::ascending),
          kind<Insert>(60, Where::anywhere),
          kind<Insert>(60, Where::hidden),
          kind<Delete>(40, false),
          kind<Delete>(40, true)};
}

}  // namespace pgsilo::scaling
