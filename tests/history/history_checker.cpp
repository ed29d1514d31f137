// The checker up to the edges that versions give. Choices: history_choices.cpp.
#include "tests/history/history_checker.h"

#include <algorithm>

namespace pgsilo::history {

Verdict HistoryChecker::check() {
  static_cast<void>(collect_versions() && collect_reads() && add_version_edges() &&
                    collect_lives() && order_lives() && collect_absences() && collect_presences() &&
                    propagate() && search());
  return verdict_;
}

bool HistoryChecker::fail(std::string what) {
  verdict_.violation = std::move(what);
  return false;
}

std::string HistoryChecker::name(int transaction) const {
  return "T" + std::to_string(transaction) + " (" +
         history_[static_cast<size_t>(transaction)].text() + ")";
}

bool HistoryChecker::collect_versions() {
  for (size_t i = 0; i < history_.size(); ++i) {
    const Transaction& transaction = history_[i];
    int id = static_cast<int>(i);
    const TransactionEffects& effects = effects_.emplace_back(transaction);
    if (!effects.violation().empty()) return fail(name(id) + ": " + effects.violation());
    using Fate = VersionInfo::Fate;
    auto note = [&](Version version, VersionInfo info) {
      return versions_.try_emplace(version, std::move(info)).second ||
             fail(name(id) + " wrote a version that exists");
    };
    for (Version version : transaction.withdrawn) {
      if (!note(version, {id, 0, any_attribute, no_version, Fate::rolled_back, {}, {}, no_version}))
        return false;
    }
    for (auto [key, version] : effects.undone()) {
      if (!note(version,
                {id, key, any_attribute, no_version, Fate::rolled_back, {}, {}, no_version}))
        return false;
    }
    Fate fate = transaction.committed ? Fate::intermediate : Fate::rolled_back;
    for (auto [key, version] : effects.intermediate()) {
      if (!note(version, {id, key, any_attribute, no_version, fate, {}, {}, no_version}))
        return false;
    }
    if (transaction.committed) fate = Fate::visible;
    for (const auto& [key, write] : effects.writes()) {
      VersionInfo info{id, key, write.attribute, write.before, fate, {}, {}, no_version};
      if (write.after != no_version && !note(write.after, std::move(info))) return false;
    }
  }
  return true;
}

bool HistoryChecker::note_read(int reader, const TransactionEffects::Observation& observation) {
  auto [key, version] = observation;
  auto found = versions_.find(version);
  std::string what = name(reader) + " read v" + std::to_string(version);
  if (found == versions_.end()) return fail(what + ", which nobody wrote");
  VersionInfo& info = found->second;
  if (info.fate == VersionInfo::Fate::rolled_back)
    return fail(what + ", rolled back by " + name(info.writer));
  if (info.fate == VersionInfo::Fate::intermediate)
    return fail(what + ", overwritten by the same " + name(info.writer));
  if (info.key != key) return fail(what + ", which belongs to key " + std::to_string(info.key));
  info.readers.push_back(reader);
  return true;
}

bool HistoryChecker::collect_reads() {
  for (size_t i = 0; i < history_.size(); ++i) {
    int id = static_cast<int>(i);
    for (auto [key, version] : effects_[i].observations()) {
      if (version != no_version && !note_read(id, {key, version})) return false;
    }
    if (!history_[i].committed) continue;
    for (const auto& [key, write] : effects_[i].writes()) {
      if (write.before == no_version) continue;
      VersionInfo& before = versions_.at(write.before);
      before.overwriters.push_back(id);
      before.next = write.after;
    }
  }
  return true;
}

bool HistoryChecker::add_edge(int from, int to, EdgeKind kind, Key key) {
  ++verdict_.edges;
  if (graph_.add(from, to, kind, key)) return true;
  std::vector<SerializationGraph::Step> cycle = graph_.path(to, from);
  cycle.insert(cycle.begin(), {from, {to, kind, key}});
  return fail("a cycle:\n" + graph_.describe(cycle));
}

// Two overwriters of one version have both read it: each comes before the other.
bool HistoryChecker::add_version_edges() {
  for (size_t i = 0; i < history_.size(); ++i) {
    for (auto [key, version] : effects_[i].observations()) {
      if (version == no_version) continue;
      const VersionInfo& info = versions_.at(version);
      int reader = static_cast<int>(i);
      if (!add_edge(info.writer, reader, EdgeKind::write_read, key)) return false;
      for (int overwriter : info.overwriters) {
        EdgeKind kind = reader == info.writer ? EdgeKind::write_write : EdgeKind::read_write;
        if (!add_edge(reader, overwriter, kind, key)) return false;
      }
    }
  }
  return true;
}

bool HistoryChecker::collect_lives() {
  for (const auto& [version, info] : versions_) {
    if (info.fate != VersionInfo::Fate::visible || info.replaced != no_version) continue;
    Life life;
    for (const VersionInfo* next = &info;; next = &versions_.at(next->next)) {
      life.versions.push_back(next);
      if (next->next == no_version) break;
    }
    lives_[info.key].by_begin.push_back(std::move(life));
  }
  for (auto& [key, lives] : lives_) {
    auto begin_of = [&](const Life& life) {
      return history_[static_cast<size_t>(life.inserter())].begin;
    };
    std::sort(
        lives.by_begin.begin(), lives.by_begin.end(),
        [&](const Life& left, const Life& right) { return begin_of(left) < begin_of(right); });
    int64_t latest = INT64_MIN;
    for (const Life& life : lives.by_begin) {
      int deleter = life.deleter();
      latest =
          std::max(latest, deleter < 0 ? INT64_MAX : history_[static_cast<size_t>(deleter)].end);
      lives.latest_end.push_back(latest);
    }
  }
  return true;
}

}  // namespace pgsilo::history
