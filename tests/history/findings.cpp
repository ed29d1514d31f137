// Changes become writes by what others have found.
#include "tests/history/history.h"

namespace pgsilo::history {
namespace {

using Kind = Operation::Kind;

std::string text_of(const std::vector<Row>& reads) {
  std::string text;
  for (Row row : reads)
    text += " v" + std::to_string(row.version) + " of " + std::to_string(row.key);
  return text;
}

}  // namespace

void Findings::add(Version version, std::vector<Row> reads) {
  auto [found, added] = reads_.try_emplace(version, std::move(reads));
  if (!added && found->second != reads) {
    contradiction_ = "v" + std::to_string(version) + " was made of" + text_of(found->second) +
                     " and of" + text_of(reads);
  }
}

void Findings::add(const Findings& others) {
  for (const auto& [version, reads] : others.reads_) add(version, reads);
  if (!others.contradiction_.empty()) contradiction_ = others.contradiction_;
}

std::string Findings::complete(History* history) const {
  std::string violation = contradiction_;
  for (Transaction& transaction : *history) {
    std::string found = complete(&transaction);
    if (!found.empty()) violation = found;
  }
  return violation;
}

std::string Findings::complete(Transaction* transaction) const {
  std::vector<Operation> operations;
  std::string violation;
  for (Operation operation : transaction->operations) {
    bool changes = operation.kind == Kind::change || operation.kind == Kind::attempt;
    auto found =
        changes || operation.kind == Kind::write ? reads_.find(operation.version) : reads_.end();
    if (found != reads_.end()) {
      for (auto [key, version] : found->second)
        operations.push_back(
            {version == no_version ? Kind::absent : Kind::read, key, key, version});
    } else if (changes && !transaction->committed) {
      transaction->withdrawn.push_back(operation.version);
      continue;
    } else if (operation.kind == Kind::attempt) {
      operation = {Kind::absent, operation.last, operation.last};
      changes = false;
    } else if (changes) {
      violation =
          "nobody found v" + std::to_string(operation.version) + " of " + transaction->text();
    }
    if (changes) operation = {Kind::write, operation.key, operation.key, operation.version};
    operations.push_back(operation);
  }
  if (violation.empty()) transaction->operations = std::move(operations);
  return violation;
}

}  // namespace pgsilo::history
