#include "catalog/builtin/builtin.h"

#include <algorithm>

namespace pgsilo {
namespace {

constexpr BuiltinProcedure procedures[] = {
#include "catalog/builtin/procedures.def"
};
constexpr BuiltinOperator operators[] = {
#include "catalog/builtin/operators.def"
};
constexpr BuiltinCast casts[] = {
#include "catalog/builtin/casts.def"
};

constexpr BuiltinRowColumn all_row_columns[] = {
#define ROW_COLUMN(procedure, name, type) {procedure, #name, type},
#include "catalog/builtin/row_functions.def"
#undef ROW_COLUMN
};

// The tables are sorted by name, then OID; this is the way in by OID.
template <typename Entry, size_t count>
constexpr std::array<uint16_t, count> positions_by_oid(const Entry (&entries)[count]) {
  std::array<uint16_t, count> positions{};
  for (size_t i = 0; i < count; ++i) positions[i] = static_cast<uint16_t>(i);
  std::sort(positions.begin(), positions.end(),
            [&](uint16_t a, uint16_t b) { return entries[a].oid < entries[b].oid; });
  return positions;
}

template <typename Entry, size_t count>
const Entry* find_by_oid(const Entry (&entries)[count],
                         const std::array<uint16_t, count>& positions, Oid oid) {
  auto found = std::lower_bound(
      positions.begin(), positions.end(), oid,
      [&](uint16_t position, Oid wanted) { return entries[position].oid < wanted; });
  if (found == positions.end() || entries[*found].oid != oid) return nullptr;
  return &entries[*found];
}

template <typename Entry, size_t count>
std::span<const Entry> find_by_name(const Entry (&entries)[count], std::string_view name) {
  auto first = std::lower_bound(
      std::begin(entries), std::end(entries), name,
      [](const Entry& entry, std::string_view wanted) { return entry.name < wanted; });
  auto last = first;
  while (last != std::end(entries) && last->name == name) ++last;
  return {first, last};
}

constexpr bool is_listed(Oid procedure) {
  return std::any_of(std::begin(procedures), std::end(procedures),
                     [&](const BuiltinProcedure& each) { return each.oid == procedure; });
}
static_assert(is_listed(array_element_procedure) && is_listed(relation_rows_procedure) &&
              is_listed(relation_pages_procedure));

constexpr Oid make_interval_oid = 3464;
constexpr Oid pg_terminate_backend_oid = 2096;
constexpr Oid pg_backup_start_oid = 2172;
constexpr Oid pg_backup_stop_oid = 2739;
constexpr Oid pg_create_physical_replication_slot_oid = 3779;

}  // namespace

std::span<const BuiltinProcedure> find_procedures(std::string_view name) {
  return find_by_name(procedures, name);
}

const BuiltinProcedure* find_procedure(Oid oid) {
  static const auto positions = positions_by_oid(procedures);
  return find_by_oid(procedures, positions, oid);
}

std::string_view procedure_default_text(Oid oid, size_t argument) {
  if (oid == pg_terminate_backend_oid) return "0";
  if (oid == pg_backup_start_oid) return "false";
  if (oid == pg_backup_stop_oid) return "true";
  if (oid == pg_create_physical_replication_slot_oid) return "false";
  // Six integers and the seconds.
  if (oid == make_interval_oid) return argument < 6 ? "0" : "0.0";
  return {};
}

std::span<const BuiltinProcedure> all_procedures() { return procedures; }

std::span<const BuiltinRowColumn> row_columns(Oid procedure) {
  const BuiltinRowColumn* first = all_row_columns;
  while (first != std::end(all_row_columns) && first->procedure != procedure) ++first;
  const BuiltinRowColumn* last = first;
  while (last != std::end(all_row_columns) && last->procedure == procedure) ++last;
  return {first, last};
}

std::span<const BuiltinOperator> find_operators(std::string_view name) {
  return find_by_name(operators, name);
}

const BuiltinOperator* find_operator(Oid oid) {
  static const auto positions = positions_by_oid(operators);
  return find_by_oid(operators, positions, oid);
}

const BuiltinOperator* find_operator(std::string_view name, Oid left, Oid right) {
  for (const BuiltinOperator& candidate : find_operators(name)) {
    if (candidate.left == left && candidate.right == right) return &candidate;
  }
  return nullptr;
}

std::span<const BuiltinOperator> all_operators() { return operators; }

const BuiltinCast* find_cast(Oid source, Oid target) {
  auto found = std::lower_bound(std::begin(casts), std::end(casts), std::pair(source, target),
                                [](const BuiltinCast& entry, std::pair<Oid, Oid> wanted) {
                                  return std::pair(entry.source, entry.target) < wanted;
                                });
  if (found == std::end(casts) || found->source != source || found->target != target)
    return nullptr;
  return found;
}

std::span<const BuiltinCast> all_casts() { return casts; }

}  // namespace pgsilo
