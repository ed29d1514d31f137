#include "tests/scaling/measurement.h"

#include "tests/scaling/memory_names.h"

// jemalloc's.
extern "C" int mallctl(const char* name, void* old_value, size_t* old_bytes, void* new_value,
                       size_t new_bytes);

namespace pgsilo::scaling {

namespace {

// Memory that another core had asked for goes back to there.
void empty_allocator_cache() { mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0); }

Site allocation_of(uintptr_t address) {
  const std::map<uintptr_t, Allocation>& all = watch().allocations;
  auto behind = all.upper_bound(address);
  if (behind == all.begin()) return {};
  --behind;
  return address < behind->first + behind->second.bytes ? behind->second.site : Site();
}

// The workloads' own: counters, keys, what TPC-C's terminals keep.
bool is_the_drivers(std::string_view code) {
  return code.starts_with("tests/scaling/") || code.starts_with("tpcc/");
}

void note_calls(const Site& site, std::set<uintptr_t>& all) {
  for (uintptr_t call : site.calls) {
    if (call != 0) all.insert(call);
  }
}

}  // namespace

// `counted`: null, not counted.
void Measurement::step(Workload& workload, CountedUses* counted) {
  watch().counted = counted;
  if (counted != nullptr) counted->begin_transaction();
  cores_.run(clock_, [&] { workload.step(); });
  watch().counted = nullptr;
}

void Measurement::round(Workload& workload, unsigned workers, std::vector<CountedUses>* counted) {
  std::vector<Part> parts = workload.parts();
  for (size_t part = 0; part < parts.size(); ++part) {
    CountedUses* uses = counted != nullptr ? &(*counted)[part] : nullptr;
    if (parts[part].begins_an_epoch) step(workload, parts[part].is_the_step ? uses : nullptr);
    if (parts[part].is_the_step) continue;
    for (unsigned worker = 0; worker < workers; ++worker) {
      watch().counted = uses;
      if (uses != nullptr) uses->begin_transaction();
      cores_.run(worker, [&] { workload.run(part, worker); });
      watch().counted = nullptr;
    }
  }
}

void Measurement::run(const WorkloadKind& kind, unsigned workers) {
  watch().directory.clear();
  watch().allocations.clear();
  forget_memory_names();
  std::unique_ptr<Workload>& workload = workloads_.emplace_back();
  cores_.run(maker_, [&] { workload = kind.make(workers); });
  cores_.run(clock_, [&] { workload->load(); });
  for (unsigned worker = 0; worker < workers; ++worker)
    cores_.run(worker, [&] {
      workload->open(worker);
      empty_allocator_cache();
    });
  watch().directory.settle();
  for (unsigned i = 0; i < kind.rounds; ++i) {
    round(*workload, workers, nullptr);
    step(*workload, nullptr);
  }
  cores_.run(clock_, [&] { workload->look(); });
  // What these have touched nobody need fetch in what is counted.
  round(*workload, workers, nullptr);
  std::vector<Part> parts = workload->parts();
  std::vector<CountedUses> counted(parts.size());
  for (unsigned i = 0; i < kind.rounds; ++i) round(*workload, workers, &counted);
  for (size_t part = 0; part < parts.size(); ++part) {
    double transactions = kind.rounds * (parts[part].is_the_step ? 1.0 : workers);
    keep(counted[part],
         {std::string(parts[part].name), workers, transactions, counted[part].locked, {}});
  }
}

void Measurement::keep(const CountedUses& counted, RawCounts raw) {
  for (const auto& [use, counts] : counted.lines) {
    const bool is_shared = watch().directory.is_shared(use.line, maker_);
    if (!is_shared && counts.locked == 0) continue;
    raw.uses.push_back({std::string(memory_name(counts.address)), allocation_of(counts.address),
                        use.site, counts, is_shared});
  }
  raw_.push_back(std::move(raw));
}

bool Measurement::finish(std::vector<Counts>* counts) {
  std::set<uintptr_t> instructions;
  for (const RawCounts& raw : raw_) {
    for (const Use& use : raw.uses) {
      note_calls(use.allocation, instructions);
      note_calls(use.code, instructions);
    }
  }
  CodePlaces places;
  if (!places.find(instructions)) return false;
  for (const RawCounts& raw : raw_) counts->push_back(explained(raw, places));
  return true;
}

Counts Measurement::explained(const RawCounts& raw, const CodePlaces& places) {
  Counts all{raw.part, raw.workers, static_cast<double>(raw.locked) / raw.transactions, {}, {}};
  auto add = [&](LineCounts& to, const UseCounts& counts) {
    to.written += static_cast<double>(counts.writes) / raw.transactions;
    to.transfers += static_cast<double>(counts.transfers) / raw.transactions;
    to.locked += static_cast<double>(counts.locked) / raw.transactions;
  };
  for (const Use& use : raw.uses) {
    std::string code = places.place_of(use.code);
    if (is_the_drivers(code)) continue;
    std::string origin = use.name.empty() ? places.place_of(use.allocation) : use.name;
    std::string name = line_name(use.name.empty() ? file_of(origin) : origin, file_of(code));
    if (use.is_shared) add(all.lines[name], use.counts);
    add(all.uses[(use.is_shared ? "" : "(its alone) ") + name + "; " + origin + "; " + code],
        use.counts);
  }
  return all;
}

}  // namespace pgsilo::scaling
