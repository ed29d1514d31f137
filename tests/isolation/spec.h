// Spec files in the style of PostgreSQL's isolation tester: sessions with named steps, which are
// run in every order that keeps each session's own, or in those that the file lists.
//
//   # a comment
//   setup { SQL }  teardown { SQL }      # before and after each permutation
//   state { SQL }                        # what is looked at after the last step
//   anomaly { read committed, ... }      # levels of PostgreSQL where some permutation has no
//                                        # serial order; everywhere else each must have one
//   level { read committed }             # only these; otherwise all three
//   session NAME
//   setup { BEGIN; }  step NAME { SQL }  teardown { SQL }
//   permutation NAME NAME ...            # none: every interleaving
//
// A session begins its blocks at the level that is tested (default_transaction_isolation).
#pragma once

#include <set>
#include <string>
#include <vector>

namespace pgsilo::isolation {

inline constexpr const char* read_committed = "read committed";
inline constexpr const char* repeatable_read = "repeatable read";
inline constexpr const char* serializable = "serializable";

struct Step {
  std::string name;
  std::string sql;
  size_t session = 0;
};

struct Session {
  std::string name;
  std::string setup;
  std::string teardown;
  std::vector<size_t> steps;  // indexes into Spec::steps
};

using Permutation = std::vector<size_t>;  // of indexes into Spec::steps

struct Spec {
  std::string path;
  std::string name;  // of the file, without ".spec"
  std::string setup;
  std::string teardown;
  std::string state;
  std::set<std::string> anomalies;
  std::set<std::string> levels;
  std::vector<Session> sessions;
  std::vector<Step> steps;
  std::vector<Permutation> permutations;

  std::string text(const Permutation& permutation) const;
  bool one_session_after_another(const Permutation& permutation) const;
};

// Throws std::runtime_error with the line on a malformed file.
Spec read_spec(const std::string& path);

}  // namespace pgsilo::isolation
