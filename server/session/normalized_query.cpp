#include "server/session/normalized_query.h"

#include <algorithm>
#include <utility>

#include "sql/types/text.h"
#include "sql/types/type.h"

namespace pgsilo {
namespace {

// Keys of normalised texts never meet those of texts that clients prepare.
constexpr std::string_view key_mark = "normalised ";

bool same_description(const PreparedStatement& left, const PreparedStatement& right) {
  if (left.returns_rows != right.returns_rows ||
      left.result_columns.size() != right.result_columns.size())
    return false;
  for (size_t i = 0; i < left.result_columns.size(); ++i) {
    const ResultColumn& a = left.result_columns[i];
    const ResultColumn& b = right.result_columns[i];
    if (a.name != b.name || a.type_oid != b.type_oid || a.type_modifier != b.type_modifier ||
        a.table_oid != b.table_oid || a.column_number != b.column_number) {
      return false;
    }
  }
  return true;
}

Datum literal_value(const NormalizedLiteral& literal, Oid type, TypeContext& types) {
  if (literal.type == type_oid::int4 || literal.type == type_oid::int8)
    return Datum::of_int(literal.integer);
  return type_info(type).parse(literal.text, no_typmod, types);
}

// A literal becomes one of a domain where it is used, a parameter when it is read.
bool is_of_domain(Oid type) { return base_type_of(type) != type; }

// Warnings are for the client when what it runs is planned, not for plans that are tried.
class WithoutNotices {
 public:
  explicit WithoutNotices(ExecutionContext& context)
      : context_(context), notices_(std::exchange(context.notices, nullptr)) {}
  ~WithoutNotices() { context_.notices = notices_; }
  WithoutNotices(const WithoutNotices&) = delete;
  WithoutNotices& operator=(const WithoutNotices&) = delete;

 private:
  ExecutionContext& context_;
  NoticeSink* notices_;
};

}  // namespace

// False: it comes for the first time.
bool NormalizedQuery::find() {
  PlanCache::make_key(normalizer_.text(), normalizer_.types(),
                      concat(key_mark, state_.settings_key), &key_);
  entry_ = state_.services.plans.find(key_);
  if (entry_ != nullptr) return true;
  entry_ = std::make_shared<CachedText>();
  state_.services.plans.insert(key_, entry_);
  return false;
}

// Plans the original and the normalised text, and decides.
void NormalizedQuery::compare(CachedText& entry, const Original& from) {
  WithoutNotices quiet(state_.context);
  // What is wrong with the text itself decides nothing.
  std::shared_ptr<PreparedStatement> original = runner_.prepare(from.text, from.index, false);
  entry.sharing = CachedText::Sharing::refused;
  std::shared_ptr<CachedText> normalized =
      runner_.parse_apart(normalizer_.text(), normalizer_.types());
  std::shared_ptr<PreparedStatement> shared;
  try {
    shared = runner_.prepare(normalized, 0, true);
    if (!shared->is_planned || !shared->plan->cacheable() ||
        !same_description(*original, *shared) ||
        shared->parameter_types.size() != normalizer_.literals().size() ||
        std::ranges::any_of(shared->parameter_types, is_of_domain)) {
      return;
    }
  } catch (const SqlError& error) {
    if (error.state() != sqlstate::query_canceled) return;  // a parameter is not a literal here
    entry.sharing = CachedText::Sharing::undecided;
    throw;
  }
  // Others may be using the syntax, if the entry was shared before.
  if (entry.syntax == nullptr) {
    entry.syntax = normalized->syntax;
    entry.declared_types = normalized->declared_types;
  }
  entry.plans.resize(1);
  state_.services.plans.keep_plan(entry, 0, shared->plan);
  if (entry.plans[0] != nullptr) entry.sharing = CachedText::Sharing::shared;
}

bool NormalizedQuery::read_literals(Portal& portal) {
  TypeContext& types = state_.context.types;
  // However this ends: memory may, too.
  struct Restore {
    TypeContext& types;
    Arena* arena;
    ~Restore() { types.arena = arena; }
  } restore{types, types.arena};
  types.arena = &*portal.memory;
  auto literals = normalizer_.literals();
  const std::vector<Oid>& parameter_types = portal.statement->parameter_types;
  portal.parameters.clear();
  try {
    for (size_t i = 0; i < literals.size(); ++i) {
      Datum value = literal_value(literals[i], parameter_types[i], types);
      // The text is the client's message: a portal must not point into it.
      portal.parameters.push_back(copy_datum(value, type_info(parameter_types[i]), *portal.memory));
    }
  } catch (const SqlError&) {
    return false;  // it is told, if it is an error, of the text as it came
  }
  return true;
}

std::shared_ptr<Portal> NormalizedQuery::bind(std::string_view text) { return bind(text, {}); }

std::shared_ptr<Portal> NormalizedQuery::bind_statement(const std::shared_ptr<CachedText>& text,
                                                        size_t index) {
  const ast::RawStatement& raw = text->syntax->statements[index];
  // That of the whole text is nearer.
  bool has_plan = index < text->plans.size() && text->plans[index] != nullptr;
  std::shared_ptr<Portal> portal;
  if (state_.one_of_several && !has_plan) {
    std::string_view whole = text->syntax->text;
    portal = bind(whole.substr(static_cast<size_t>(raw.start), static_cast<size_t>(raw.length)),
                  {text, index});
  }
  if (portal != nullptr) return portal;
  portal = std::make_shared<Portal>();
  portal->statement = runner_.prepare(text, index, false);
  if (portal->statement->binary_rows) portal->result_formats = {WireFormat::binary};
  return portal;
}

std::shared_ptr<Portal> NormalizedQuery::bind(std::string_view text, Original original) {
  forget();
  if (state_.transactions.catalog().has_local_changes() || !normalizer_.normalize(text))
    return nullptr;
  state_.apply_settings();
  bool known = find();
  std::shared_ptr<CachedText> entry = entry_;
  if (!known || entry->sharing == CachedText::Sharing::refused) return nullptr;
  state_.transactions.open();
  state_.refresh_catalog();
  bool usable = entry->sharing == CachedText::Sharing::shared && entry->plans[0] != nullptr &&
                entry->plans[0]->still_valid(state_.transactions.catalog(),
                                             state_.context.statement_timestamp_us);
  if (!usable) {
    if (original.text == nullptr) original.text = runner_.parse_apart(text, {});
    compare(*entry, original);
  }
  if (entry->sharing != CachedText::Sharing::shared) return nullptr;
  auto portal = std::make_shared<Portal>();
  portal->statement = runner_.prepare(entry, 0, true);
  portal->statement->is_normalized = true;
  if (!read_literals(*portal)) return nullptr;
  runner_.choose_plan(*portal, false);
  return portal;
}

}  // namespace pgsilo
