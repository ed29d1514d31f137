// TPC-C at the interface of storage/, as in Silo's evaluation (SOSP 2013, section 5.3): one-shot
// transactions in C++, one warehouse per worker, the standard mix, no think time; and after the run
// the consistency conditions, on whose breach the program fails. docs/benchmarking.md says how.
#include <algorithm>
#include <cstdio>

#include "bench/engine_run.h"
#include "tpcc/engine/consistency.h"
#include "tpcc/engine/population.h"
#include "tpcc/engine/terminal.h"

namespace pgsilo {
namespace {

constexpr const char* usage =
    "  --warehouses N     workers share them in turn (as many as workers)\n"
    "  --items N          smaller than TPC-C's (100000), for tests\n"
    "  --customers N      of a district, likewise (3000)\n";

class TerminalClient final : public EngineClient {
 public:
  TerminalClient(tpcc::Tables& tables, const tpcc::Scale& scale, uint32_t home, uint64_t seed)
      : terminal_(tables, scale, home, seed) {}
  size_t draw() override { return static_cast<size_t>(terminal_.draw()); }
  TransactionStatus run(Transaction& transaction) override { return terminal_.run(transaction); }

 private:
  tpcc::Terminal terminal_;
};

class TpccWorkload final : public EngineWorkload {
 public:
  TpccWorkload(tpcc::Tables& tables, const tpcc::Scale& scale, uint64_t seed)
      : tables_(tables), scale_(scale), seed_(seed) {}

  std::string_view name() const override { return "tpcc"; }
  std::span<const std::string_view> types() const override { return tpcc::transaction_type_names; }
  void load(Transaction& transaction, unsigned worker, unsigned workers) override {
    tpcc::Population population(transaction, tables_, scale_, seed_ + 1000 + worker);
    if (worker == 0) population.load_items();
    for (uint32_t i = worker; i < scale_.warehouses; i += workers) population.load_warehouse(i + 1);
  }
  std::unique_ptr<EngineClient> client(unsigned worker) override {
    return std::make_unique<TerminalClient>(tables_, scale_, worker % scale_.warehouses + 1,
                                            seed_ + worker);
  }

 private:
  tpcc::Tables& tables_;
  const tpcc::Scale scale_;
  const uint64_t seed_;
};

bool is_consistent(Transaction& transaction, tpcc::Tables& tables, const tpcc::Scale& scale,
                   const char* when) {
  std::vector<std::string> breaches = tpcc::check_consistency(transaction, tables, scale);
  for (size_t i = 0; i < std::min<size_t>(breaches.size(), 20); ++i)
    std::fprintf(stderr, "broken: %s\n", breaches[i].c_str());
  std::printf("%s: %s\n", when, breaches.empty() ? "consistent" : "NOT CONSISTENT");
  return breaches.empty();
}

// Only new orders may find that an item is not there.
bool rolled_back_as_meant(const WorkerCounts& counts) {
  for (size_t type = 1; type < counts.rolled_back.size(); ++type) {
    if (counts.rolled_back[type] == 0) continue;
    std::fprintf(stderr, "broken: %s missed a row\n",
                 std::string(tpcc::transaction_type_names[type]).c_str());
    return false;
  }
  return true;
}

bool run(const EngineRunOptions& options, const tpcc::Scale& scale) {
  bool ok = true;
  {
    EngineDatabase database(options.log, options.threads);
    if (!database.is_new()) return refuse_to_load(options);
    tpcc::Tables tables(database.relations());
    TpccWorkload workload(tables, scale, options.seed);
    EngineRun engine_run(database, workload, options);
    engine_run.load();
    ok &= is_consistent(engine_run.transaction(), tables, scale, "after the load");
    ok &= rolled_back_as_meant(engine_run.run());
    ok &= is_consistent(engine_run.transaction(), tables, scale, "after the run");
  }
  if (!options.log.logged()) return ok;
  EngineDatabase database(options.log, options.threads);
  tpcc::Tables tables(database.relations());
  EngineWorker worker(database, 0);
  return is_consistent(worker.transaction, tables, scale, "after recovery") && ok;
}

}  // namespace
}  // namespace pgsilo

int main(int argc, char** argv) {
  using namespace pgsilo;
  Arguments arguments(argc, argv);
  EngineRunOptions options(arguments);
  tpcc::Scale scale;
  scale.warehouses = static_cast<uint32_t>(arguments.number("--warehouses", options.threads));
  scale.items = static_cast<uint32_t>(arguments.number("--items", scale.items));
  scale.customers = static_cast<uint32_t>(arguments.number("--customers", scale.customers));
  arguments.finish({usage, EngineRunOptions::usage, EngineLogOptions::usage});
  if (scale.warehouses == 0 || scale.items == 0 || scale.customers == 0) {
    std::fprintf(stderr, "there must be warehouses, items and customers\n");
    return 2;
  }
  return run(options, scale) ? 0 : 1;
}
