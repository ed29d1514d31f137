#include "executor/domain_checks.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/large_stack.h"
#include "catalog/catalog_view.h"
#include "catalog/named_type.h"
#include "executor/catalog_binding.h"
#include "executor/expression/standalone_expression.h"
#include "planner/bound/make_expression.h"
#include "planner/stored/stored_tree.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

// A domain's constraint over its value, which is slot 0.
struct CompiledCheck {
  std::string name;
  std::unique_ptr<StandaloneExpression> condition;
};

}  // namespace

struct DomainChecks::Compiled {
  Compiled(ExecutionContext& session) : binding(session, session.types) {}

  CatalogBinding binding;  // keeps what the conditions are made of
  uint64_t version = 0;    // of the catalog by which they are right
  std::vector<std::shared_ptr<const TypeDescriptor>> domains;  // the one itself, then those beneath
  std::string name;                                            // as it is shown
  bool not_null = false;
  std::vector<CompiledCheck> checks;  // in the order in which they are made
  Arena memory;
  bool is_running = false;
};

DomainChecks::DomainChecks(ExecutionContext& session) : session_(session) {}
DomainChecks::~DomainChecks() = default;

std::unique_ptr<DomainChecks::Compiled> DomainChecks::compile(const CatalogView& catalog,
                                                              Oid domain) {
  auto made = std::make_unique<Compiled>(session_);
  made->version = catalog.version();
  made->name = shown_type(catalog, domain);
  for (auto type = catalog.find_type(domain); type != nullptr && type->domain != nullptr;
       type = catalog.find_type(type->domain->base)) {
    made->domains.push_back(type);
    made->not_null |= type->domain->not_null;
    // What is beneath is checked first.
    std::vector<CompiledCheck> checks;
    for (const DomainConstraint& each : type->domain->constraints) {
      StatementBinding& binding = made->binding.binding();
      const BoundExpression* condition =
          read_expression(binding, each.check, [&](int16_t number, Oid value_type, int32_t typmod) {
            require_column(number, 1);
            auto* value = make_expression<SlotExpression>(binding.arena, value_type);
            value->typmod = typmod;
            return value;
          });
      checks.push_back({each.name, std::make_unique<StandaloneExpression>(
                                       *condition, 1, session_.types, &session_)});
      checks.back().condition->outlive_statements();
    }
    made->checks.insert(made->checks.begin(), std::make_move_iterator(checks.begin()),
                        std::make_move_iterator(checks.end()));
  }
  if (made->domains.empty()) {
    throw SqlError(sqlstate::undefined_object, concat("type with OID ", domain, " does not exist"));
  }
  return made;
}

DomainChecks::Compiled& DomainChecks::compiled(const CatalogView& catalog, Oid domain) {
  std::unique_ptr<Compiled>& known = known_[domain];
  if (known != nullptr && known->version != catalog.version()) {
    bool is_same = std::ranges::all_of(known->domains, [&](const auto& each) {
      return catalog.find_type(each->address.oid) == each;
    });
    known->version = catalog.version();
    if (!is_same) known.reset();
  }
  if (known == nullptr) {
    auto made = run_on_large_stack([&] { return compile(catalog, domain); });
    if (known_.size() >= forget_at_) forget_dropped(catalog);
    known_[domain] = std::move(made);
  }
  return *known_[domain];
}

void DomainChecks::forget_dropped(const CatalogView& catalog) {
  std::erase_if(known_, [&](const auto& each) {
    const std::unique_ptr<Compiled>& checks = each.second;
    return checks == nullptr ||
           (!checks->is_running && catalog.find_type(each.first) != checks->domains.front());
  });
  forget_at_ = std::max<size_t>(forget_at_, 2 * known_.size());
}

void DomainChecks::check(const CatalogView& catalog, Oid domain, Datum value) {
  require_stack();
  Compiled& checks = compiled(catalog, domain);
  if (!checks.is_running) return run(checks, value);
  // A constraint that makes values of its own domain.
  run(*compile(catalog, domain), value);
}

void DomainChecks::run(Compiled& checks, Datum value) {
  const TypeDescriptor& type = *checks.domains.front();
  if (checks.not_null && value.null) {
    throw SqlError(sqlstate::not_null_violation,
                   concat("domain ", checks.name, " does not allow null values"))
        .datatype(type.schema_name, type.name);
  }
  struct Running {
    bool& flag;
    explicit Running(bool& of) : flag(of) { flag = true; }
    ~Running() { flag = false; }
  } running(checks.is_running);
  for (CompiledCheck& each : checks.checks) {
    checks.memory.reset();
    Datum holds = each.condition->evaluate({&value, 1}, checks.memory);
    if (holds.null || holds.as_bool()) continue;
    throw SqlError(
        sqlstate::check_violation,
        concat("value for domain ", checks.name, " violates check constraint \"", each.name, "\""))
        .datatype(type.schema_name, type.name)
        .constraint(each.name);
  }
}

}  // namespace pgsilo
