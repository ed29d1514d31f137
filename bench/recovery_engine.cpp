// Recovery of what ycsb_engine or tpcc_engine has left in a log's directory, as the server does it:
// how long its parts took, what it read, and what CPU time and memory that took. Then every row is
// counted. docs/benchmarking.md says how.
#include <sys/resource.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/check.h"
#include "bench/engine_database.h"
#include "storage/transaction/transaction_scan.h"

namespace pgsilo {
namespace {

constexpr const char* usage = "  --threads N        of recovery (one per CPU)\n";

double cpu_seconds() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  auto seconds = [](timeval time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// VmHWM, VmRSS, ... of this process, in MB; 0 if the system does not tell.
double memory_mb(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == name + ":" && status >> kilobytes) return kilobytes * 1024 / 1e6;
  }
  return 0;
}

// What it had taken when recovery was done, before the database begins anything else.
class End final : public RecoveryListener {
 public:
  void on_progress(const RecoveryProgress&) override {
    cpu_seconds_ = cpu_seconds();
    peak_mb_ = memory_mb("VmHWM");
    resident_mb_ = memory_mb("VmRSS");
  }
  double cpu_seconds_ = 0;
  double peak_mb_ = 0;
  double resident_mb_ = 0;
};

uint64_t count_rows(EngineDatabase& database) {
  EngineWorker worker(database, 0);
  Transaction& transaction = worker.transaction;
  Arena arena;
  RowBuffer buffer(arena);
  uint64_t rows = 0;
  for (Relation* relation : database.relations().list()) {
    transaction.begin(TransactionMode::one_shot);
    PGSILO_CHECK(transaction.begin_statement() == TransactionStatus::ok);
    TransactionScan scan(transaction, *relation, {}, ScanDirection::forward, buffer);
    RowRef row;
    while (scan.next(&row) == TransactionStatus::ok) ++rows;
    PGSILO_CHECK(transaction.commit() == TransactionStatus::ok);
  }
  return rows;
}

void report(const RecoveryResult& recovered, const End& end, double cpu_seconds, uint64_t rows) {
  auto seconds = [](int64_t us) { return static_cast<double>(us) / 1e6; };
  auto megabytes = [](uint64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  double total = seconds(recovered.analysis_us + recovered.load_us + recovered.replay_us);
  std::printf("analysis of the log: %.2f s\n", seconds(recovered.analysis_us));
  std::printf("checkpoint: %.2f s, %llu rows, %.0f MB\n", seconds(recovered.load_us),
              static_cast<unsigned long long>(recovered.checkpoint_rows),
              megabytes(recovered.checkpoint_bytes));
  std::printf("log: %.2f s, %llu transactions, %llu rows, %.0f MB\n", seconds(recovered.replay_us),
              static_cast<unsigned long long>(recovered.records),
              static_cast<unsigned long long>(recovered.entries), megabytes(recovered.log_bytes));
  std::printf("together %.2f s, %.2f s of CPU; memory: peak %.0f, then %.0f MB; %llu rows\n", total,
              cpu_seconds, end.peak_mb_, end.resident_mb_, static_cast<unsigned long long>(rows));
  std::printf(
      "result benchmark=recovery analysis_seconds=%f load_seconds=%f replay_seconds=%f "
      "checkpoint_rows=%llu checkpoint_mb=%f records=%llu entries=%llu log_mb=%f cpu_seconds=%f "
      "peak_mb=%f resident_mb=%f rows=%llu\n",
      seconds(recovered.analysis_us), seconds(recovered.load_us), seconds(recovered.replay_us),
      static_cast<unsigned long long>(recovered.checkpoint_rows),
      megabytes(recovered.checkpoint_bytes), static_cast<unsigned long long>(recovered.records),
      static_cast<unsigned long long>(recovered.entries), megabytes(recovered.log_bytes),
      cpu_seconds, end.peak_mb_, end.resident_mb_, static_cast<unsigned long long>(rows));
}

}  // namespace
}  // namespace pgsilo

int main(int argc, char** argv) {
  using namespace pgsilo;
  Arguments arguments(argc, argv);
  EngineLogOptions log(arguments);
  log.wal.recovery_threads = static_cast<unsigned>(arguments.number("--threads", 0));
  arguments.finish({usage, EngineLogOptions::usage});
  if (!log.logged()) {
    std::fprintf(stderr, "--log says which directory\n");
    return 2;
  }
  if (!std::filesystem::exists(std::filesystem::path(log.directory) / control_file_name)) {
    std::fprintf(stderr, "there is no database in \"%s\"\n", log.directory.c_str());
    return 1;
  }
  End end;
  double before = cpu_seconds();
  EngineDatabase database(log, 1, &end);
  report(database.recovered(), end, end.cpu_seconds_ - before, count_rows(database));
  return 0;
}
