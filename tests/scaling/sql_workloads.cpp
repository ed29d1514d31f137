// Statements by way of planner and executor, on a catalog of their own.
#include "tests/scaling/engine_bed.h"
#include "tests/unit/executor/sql_session.h"

namespace pgsilo::scaling {
namespace {

using testing::CatalogEngine;
using testing::SqlSession;

struct alignas(128) SqlWorker {
  explicit SqlWorker(CatalogEngine& engine) : session(engine) {}
  SqlSession session;
  std::shared_ptr<const ExecutablePlan> plan;
  Arena syntax;
  uint64_t next = 0;
};

class SqlBed final : public Workload {
 public:
  SqlBed(unsigned workers, std::string_view name, std::string sql, bool replans)
      : name_(name), sql_(std::move(sql)), replans_(replans), workers_(workers) {}
  std::vector<Part> parts() const override { return {{name_}}; }
  void load() override {
    loader_ = std::make_unique<SqlWorker>(engine_);
    for (const char* text :
         {"create table t (k int8 primary key, v int8, w text)", "create index t_v on t (v)",
          "create table h (a int8, b text)",
          "insert into t select i, i / 10, 'some text of a row' from generate_series(0, 1099) i"})
      PGSILO_CHECK(!loader_->session.run(text).starts_with("ERROR"));
  }
  void open(unsigned index) override { workers_[index] = std::make_unique<SqlWorker>(engine_); }
  void run(size_t, unsigned index) override {
    SqlWorker& w = *workers_[index];
    SqlSession& session = w.session;
    session.begin();
    if (w.plan == nullptr || replans_)
      w.plan = session.plan(*parse(sql_, w.syntax)[0].statement, sql_);
    Datum key = Datum::of_int(static_cast<int64_t>(index * 32 + 12 + w.next++ % 8));
    testing::TextResult result(w.plan->result_columns(), session.context.types);
    {
      Execution execution(w.plan, session.context, {&key, 1});
      execution.run(result);
    }
    expect(session.commit());
    session.worker.housekeep();
  }
  void step() override { engine_.make_durable(); }
  void look() override { look_at(engine_.relations, engine_.reclaimer); }

 private:
  const std::string_view name_;
  const std::string sql_;
  const bool replans_;
  CatalogEngine engine_;
  std::unique_ptr<SqlWorker> loader_;
  std::vector<std::unique_ptr<SqlWorker>> workers_;
};

WorkloadKind sql(std::string_view name, std::string text, bool replans = false) {
  return {[=](unsigned workers) { return std::make_unique<SqlBed>(workers, name, text, replans); }};
}

}  // namespace

std::vector<WorkloadKind> all_kinds() {
  return {
      sql("SQL: SELECT by key", "select w from t where k = $1"),
      sql("SQL: SELECT by key, planned anew", "select w from t where k = $1", true),
      sql("SQL: SELECT by index", "select w from t where v = 7 and k <> $1"),
      sql("SQL: aggregate of 100 rows", "select count(*), sum(v) from t where k < 100 and k <> $1"),
      sql("SQL: join", "select count(*) from t a join t b on a.v = b.v where a.k = $1"),
      sql("SQL: UPDATE by key", "update t set w = 'other text of a row' where k = $1"),
      sql("SQL: UPDATE of an indexed column", "update t set v = v + 1 where k = $1"),
      sql("SQL: INSERT without a key", "insert into h values ($1, 'x')")};
}

}  // namespace pgsilo::scaling
