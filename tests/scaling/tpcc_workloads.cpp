// TPC-C's mix at the interface of storage/, a warehouse for each worker: what reaches into other
// warehouses is a constant part of it, whatever the number of workers.
#include "tests/scaling/engine_bed.h"
#include "tpcc/engine/population.h"
#include "tpcc/engine/terminal.h"

namespace pgsilo::scaling {
namespace {

constexpr uint64_t seed = 1;

class TpccMix final : public Workload {
 public:
  explicit TpccMix(unsigned workers)
      : scale_{.warehouses = workers, .items = 100, .customers = 20},
        workers_(workers),
        terminals_(workers) {}
  std::vector<Part> parts() const override { return {{"TPC-C"}}; }
  void load() override {
    BedWorker loader(engine_.parts(), engine_.sink);
    tpcc::Population population(loader.transaction, tables_, scale_, seed);
    population.load_items();
    for (uint32_t i = 1; i <= scale_.warehouses; ++i) population.load_warehouse(i);
  }
  void open(unsigned index) override {
    workers_[index] = std::make_unique<BedWorker>(engine_.parts(), engine_.sink);
    terminals_[index] =
        std::make_unique<tpcc::Terminal>(tables_, scale_, index + 1, seed + 1 + index);
  }
  void run(size_t, unsigned index) override {
    Transaction& transaction = workers_[index]->transaction;
    terminals_[index]->draw();
    transaction.begin(TransactionMode::one_shot);
    TransactionStatus answer = terminals_[index]->run(transaction);
    // An order of an item that there is not.
    if (answer == TransactionStatus::not_found) {
      expect(transaction.validate());
      transaction.abort();
    } else {
      expect(answer);
      expect(transaction.commit());
    }
    workers_[index]->housekeep();
  }
  void step() override { engine_.step(); }
  void look() override { engine_.look(); }

 private:
  const tpcc::Scale scale_;
  Engine engine_;
  tpcc::Tables tables_{engine_.relations};
  std::vector<std::unique_ptr<BedWorker>> workers_;
  std::vector<std::unique_ptr<tpcc::Terminal>> terminals_;
};

}  // namespace

std::vector<WorkloadKind> tpcc_kinds() {
  return {{[](unsigned workers) { return std::make_unique<TpccMix>(workers); }, 60}};
}

}  // namespace pgsilo::scaling
