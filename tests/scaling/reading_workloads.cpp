// One-shots that only read. All workers read the same rows.
#include "tests/scaling/engine_bed.h"

namespace pgsilo::scaling {
namespace {

constexpr uint64_t row_count = 1000;

class KeyRead final : public EngineBed {
 public:
  explicit KeyRead(unsigned workers) : EngineBed(workers), next_(workers) {}
  std::vector<Part> parts() const override { return {{"read by key"}}; }
  void load() override { load_rows(rows_, row_count); }
  void run(size_t, unsigned index) override {
    BedWorker& w = worker(index);
    begin(w);
    uint64_t row = next_[index]++ % row_count;
    expect(w.transaction.get(rows_, Key(row).view(), w.buffer, &w.row));
    end(w);
  }

 private:
  Relation& rows_ = create_relation();
  std::vector<PerWorker> next_;
};

class RangeRead final : public EngineBed {
 public:
  explicit RangeRead(unsigned workers) : EngineBed(workers) {}
  std::vector<Part> parts() const override { return {{"read by range"}}; }
  void load() override { load_rows(rows_, row_count); }
  void run(size_t, unsigned index) override {
    BedWorker& w = worker(index);
    begin(w);
    Key first(100), end_key(200);
    KeyRange range{KeyBound::inclusive(first.view()), KeyBound::exclusive(end_key.view())};
    TransactionScan scan(w.transaction, rows_, range, ScanDirection::forward, w.buffer);
    uint64_t found = 0;
    while (scan.next(&w.row) == TransactionStatus::ok) ++found;
    PGSILO_CHECK(found == 100);
    end(w);
  }

 private:
  Relation& rows_ = create_relation();
};

class IndexRead final : public EngineBed {
 public:
  explicit IndexRead(unsigned workers) : EngineBed(workers) {}
  std::vector<Part> parts() const override { return {{"read by secondary index"}}; }
  void load() override {
    load_rows(rows_, row_count);
    Transaction& transaction = loader().transaction;
    begin(loader());
    for (uint64_t row = 0; row < row_count; ++row)
      expect(transaction.insert(entries_, EntryKey(row / 10, row).view(), Key(row).view()));
    expect(transaction.commit());
  }
  void run(size_t, unsigned index) override {
    BedWorker& w = worker(index);
    begin(w);
    Key first(7), end_key(8);
    KeyRange range{KeyBound::inclusive(first.view()), KeyBound::exclusive(end_key.view())};
    TransactionScan scan(w.transaction, entries_, range, ScanDirection::forward, w.entry_buffer);
    while (scan.next(&w.entry) == TransactionStatus::ok)
      expect(w.transaction.get_via_entry(rows_, w.entry, w.buffer, &w.row));
    PGSILO_CHECK(w.row.key() == Key(79).view());
    end(w);
  }

 private:
  Relation& rows_ = create_relation();
  Relation& entries_ = create_relation();
};

}  // namespace

std::vector<WorkloadKind> reading_kinds() {
  return {{[](unsigned workers) { return std::make_unique<KeyRead>(workers); }},
          {[](unsigned workers) { return std::make_unique<RangeRead>(workers); }},
          {[](unsigned workers) { return std::make_unique<IndexRead>(workers); }}};
}

}  // namespace pgsilo::scaling
