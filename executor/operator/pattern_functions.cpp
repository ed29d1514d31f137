// Functions of regular expressions that return rows.
#include <memory>
#include <optional>

#include "executor/functions/regular_expression.h"
#include "executor/operator/set_function.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

using Groups = TextMatches::Groups;

class RegexpMatches final : public SetFunction {
 public:
  explicit RegexpMatches(bool has_flags) : has_flags_(has_flags) {}

  void start(RowContext&, const Datum* arguments) override {
    RegexFlags flags;
    if (has_flags_) flags = parse_regex_flags(arguments[2].bytes());
    is_global_ = flags.global;
    matches_.reset();
    matches_.emplace(arguments[0].bytes(), arguments[1].bytes(), flags.options, Groups::all);
    done_ = false;
  }
  bool next(RowContext&, Datum* value) override {
    if (done_ || !matches_->next()) {
      close();
      return false;
    }
    done_ = !is_global_;
    memory_.reset();
    *value = matches_->captures(memory_);
    return true;
  }
  // Other executions of the thread use the pattern while this one is idle.
  void close() override {
    done_ = true;
    matches_.reset();
  }

 private:
  const bool has_flags_;
  bool is_global_ = false;
  bool done_ = true;
  Arena memory_;
  std::optional<TextMatches> matches_;
};

class RegexpPieces final : public SetFunction {
 public:
  explicit RegexpPieces(bool has_flags) : has_flags_(has_flags) {}

  void start(RowContext&, const Datum* arguments) override {
    RegexFlags flags;
    if (has_flags_) flags = parse_regex_flags(arguments[2].bytes());
    if (flags.global) {
      throw SqlError(sqlstate::invalid_parameter_value,
                     "regexp_split_to_table() does not support the \"global\" option");
    }
    matches_.reset();
    matches_.emplace(arguments[0].bytes(), arguments[1].bytes(), flags.options, Groups::none);
    begin_ = 0;
    done_ = false;
  }
  bool next(RowContext&, Datum* value) override {
    if (done_) {
      close();
      return false;
    }
    done_ = !matches_->next_that_splits();
    size_t end = done_ ? matches_->text().size() : matches_->match().begin;
    *value = Datum::of_bytes(matches_->piece({begin_, end}));
    if (!done_) begin_ = matches_->match().end;
    return true;
  }
  void close() override {
    done_ = true;
    matches_.reset();
  }

 private:
  const bool has_flags_;
  size_t begin_ = 0;
  bool done_ = true;
  std::optional<TextMatches> matches_;
};

}  // namespace

std::unique_ptr<SetFunction> make_pattern_function(Oid procedure) {
  switch (procedure) {
    case 2763:
    case 2764:
      return std::make_unique<RegexpMatches>(procedure == 2764);
    case 2765:
    case 2766:
      return std::make_unique<RegexpPieces>(procedure == 2766);
    default:
      return nullptr;
  }
}

}  // namespace pgsilo
