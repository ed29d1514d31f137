// YCSB at the interface of storage/, records of 100 bytes under keys of 8, keys uniform. In the
// variant of Silo's evaluation (SOSP 2013, section 5.2) 80 % of the transactions read one record,
// 20 % read and rewrite one; in that of SiloR's (OSDI 2014, section 6.2) 70 % read one, 30 % put
// one: they overwrite it, whatever it was. docs/benchmarking.md says how.
#include <array>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/byte_order.h"
#include "base/check.h"
#include "base/random.h"
#include "bench/engine_run.h"
#include "storage/relation/system_relations.h"
#include "storage/transaction/transaction_scan.h"

namespace pgsilo {
namespace {

constexpr const char* usage =
    "  --keys N           records (10000000)\n"
    "  --mix silo|silor   80/20 read/read and rewrite, or 70/30 read/put (silo)\n"
    "  --noise PERCENT    with silor: of a record these bytes are random, the rest the same ones\n"
    "                     everywhere (100)\n";
constexpr size_t record_bytes = 100;
constexpr uint64_t read_percent = 80;
constexpr uint64_t silor_read_percent = 70;
constexpr std::array<std::string_view, 2> type_names = {"read", "read_modify_write"};
constexpr std::array<std::string_view, 2> silor_type_names = {"read", "put"};

struct YcsbOptions {
  uint64_t keys;
  bool silor;
  uint64_t noise_percent;
};

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

// Contents of records, made before they are needed. Thread safety: const functions, any thread.
class RecordPool {
 public:
  RecordPool(uint64_t noise_percent, uint64_t seed) : bytes_(pool_records * record_bytes, 'r') {
    Random random(seed);
    for (size_t i = 0; i < bytes_.size(); ++i) {
      if (i % record_bytes < record_bytes * noise_percent / 100)
        bytes_[i] = static_cast<char>(random.next());
    }
  }
  std::string_view draw(Random& random) const {
    return std::string_view(bytes_).substr(random.below(pool_records) * record_bytes, record_bytes);
  }

 private:
  static constexpr size_t pool_records = 10'000;
  std::string bytes_;
};

class SilorClient final : public EngineClient {
 public:
  SilorClient(Relation& records, uint64_t keys, const RecordPool& pool, uint64_t seed)
      : records_(records), keys_(keys), pool_(pool), random_(seed) {}

  size_t draw() override {
    puts_ = random_.below(100) >= silor_read_percent;
    key_ = random_.below(keys_);
    return puts_ ? 1 : 0;
  }

  TransactionStatus run(Transaction& transaction) override {
    RowRef row;
    ReadPurpose purpose = puts_ ? ReadPurpose::existence : ReadPurpose::plain;
    TransactionStatus status = transaction.begin_statement();
    if (status == TransactionStatus::ok)
      status = transaction.get(records_, Key(key_).view(), buffer_, &row, purpose);
    if (status != TransactionStatus::ok || !puts_) return status;
    return transaction.update(row, pool_.draw(random_));
  }

 private:
  Relation& records_;
  const uint64_t keys_;
  const RecordPool& pool_;
  Random random_;
  Arena arena_;
  RowBuffer buffer_{arena_};
  bool puts_ = false;
  uint64_t key_ = 0;
};

class YcsbWorkload final : public EngineWorkload {
 public:
  YcsbWorkload(Relation& records, const YcsbOptions& options, uint64_t seed)
      : records_(records),
        keys_(options.keys),
        seed_(seed),
        silor_(options.silor),
        pool_(options.noise_percent, seed) {}

  std::string_view name() const override { return "ycsb"; }
  std::span<const std::string_view> types() const override {
    return silor_ ? silor_type_names : type_names;
  }

  // A range of keys, in order. With Silo's mix the records begin with zero: what is added to it is
  // checked.
  void load(Transaction& transaction, unsigned worker, unsigned workers) override {
    constexpr uint64_t rows_per_transaction = 500;
    const std::string zeros(record_bytes, '\0');
    Random random(seed_ + 1000 + worker);
    uint64_t end = keys_ * (worker + 1) / workers;
    for (uint64_t key = keys_ * worker / workers; key < end;) {
      transaction.begin(TransactionMode::one_shot);
      PGSILO_CHECK(transaction.begin_statement() == TransactionStatus::ok);
      for (uint64_t i = 0; i < rows_per_transaction && key < end; ++i, ++key) {
        std::string_view record = silor_ ? pool_.draw(random) : zeros;
        PGSILO_CHECK(transaction.insert(records_, Key(key).view(), record) ==
                     TransactionStatus::ok);
      }
      PGSILO_CHECK(transaction.commit() == TransactionStatus::ok);
    }
  }
  std::unique_ptr<EngineClient> client(unsigned worker) override {
    if (silor_) return std::make_unique<SilorClient>(records_, keys_, pool_, seed_ + worker);
    return std::make_unique<YcsbClient>(records_, keys_, seed_ + worker);
  }

 private:
  Relation& records_;
  const uint64_t keys_;
  const uint64_t seed_;
  const bool silor_;
  const RecordPool pool_;
};

struct Contents {
  uint64_t records = 0;
  uint64_t counters = 0;  // together
};

Contents read_all(Transaction& transaction, Relation& records) {
  Arena arena;
  RowBuffer buffer(arena);
  transaction.begin(TransactionMode::one_shot);
  PGSILO_CHECK(transaction.begin_statement() == TransactionStatus::ok);
  TransactionScan scan(transaction, records, {}, ScanDirection::forward, buffer);
  RowRef row;
  Contents contents;
  while (scan.next(&row) == TransactionStatus::ok) {
    ++contents.records;
    contents.counters += load_le64(row.row.data());
  }
  PGSILO_CHECK(transaction.commit() == TransactionStatus::ok);
  return contents;
}

bool run(const EngineRunOptions& options, const YcsbOptions& ycsb) {
  EngineDatabase database(options.log, options.threads);
  if (!database.is_new()) return refuse_to_load(options);
  Relation& records = database.relations().get_or_create(first_user_relation, {});
  YcsbWorkload workload(records, ycsb, options.seed);
  EngineRun engine_run(database, workload, options);
  engine_run.load();
  uint64_t modified = engine_run.run().committed[1];
  Contents contents = read_all(engine_run.transaction(), records);
  bool ok = contents.records == ycsb.keys && (ycsb.silor || contents.counters == modified);
  const char* kept = ycsb.silor ? "no record is lost" : "no update is lost";
  std::printf("after the run: %s\n", ok ? kept : "UPDATES OR RECORDS ARE LOST");
  return ok;
}

}  // namespace
}  // namespace pgsilo

int main(int argc, char** argv) {
  using namespace pgsilo;
  Arguments arguments(argc, argv);
  EngineRunOptions options(arguments);
  YcsbOptions ycsb{.keys = arguments.number("--keys", 10'000'000),
                   .silor = arguments.choice("--mix", {"silo", "silor"}) == 1,
                   .noise_percent = arguments.number("--noise", 100)};
  arguments.finish({usage, EngineRunOptions::usage, EngineLogOptions::usage});
  if (ycsb.keys == 0) return 2;
  return run(options, ycsb) ? 0 : 1;
}
