#include "catalog/sequence/sequence_definition.h"

#include <algorithm>

#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

struct Range {
  int64_t low;
  int64_t high;
};

Range range_of(Oid type) {
  switch (type) {
    case type_oid::int2:
      return {INT16_MIN, INT16_MAX};
    case type_oid::int4:
      return {INT32_MIN, INT32_MAX};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

template <typename... Parts>
[[noreturn]] void reject(Parts... parts) {
  throw SqlError(sqlstate::invalid_parameter_value, concat(parts...));
}

void check_in_type(std::string_view bound, int64_t value, Oid type) {
  Range range = range_of(type);
  if (value >= range.low && value <= range.high) return;
  reject(bound, " (", value, ") is out of range for sequence data type ",
         type_info(type).display_name);
}

// Goes over the options in PostgreSQL's order (init_params).
class Options {
 public:
  Options(const SequenceOptions& options, bool for_identity, bool is_new,
          SequenceDefinition& definition, SequencePosition& position)
      : options_(options),
        for_identity_(for_identity),
        is_new_(is_new),
        definition_(definition),
        position_(position) {}

  void apply() {
    set_type();
    set_increment();
    if (options_.cycles) definition_.cycles = *options_.cycles;
    set_bounds();
    set_start();
    set_position();
    set_cache();
    if (!options_.is_empty()) position_.log_count = 0;
  }

 private:
  // A bound that was the old type's own becomes the new type's.
  void set_type() {
    if (!options_.type) return;
    Oid type = *options_.type;
    if (type != type_oid::int2 && type != type_oid::int4 && type != type_oid::int8) {
      reject(for_identity_ ? "identity column type must be smallint, integer, or bigint"
                           : "sequence type must be smallint, integer, or bigint");
    }
    Range old = range_of(definition_.type);
    reset_max_ = !is_new_ && definition_.max_value == old.high;
    reset_min_ = !is_new_ && definition_.min_value == old.low;
    definition_.type = type;
  }

  void set_increment() {
    if (!options_.increment) return;
    if (*options_.increment == 0) reject("INCREMENT must not be zero");
    definition_.increment = *options_.increment;
  }

  void set_bounds() {
    Range range = range_of(definition_.type);
    bool ascends = definition_.increment > 0;
    if (options_.max_value.value) {
      definition_.max_value = *options_.max_value.value;
    } else if (is_new_ || options_.max_value.given || reset_max_) {
      definition_.max_value = ascends || reset_max_ ? range.high : -1;
    }
    check_in_type("MAXVALUE", definition_.max_value, definition_.type);
    if (options_.min_value.value) {
      definition_.min_value = *options_.min_value.value;
    } else if (is_new_ || options_.min_value.given || reset_min_) {
      definition_.min_value = !ascends || reset_min_ ? range.low : 1;
    }
    check_in_type("MINVALUE", definition_.min_value, definition_.type);
    if (definition_.min_value >= definition_.max_value) {
      reject("MINVALUE (", definition_.min_value, ") must be less than MAXVALUE (",
             definition_.max_value, ")");
    }
  }

  void check_in_bounds(std::string_view what, int64_t value) const {
    if (value < definition_.min_value) {
      reject(what, " value (", value, ") cannot be less than MINVALUE (", definition_.min_value,
             ")");
    }
    if (value > definition_.max_value) {
      reject(what, " value (", value, ") cannot be greater than MAXVALUE (", definition_.max_value,
             ")");
    }
  }

  void set_start() {
    if (options_.start) {
      definition_.start = *options_.start;
    } else if (is_new_) {
      definition_.start = definition_.increment > 0 ? definition_.min_value : definition_.max_value;
    }
    check_in_bounds("START", definition_.start);
  }

  void set_position() {
    if (options_.restart.given || is_new_) {
      position_.last_value = options_.restart.value.value_or(definition_.start);
      position_.is_called = false;
    }
    check_in_bounds("RESTART", position_.last_value);
  }

  void set_cache() {
    if (!options_.cache) return;
    if (*options_.cache <= 0) reject("CACHE (", *options_.cache, ") must be greater than zero");
    definition_.cache = *options_.cache;
  }

  const SequenceOptions& options_;
  const bool for_identity_;
  const bool is_new_;
  SequenceDefinition& definition_;
  SequencePosition& position_;
  bool reset_max_ = false;
  bool reset_min_ = false;
};

// How many increments fit between `value` and the bound it moves to.
uint64_t room(const SequenceDefinition& definition, int64_t value) {
  auto distance = [](int64_t from, int64_t to) {
    return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  };
  if (definition.increment > 0) {
    return distance(value, definition.max_value) / static_cast<uint64_t>(definition.increment);
  }
  return distance(definition.min_value, value) / (0 - static_cast<uint64_t>(definition.increment));
}

// Does not overflow: `steps` is at most room().
int64_t advanced(const SequenceDefinition& definition, int64_t value, uint64_t steps) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) +
                              static_cast<uint64_t>(definition.increment) * steps);
}

}  // namespace

void create_sequence_definition(const SequenceOptions& options, bool for_identity,
                                SequenceDefinition* definition, SequencePosition* position) {
  *definition = {};
  *position = {};
  Options(options, for_identity, true, *definition, *position).apply();
}

void alter_sequence_definition(const SequenceOptions& options, bool for_identity,
                               SequenceDefinition* definition, SequencePosition* position) {
  Options(options, for_identity, false, *definition, *position).apply();
}

void throw_sequence_end(const SequenceDefinition& definition, std::string_view name) {
  bool ascends = definition.increment > 0;
  throw SqlError(
      sqlstate::sequence_generator_limit_exceeded,
      concat("nextval: reached ", ascends ? "maximum" : "minimum", " value of sequence \"", name,
             "\" (", ascends ? definition.max_value : definition.min_value, ")"));
}

uint64_t ReservationSize::next(int64_t now_us) {
  constexpr int64_t quick_us = 5000;
  constexpr int64_t slow_us = 20000;
  constexpr int quick_before_growth = 3;
  int64_t elapsed_us = now_us - last_us_;
  last_us_ = now_us;
  if (elapsed_us > slow_us) {
    size_ = least;
    quick_ = 0;
  } else if (elapsed_us >= quick_us) {
    quick_ = 0;
  } else if (++quick_ >= quick_before_growth) {
    size_ = std::min(2 * size_, most);
  }
  return size_;
}

std::optional<SequenceStep> next_of_sequence(const SequenceDefinition& definition,
                                             const SequencePosition& position, uint64_t ahead) {
  bool logs =
      position.log_count < definition.cache - (position.is_called ? 0 : 1) || !position.is_called;
  SequenceStep step;
  step.logs = logs;
  step.first = position.last_value;
  if (position.is_called) {
    if (room(definition, step.first) != 0) {
      step.first = advanced(definition, step.first, 1);
    } else {
      if (!definition.cycles) return std::nullopt;
      step.first = definition.increment > 0 ? definition.min_value : definition.max_value;
    }
  }
  // Behind the first one, as far as they go.
  auto more = static_cast<uint64_t>(definition.cache - 1);
  uint64_t left = room(definition, step.first);
  uint64_t cached = std::min(more, left);
  ahead = logs ? std::min(left - cached, ahead)
               : static_cast<uint64_t>(position.log_count) - 1 - cached;
  int64_t last = advanced(definition, step.first, cached);
  step.logged = logs ? advanced(definition, last, ahead) : 0;
  step.position = {last, static_cast<int64_t>(ahead), true};
  return step;
}

}  // namespace pgsilo
