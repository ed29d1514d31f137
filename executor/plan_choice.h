// Whether a statement with parameters runs by the plan that is made for all their values or by one
// of its own (docs/decisions/custom-plans.md). Thread safety: none; one session's, or one worker's.
#pragma once

#include <cstdint>

namespace pgsilo {

class ExecutablePlan;
struct TypeContext;

// The setting plan_cache_mode, in the order of its values.
enum class PlanCacheMode : uint8_t { automatic, force_generic, force_custom };

// What running a statement has cost by plans for values, beside the plan for all values that there
// is now.
class PlanChoice {
 public:
  // So many runs are looked at first.
  static constexpr uint32_t trials = 5;
  // More say nothing new, until tables have become other ones.
  static constexpr uint32_t most_runs = 100;

  // Whether enough is known, and plans for values are the one for all, or dearer.
  bool prefers_generic() const {
    return runs_ >= trials && (all_alike_ || generic_cost_ < custom_cost_);
  }
  uint32_t runs() const { return runs_; }
  // One more run has a plan for its values, if more are to be looked at.
  void add(const ExecutablePlan& generic, const ExecutablePlan& custom, TypeContext& types);

 private:
  uint32_t runs_ = 0;
  double custom_cost_ = 0;  // planning included
  double generic_cost_ = 0;
  bool all_alike_ = true;  // they read rows as the plan for all values does
};

}  // namespace pgsilo
