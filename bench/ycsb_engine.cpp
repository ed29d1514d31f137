// YCSB at the interface of storage/, in the variant of Silo's evaluation (SOSP 2013, section 5.2):
// 80 % of the transactions read one record, 20 % read and rewrite one; records of 100 bytes under
// keys of 8, keys uniform. docs/benchmarking.md says how.
#include <array>
#include <cstdio>
#include <cstring>

#include "base/byte_order.h"
#include "base/check.h"
#include "base/random.h"
#include "bench/engine_run.h"
#include "storage/transaction/transaction_scan.h"

namespace pgsilo {
namespace {

constexpr const char* usage = "  --keys N           records (10000000)\n";
constexpr size_t record_bytes = 100;
constexpr uint64_t read_percent = 80;
constexpr std::array<std::string_view, 2> type_names = {"read", "read_modify_write"};

class Key {
 public:
  explicit Key(uint64_t number) { store_be64(bytes_, number); }
  std::string_view view() const { return {bytes_, sizeof bytes_}; }

 private:
  char bytes_[8];
};

class YcsbClient final : public EngineClient {
 public:
  YcsbClient(Relation& records, uint64_t keys, uint64_t seed)
      : records_(records), keys_(keys), random_(seed) {}

  size_t draw() override {
    modifies_ = random_.below(100) >= read_percent;
    key_ = random_.below(keys_);
    return modifies_ ? 1 : 0;
  }

  TransactionStatus run(Transaction& transaction) override {
    RowRef row;
    TransactionStatus status = transaction.begin_statement();
    if (status == TransactionStatus::ok)
      status = transaction.get(records_, Key(key_).view(), buffer_, &row);
    if (status != TransactionStatus::ok || !modifies_) return status;
    std::array<char, record_bytes> record;
    std::memcpy(record.data(), row.row.data(), record.size());
    store_le64(record.data(), load_le64(record.data()) + 1);
    return transaction.update(row, {record.data(), record.size()});
  }

 private:
  Relation& records_;
  const uint64_t keys_;
  Random random_;
  Arena arena_;
  RowBuffer buffer_{arena_};
  bool modifies_ = false;
  uint64_t key_ = 0;
};

class YcsbWorkload final : public EngineWorkload {
 public:
  YcsbWorkload(Relation& records, uint64_t keys, uint64_t seed)
      : records_(records), keys_(keys), seed_(seed) {}

  std::string_view name() const override { return "ycsb"; }
  std::span<const std::string_view> types() const override { return type_names; }

  // A range of keys, in order. The records begin with zero: what is added to it is checked.
  void load(Transaction& transaction, unsigned worker, unsigned workers) override {
    constexpr uint64_t rows_per_transaction = 500;
    std::array<char, record_bytes> record{};
    uint64_t end = keys_ * (worker + 1) / workers;
    for (uint64_t key = keys_ * worker / workers; key < end;) {
      transaction.begin(TransactionMode::one_shot);
      PGSILO_CHECK(transaction.begin_statement() == TransactionStatus::ok);
      for (uint64_t i = 0; i < rows_per_transaction && key < end; ++i, ++key) {
        PGSILO_CHECK(transaction.insert(records_, Key(key).view(),
                                        {record.data(), record.size()}) == TransactionStatus::ok);
      }
      PGSILO_CHECK(transaction.commit() == TransactionStatus::ok);
    }
  }
  std::unique_ptr<EngineClient> client(unsigned worker) override {
    return std::make_unique<YcsbClient>(records_, keys_, seed_ + worker);
  }

 private:
  Relation& records_;
  const uint64_t keys_;
  const uint64_t seed_;
};

// The records' counters together.
uint64_t sum_of_counters(Transaction& transaction, Relation& records) {
  Arena arena;
  RowBuffer buffer(arena);
  transaction.begin(TransactionMode::one_shot);
  PGSILO_CHECK(transaction.begin_statement() == TransactionStatus::ok);
  TransactionScan scan(transaction, records, {}, ScanDirection::forward, buffer);
  RowRef row;
  uint64_t sum = 0;
  while (scan.next(&row) == TransactionStatus::ok) sum += load_le64(row.row.data());
  PGSILO_CHECK(transaction.commit() == TransactionStatus::ok);
  return sum;
}

bool run(const EngineRunOptions& options, uint64_t keys) {
  EngineDatabase database(options.log, options.threads, options.compress_log);
  if (!database.is_new()) return refuse_to_load(options);
  Relation& records = database.relations().get_or_create(RelationId(1), {});
  YcsbWorkload workload(records, keys, options.seed);
  EngineRun engine_run(database, workload, options);
  engine_run.load();
  uint64_t modified = engine_run.run().committed[1];
  bool ok = sum_of_counters(engine_run.transaction(), records) == modified;
  std::printf("after the run: %s\n", ok ? "no update is lost" : "UPDATES ARE LOST");
  return ok;
}

}  // namespace
}  // namespace pgsilo

int main(int argc, char** argv) {
  using namespace pgsilo;
  Arguments arguments(argc, argv);
  EngineRunOptions options(arguments);
  uint64_t keys = arguments.number("--keys", 10'000'000);
  arguments.finish(usage);
  if (keys == 0) return 2;
  return run(options, keys) ? 0 : 1;
}
