#include "executor/operator/set_function.h"

#include <optional>

#include "sql/sql_error.h"
#include "sql/types/array.h"
#include "sql/types/date_time.h"
#include "sql/types/interval.h"
#include "sql/types/numeric.h"

namespace pgsilo {

namespace {

[[noreturn]] void throw_zero_step() {
  throw SqlError(sqlstate::invalid_parameter_value, "step size cannot equal zero");
}

class IntegerSeries final : public SetFunction {
 public:
  IntegerSeries(bool has_step, int64_t least, int64_t greatest)
      : has_step_(has_step), least_(least), greatest_(greatest) {}

  void start(RowContext&, const Datum* arguments) override {
    next_ = arguments[0].i64;
    stop_ = arguments[1].i64;
    step_ = has_step_ ? arguments[2].i64 : 1;
    if (step_ == 0) throw_zero_step();
    done_ = false;
  }
  bool next(RowContext&, Datum* value) override {
    if (done_ || (step_ > 0 ? next_ > stop_ : next_ < stop_)) return false;
    *value = Datum::of_int(next_);
    // A series ends where its type does.
    done_ = __builtin_add_overflow(next_, step_, &next_) || next_ > greatest_ || next_ < least_;
    return true;
  }

 private:
  const bool has_step_;
  const int64_t least_;
  const int64_t greatest_;
  int64_t next_ = 0;
  int64_t stop_ = 0;
  int64_t step_ = 1;
  bool done_ = false;
};

class NumericSeries final : public SetFunction {
 public:
  explicit NumericSeries(bool has_step) : has_step_(has_step) {}

  void start(RowContext&, const Datum* arguments) override {
    check(arguments[0], "start value");
    check(arguments[1], "stop value");
    stop_ = arguments[1];
    memory_[0].reset();
    memory_[1].reset();
    zero_ = numeric_from_integer(0, constants_);
    step_ = has_step_ ? arguments[2] : numeric_from_integer(1, constants_);
    if (has_step_) {
      check(step_, "step size");
      if (numeric_equal(step_, zero_)) throw_zero_step();
    }
    next_ = arguments[0];
    rising_ = numeric_compare(step_, zero_) > 0;
  }
  bool next(RowContext&, Datum* value) override {
    int order = numeric_compare(next_, stop_);
    if (rising_ ? order > 0 : order < 0) return false;
    // The value handed out stays while the one after it is computed beside it.
    *value = next_;
    side_ ^= 1;
    memory_[side_].reset();
    next_ = numeric_add(next_, step_, memory_[side_]);
    return true;
  }

 private:
  static void check(Datum value, const char* what) {
    const char* wrong = numeric_is_nan(value)        ? "NaN"
                        : numeric_is_infinite(value) ? "infinity"
                                                     : nullptr;
    if (wrong == nullptr) return;
    throw SqlError(sqlstate::invalid_parameter_value, concat(what, " cannot be ", wrong));
  }

  const bool has_step_;
  Arena constants_;
  Arena memory_[2];
  int side_ = 0;
  Datum next_;
  Datum stop_;
  Datum step_;
  Datum zero_;
  bool rising_ = true;
};

class TimestampSeries final : public SetFunction {
 public:
  explicit TimestampSeries(bool with_zone) : with_zone_(with_zone) {}

  void start(RowContext&, const Datum* arguments) override {
    next_ = arguments[0].i64;
    stop_ = arguments[1].i64;
    step_ = interval_of(arguments[2]);
    int order = interval_compare(step_, Interval());
    if (order == 0) throw_zero_step();
    rising_ = order > 0;
  }
  bool next(RowContext& context, Datum* value) override {
    if (rising_ ? next_ > stop_ : next_ < stop_) return false;
    *value = Datum::of_int(next_);
    next_ = with_zone_ ? timestamptz_add_interval(next_, step_, context.types->time_zone)
                       : timestamp_add_interval(next_, step_);
    return true;
  }

 private:
  const bool with_zone_;
  int64_t next_ = 0;
  int64_t stop_ = 0;
  Interval step_;
  bool rising_ = true;
};

// unnest(): the array lives as long as the series.
class ArrayElements final : public SetFunction {
 public:
  void start(RowContext&, const Datum* arguments) override { array_.emplace(arguments[0]); }
  bool next(RowContext&, Datum* value) override { return array_->next(value); }

 private:
  std::optional<ArrayReader> array_;
};

// generate_subscripts(): of one of an array's dimensions.
class Subscripts final : public SetFunction {
 public:
  explicit Subscripts(bool can_be_reverse) : can_be_reverse_(can_be_reverse) {}

  void start(RowContext&, const Datum* arguments) override {
    ArrayShape shape = ArrayReader(arguments[0]).shape();
    int64_t dimension = arguments[1].i64 - 1;
    bool exists = dimension >= 0 && dimension < shape.dimensions;
    left_ = exists ? shape.lengths[dimension] : 0;
    bool reverse = can_be_reverse_ && arguments[2].as_bool();
    step_ = reverse ? -1 : 1;
    next_ = exists ? shape.lower_bounds[dimension] + (reverse ? left_ - 1 : 0) : 0;
  }
  bool next(RowContext&, Datum* value) override {
    if (left_ == 0) return false;
    --left_;
    *value = Datum::of_int(next_);
    next_ += step_;
    return true;
  }

 private:
  const bool can_be_reverse_;
  int64_t left_ = 0;
  int64_t next_ = 0;
  int64_t step_ = 1;
};

// Of what there is none: ancestors of partitions.
class EmptySet final : public SetFunction {
 public:
  void start(RowContext&, const Datum*) override {}
  bool next(RowContext&, Datum*) override { return false; }
};

}  // namespace

std::unique_ptr<SetFunction> make_set_function(Oid procedure) {
  switch (procedure) {
    case 1066:
    case 1067:
      return std::make_unique<IntegerSeries>(procedure == 1066, INT32_MIN, INT32_MAX);
    case 1068:
    case 1069:
      return std::make_unique<IntegerSeries>(procedure == 1068, INT64_MIN, INT64_MAX);
    case 3259:
    case 3260:
      return std::make_unique<NumericSeries>(procedure == 3259);
    case 938:
    case 939:
      return std::make_unique<TimestampSeries>(procedure == 939);
    case 2331:
      return std::make_unique<ArrayElements>();
    case 1191:
    case 1192:
      return std::make_unique<Subscripts>(procedure == 1191);
    case 3425:
      return std::make_unique<EmptySet>();
    case 2763:
    case 2764:
    case 2765:
    case 2766:
      return make_pattern_function(procedure);
    default:
      return make_monitor_function(procedure);
  }
}

}  // namespace pgsilo
