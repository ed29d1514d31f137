#include "sql/types/numeric.h"
#include "sql/types/numeric_value.h"

namespace pgsilo {

using namespace numeric;

void NumericAccumulator::spill(Arena& arena) {
  Datum total = make_number(to_big(total_), scale_, arena);
  spilled_ = spilled_.null ? total : numeric_add(spilled_, total, arena);
  total_ = 0;
}

void NumericAccumulator::add(Datum value, Arena& arena) {
  ++count_;
  if (is_special(value)) {
    if (is_nan(value)) {
      ++nan_count_;
    } else if (sign_of(value) > 0) {
      ++infinity_count_;
    } else {
      ++negative_infinity_count_;
    }
    return;
  }
  int scale = scale_of(value);
  if (scale > scale_) {
    Int128 total;
    if (scale_up(total_, scale - scale_, &total)) {
      total_ = total;
    } else {
      spill(arena);
    }
    scale_ = scale;
  }
  Int128 unscaled;
  if (!is_small(value) || !scale_up(small_unscaled(value), scale_ - scale, &unscaled)) {
    spilled_ = spilled_.null ? Datum::of_bytes(arena.copy_string(value.bytes()))
                             : numeric_add(spilled_, value, arena);
    return;
  }
  Int128 total;
  if (__builtin_add_overflow(total_, unscaled, &total)) {
    spill(arena);
    total = unscaled;
  }
  total_ = total;
}

void NumericAccumulator::add_integer(int64_t value, Arena& arena) {
  Int128 unscaled;
  if (scale_ == 0 && !__builtin_add_overflow(total_, static_cast<Int128>(value), &unscaled)) {
    total_ = unscaled;
    ++count_;
    return;
  }
  add(numeric_from_integer(value, arena), arena);
}

void NumericAccumulator::add(const NumericAccumulator& other, Arena& arena) {
  if (other.count_ == 0) return;
  int64_t count = count_ + other.count_;
  nan_count_ += other.nan_count_;
  infinity_count_ += other.infinity_count_;
  negative_infinity_count_ += other.negative_infinity_count_;
  add(make_number(to_big(other.total_), other.scale_, arena), arena);
  if (!other.spilled_.null) add(other.spilled_, arena);
  count_ = count;
}

bool NumericAccumulator::special(Datum* result) const {
  if (nan_count_ > 0 || (infinity_count_ > 0 && negative_infinity_count_ > 0)) {
    *result = make_nan();
    return true;
  }
  if (infinity_count_ == 0 && negative_infinity_count_ == 0) return false;
  *result = make_infinity(negative_infinity_count_ > 0);
  return true;
}

Datum NumericAccumulator::sum(Arena& arena) const {
  Datum result;
  if (special(&result)) return result;
  result = make_number(to_big(total_), scale_, arena);
  return spilled_.null ? result : numeric_add(spilled_, result, arena);
}

Datum NumericAccumulator::average(Arena& arena) const {
  return numeric_div(sum(arena), numeric_from_integer(count_, arena), arena);
}

}  // namespace pgsilo
