#include "tests/isolation/recorded_outcomes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace pgsilo::isolation {

std::string RecordedOutcomes::path() const {
  std::filesystem::path folder = std::filesystem::path(spec_->path).parent_path();
  return (folder / "expected" / (spec_->name + ".out")).string();
}

void RecordedOutcomes::read() {
  std::ifstream file(path());
  if (!file) throw std::runtime_error(path() + " cannot be read: record it (--record)");
  for (std::string steps, answers; std::getline(file, steps) && std::getline(file, answers);)
    answers_[steps] = answers.substr(2);
}

void RecordedOutcomes::write() const {
  std::ofstream file(path());
  for (const auto& [steps, answers] : answers_) file << steps << "\n  " << answers << "\n";
  if (!file.flush()) throw std::runtime_error(path() + " cannot be written");
}

RecordedOutcomes::Outcome RecordedOutcomes::outcome(const std::vector<Told>& answers,
                                                    const std::string& state) const {
  Outcome outcome;
  for (const Told& told : answers) {
    outcome.steps += (outcome.steps.empty() ? "" : " ") + spec_->steps[told.step].name;
    outcome.answers += told.answer + " | ";
  }
  outcome.answers += state;
  return outcome;
}

void RecordedOutcomes::add(const Run& run) {
  std::vector<Told> answers;
  for (const std::vector<Told>& round : run.rounds)
    answers.insert(answers.end(), round.begin(), round.end());
  Outcome outcome = this->outcome(answers, run.state);
  answers_[outcome.steps] = outcome.answers;
}

bool RecordedOutcomes::explain(const Run& run) const { return explain(run, 0, {}); }

bool RecordedOutcomes::explain(const Run& run, size_t round,
                               const std::vector<Told>& before) const {
  if (round == run.rounds.size()) {
    Outcome outcome = this->outcome(before, run.state);
    auto found = answers_.find(outcome.steps);
    return found != answers_.end() && found->second == outcome.answers;
  }
  auto by_step = [](const Told& left, const Told& right) { return left.step < right.step; };
  std::vector<Told> answers = run.rounds[round];
  std::sort(answers.begin(), answers.end(), by_step);
  do {
    std::vector<Told> order = before;
    order.insert(order.end(), answers.begin(), answers.end());
    if (explain(run, round + 1, order)) return true;
  } while (std::next_permutation(answers.begin(), answers.end(), by_step));
  return false;
}

}  // namespace pgsilo::isolation
