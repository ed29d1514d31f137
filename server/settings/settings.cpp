#include "server/settings/settings.h"

#include <algorithm>

#include "base/check.h"
#include "server/limits.h"
#include "server/settings/canonical.h"
#include "sql/internal_error.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

const SettingDefinition& definition(int index) {
  return setting_definitions()[static_cast<size_t>(index)];
}

SqlError unrecognized(std::string_view name) {
  return SqlError(sqlstate::undefined_object,
                  concat("unrecognized configuration parameter \"", name, "\""));
}

bool is_custom_name(std::string_view name) { return name.find('.') != std::string_view::npos; }

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Two or more simple names with points between them.
void check_custom_name(std::string_view name) {
  bool start = true, valid = true;
  for (char c : name) {
    if (start) {
      valid &= is_name_start(c);
      start = false;
    } else if (c == '.') {
      start = true;
    } else {
      valid &= is_name_start(c) || (c >= '0' && c <= '9') || c == '$';
    }
  }
  if (valid && !start) return;
  throw SqlError(sqlstate::invalid_name,
                 concat("invalid configuration parameter name \"", name, "\""))
      .detail("Custom parameter names must be two or more simple identifiers separated by dots.");
}

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

int checked_find(std::string_view name) {
  int index = find_setting(name);
  if (index < 0) throw unrecognized(name);
  return index;
}

struct ModeIndexes {
  int isolation = find_setting("transaction_isolation");
  int read_only = find_setting("transaction_read_only");
  int deferrable = find_setting("transaction_deferrable");
  int default_isolation = find_setting("default_transaction_isolation");
  int default_read_only = find_setting("default_transaction_read_only");
  int default_deferrable = find_setting("default_transaction_deferrable");
  int date_style = find_setting("DateStyle");
};
const ModeIndexes& indexes() {
  static const ModeIndexes found;
  return found;
}

std::string_view isolation_name(IsolationLevel level) {
  static constexpr std::string_view names[] = {"serializable", "repeatable read", "read committed",
                                               "read uncommitted"};
  return names[static_cast<size_t>(level)];
}

// "SQL" keeps the order there is, "DMY" the style there is.
void complete_date_style(SettingValue& value, std::string_view present) {
  DateStyle style = DateStyle::iso;
  DateOrder order = DateOrder::mdy;
  read_date_style(present, &style, &order);
  read_date_style(value.text, &style, &order);
  static constexpr std::string_view styles[] = {"ISO", "Postgres", "SQL", "German"};
  static constexpr std::string_view orders[] = {"MDY", "DMY", "YMD"};
  value.text = concat(styles[static_cast<size_t>(style)], ", ", orders[static_cast<size_t>(order)]);
}

}  // namespace

// --- ServerSettings ---

ServerSettings::ServerSettings() {
  for (const SettingDefinition& each : setting_definitions())
    values_.push_back(std::make_shared<SettingValue>(parse_setting(each, each.initial)));
}

void ServerSettings::set(std::string_view name, std::string_view value) {
  int index = checked_find(name);
  if (definition(index).context == SettingContext::internal) {
    throw SqlError(sqlstate::cant_change_runtime_param,
                   concat("parameter \"", definition(index).name, "\" cannot be changed"));
  }
  set_internal(name, value);
}

void ServerSettings::set_internal(std::string_view name, std::string_view value) {
  int index = checked_find(name);
  SettingValue parsed = parse_setting(definition(index), value);
  SharedSetting& slot = values_[static_cast<size_t>(index)];
  if (index == indexes().date_style) complete_date_style(parsed, slot->text);
  slot = std::make_shared<SettingValue>(std::move(parsed));
}

const SettingValue& ServerSettings::value(std::string_view name) const {
  int index = find_setting(name);
  PGSILO_REQUIRE(index >= 0);
  return *values_[static_cast<size_t>(index)];
}

// --- Settings ---

Settings::Settings(const ServerSettings& server) : reset_(server.values()) {
  for (const SharedSetting& each : reset_) slots_.push_back({.now = each, .session = each});
  auto definitions = setting_definitions();
  for (size_t i = 0; i < definitions.size(); ++i) {
    if (definitions[i].reported) reported_.push_back(static_cast<int>(i));
  }
  modes_ = default_modes();
}

TransactionModes Settings::default_modes() const {
  TransactionModes modes;
  modes.isolation = static_cast<IsolationLevel>(value(indexes().default_isolation).integer);
  modes.read_only = value(indexes().default_read_only).integer != 0;
  modes.deferrable = value(indexes().default_deferrable).integer != 0;
  return modes;
}

bool Settings::mode_text(int index, std::string* value) const {
  TransactionModes modes = in_transaction_ ? modes_ : default_modes();
  if (index == indexes().isolation) {
    *value = isolation_name(modes.isolation);
  } else if (index == indexes().read_only) {
    *value = modes.read_only ? "on" : "off";
  } else if (index == indexes().deferrable) {
    *value = modes.deferrable ? "on" : "off";
  } else {
    return false;
  }
  return true;
}

bool Settings::get(std::string_view name, std::string* value) const {
  int index = find_setting(name);
  if (index >= 0) {
    if (!mode_text(index, value)) *value = this->value(index).text;
    return true;
  }
  auto found = custom_.find(lowered(name));
  if (found == custom_.end()) return false;
  *value = found->second.now->text;
  return true;
}

std::string_view Settings::canonical_name(std::string_view name) const {
  int index = find_setting(name);
  if (index >= 0) return definition(index).name;
  auto found = custom_.find(lowered(name));
  if (found == custom_.end()) throw unrecognized(name);
  return found->first;
}

void Settings::check_context(int index, SettingContext least) const {
  const SettingDefinition& d = definition(index);
  if (d.context >= least) return;
  std::string_view reason = d.context == SettingContext::internal ? "\" cannot be changed"
                            : d.context == SettingContext::server
                                ? "\" cannot be changed without restarting the server"
                                : "\" cannot be set after connection start";
  throw SqlError(sqlstate::cant_change_runtime_param, concat("parameter \"", d.name, reason));
}

SettingValue Settings::parse(int index, std::string_view value) const {
  // Some are lists, of which not only the text is kept.
  constexpr size_t long_text = 4096;
  constexpr size_t bytes_per_byte = 48;
  if (value.size() > long_text) require_room(value.size() * bytes_per_byte);
  SettingValue parsed = parse_setting(definition(index), value);
  if (index == indexes().date_style) complete_date_style(parsed, this->value(index).text);
  return parsed;
}

void Settings::set(std::string_view name, std::string_view value, bool is_local) {
  int index = find_setting(name);
  if (index < 0) {
    if (!is_custom_name(name)) throw unrecognized(name);
    check_custom_name(name);
    std::string key = lowered(name);
    auto replaced = custom_.find(key);
    SharedSetting kept = keep({.text = std::string(value)},
                              replaced == custom_.end() ? nullptr : replaced->second.now.get());
    assign_custom(std::move(key), std::move(kept), is_local);
    return;
  }
  check_context(index, SettingContext::user);
  SettingValue parsed = parse(index, value);
  if (set_mode(index, parsed)) return;
  assign(index, keep(std::move(parsed), &this->value(index)), is_local);
}

void Settings::reset(std::string_view name, bool is_local) {
  int index = find_setting(name);
  if (index < 0) {
    if (!is_custom_name(name)) throw unrecognized(name);
    check_custom_name(name);
    std::string key = lowered(name);
    SharedSetting value = reset_of_custom(key);
    assign_custom(std::move(key), std::move(value), is_local);
    return;
  }
  check_context(index, SettingContext::user);
  std::string ignored;
  if (mode_text(index, &ignored)) {
    throw SqlError(sqlstate::feature_not_supported,
                   concat("parameter \"", definition(index).name, "\" cannot be reset"));
  }
  assign(index, reset_[static_cast<size_t>(index)], is_local);
}

// Not what was reset already, whoever asked for that: what it goes back to with the transaction
// stays. Setting it to the same value is no reset.
void Settings::reset_all() {
  for (size_t i = 0; i < slots_.size(); ++i) {
    int index = static_cast<int>(i);
    std::string ignored;
    const SettingDefinition& each = definition(index);
    if (each.context != SettingContext::user || each.keeps_in_reset_all ||
        mode_text(index, &ignored)) {
      continue;
    }
    if (slots_[i].now != reset_[i]) assign(index, reset_[i], false);
  }
  for (auto custom = custom_.begin(); custom != custom_.end(); ++custom) {
    const SharedSetting& value = reset_of_custom(custom->first);
    if (custom->second.now == value) continue;
    make_room_for_change();
    assign_to(-1, custom, value, false);
  }
}

void Settings::set_at_start(std::string_view name, std::string_view value) {
  int index = find_setting(name);
  if (index < 0) {
    if (!is_custom_name(name)) throw unrecognized(name);
    check_custom_name(name);
    SharedSetting kept = keep({.text = std::string(value)});
    std::string key = lowered(name);
    custom_reset_[key] = kept;
    assign_custom(std::move(key), std::move(kept), false);
    return;
  }
  check_context(index, SettingContext::connection);
  SharedSetting parsed = keep(parse(index, value));
  reset_[static_cast<size_t>(index)] = parsed;
  assign(index, std::move(parsed), false);
}

void Settings::set_user(std::string_view user) {
  int index = find_setting("session_authorization");
  SharedSetting value = keep({.text = std::string(user)});
  reset_[static_cast<size_t>(index)] = value;
  assign(index, std::move(value), false);
}

// A session may keep a little; beyond it memory_limit is asked, for the books of its changes as
// well. What is shorter than the value that it replaces gives memory back, so the limit does not
// stop it.
SharedSetting Settings::keep(SettingValue value, const SettingValue* replaced) {
  constexpr size_t books = 256;
  size_t bytes = value.text.size() + books;
  bool shrinks = replaced != nullptr && value.text.size() < replaced->text.size();
  if (*kept_bytes_ + bytes > limits::free_setting_bytes)
    require_room(bytes, shrinks ? MemoryPurpose::upkeep : MemoryPurpose::growth);
  auto release = [sum = kept_bytes_, bytes](const SettingValue* kept) {
    *sum -= bytes;
    delete kept;
  };
  std::unique_ptr<const SettingValue, decltype(release)> kept(new SettingValue(std::move(value)),
                                                              release);
  *kept_bytes_ += bytes;
  return kept;
}

Settings::Slot& Settings::slot_of(const Change& change) {
  return change.index >= 0 ? slots_[static_cast<size_t>(change.index)] : change.custom->second;
}

void Settings::make_room_for_change() {
  constexpr size_t first = 16;
  if (changes_.size() == changes_.capacity())
    changes_.reserve(std::max(first, 2 * changes_.size()));
}

void Settings::assign(int index, SharedSetting value, bool is_local) {
  make_room_for_change();
  assign_to(index, {}, std::move(value), is_local);
}

const SharedSetting& Settings::reset_of_custom(std::string_view key) const {
  auto found = custom_reset_.find(key);
  return found == custom_reset_.end() ? empty_ : found->second;
}

void Settings::assign_custom(std::string key, SharedSetting value, bool is_local) {
  make_room_for_change();
  assign_to(-1, custom_.try_emplace(std::move(key)).first, std::move(value), is_local);
}

void Settings::assign_to(int index, CustomSettings::iterator custom, SharedSetting value,
                         bool is_local) {
  Change change{index, custom, {}};
  Slot& slot = slot_of(change);
  if (in_transaction_ && (slot.changed_at == not_changed || slot.changed_at < marked_)) {
    change.before = slot;
    slot.changed_at = changes_.size();
    changes_.push_back(std::move(change));
  }
  if (!in_transaction_ || !is_local) slot.session = value;
  slot.now = std::move(value);
  ++generation_;
}

std::unique_ptr<Settings> Settings::copy() const {
  PGSILO_CHECK(!in_transaction_ && changes_.empty());
  return std::unique_ptr<Settings>(new Settings(*this));
}

void Settings::become(const Settings& other) { *this = other; }

// --- the transaction ---

void Settings::start_transaction() {
  PGSILO_DCHECK(!in_transaction_);
  in_transaction_ = true;
  modes_fixed_ = false;
  modes_ = default_modes();
}

void Settings::end_transaction(bool committed) {
  in_transaction_ = false;
  in_savepoint_ = false;
  if (!committed) take_back(0);
  for (const Change& change : changes_) {
    if (change.before.changed_at != not_changed) continue;  // not the first of its slot
    Slot& slot = slot_of(change);
    slot.now = slot.session;
    slot.changed_at = not_changed;
    if (slot.now == nullptr) custom_.erase(change.custom);
  }
  if (!changes_.empty()) ++generation_;
  constexpr size_t few = 1024;
  if (changes_.capacity() > few) {
    AskingVector<Change>().swap(changes_);
  } else {
    changes_.clear();
  }
  marked_ = 0;
}

Settings::Mark Settings::mark() {
  marked_ = changes_.size();
  return {marked_, modes_};
}

void Settings::take_back(size_t changes) {
  for (; changes_.size() > changes; changes_.pop_back()) {
    Change& change = changes_.back();
    slot_of(change) = std::move(change.before);
    if (slot_of(change).now == nullptr) custom_.erase(change.custom);
    ++generation_;
  }
  marked_ = changes;
}

void Settings::rollback_to(const Mark& mark) {
  take_back(mark.changes);
  modes_ = mark.modes;
}

// Of those behind the newest savepoint, whose order does not matter: each is about another setting.
void Settings::forget_change(size_t at) {
  slot_of(changes_[at]).changed_at = changes_[at].before.changed_at;
  if (at + 1 < changes_.size()) {
    changes_[at] = std::move(changes_.back());
    slot_of(changes_[at]).changed_at = at;
  }
  changes_.pop_back();
}

// Looks at the shorter part only: where savepoints lie in each other the other one may be long
// each time.
void Settings::release(const Mark& newest, const Mark* below) {
  size_t border = newest.changes;
  marked_ = below == nullptr ? 0 : below->changes;
  if (changes_.size() - border <= border - marked_) {
    for (size_t i = changes_.size(); i > border; --i) {
      size_t older = changes_[i - 1].before.changed_at;
      if (older != not_changed && older >= marked_) forget_change(i - 1);
    }
    return;
  }
  for (size_t i = marked_; i < border; ++i) {
    size_t newer = slot_of(changes_[i]).changed_at;
    if (newer >= border) forget_change(newer);
  }
}

void Settings::restore_modes(const Mark& mark) { modes_ = mark.modes; }

bool Settings::set_mode(int index, const SettingValue& value) {
  const ModeIndexes& at = indexes();
  bool flag = value.integer != 0;
  auto isolation = static_cast<IsolationLevel>(value.integer);
  if (index == at.isolation) {
    set_transaction_modes(&isolation, nullptr, nullptr);
  } else if (index == at.read_only) {
    set_transaction_modes(nullptr, &flag, nullptr);
  } else if (index == at.deferrable) {
    set_transaction_modes(nullptr, nullptr, &flag);
  } else {
    return false;
  }
  return true;
}

void Settings::set_transaction_modes(const IsolationLevel* isolation, const bool* read_only,
                                     const bool* deferrable) {
  auto fail = [](std::string_view message) {
    throw SqlError(sqlstate::active_sql_transaction, std::string(message));
  };
  if (isolation != nullptr && *isolation != modes_.isolation) {
    if (modes_fixed_) fail("SET TRANSACTION ISOLATION LEVEL must be called before any query");
    if (in_savepoint_)
      fail("SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction");
    modes_.isolation = *isolation;
  }
  if (read_only != nullptr) {
    if (!*read_only && modes_.read_only && in_savepoint_)
      fail("cannot set transaction read-write mode inside a read-only transaction");
    if (!*read_only && modes_.read_only && modes_fixed_)
      fail("transaction read-write mode must be set before any query");
    modes_.read_only = *read_only;
  }
  if (deferrable != nullptr) {
    if (in_savepoint_)
      fail("SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction");
    if (modes_fixed_) fail("SET TRANSACTION [NOT] DEFERRABLE must be called before any query");
    modes_.deferrable = *deferrable;
  }
}

std::vector<Settings::Shown> Settings::show_all() const {
  if (*kept_bytes_ > limits::free_setting_bytes) require_room(*kept_bytes_);
  std::vector<Shown> shown;
  auto definitions = setting_definitions();
  for (size_t i = 0; i < definitions.size(); ++i) {
    std::string text;
    if (!mode_text(static_cast<int>(i), &text)) text = slots_[i].now->text;
    shown.push_back({definitions[i].name, std::move(text), definitions[i].description});
  }
  for (const auto& [name, value] : custom_) shown.push_back({name, value.now->text, {}});
  std::sort(shown.begin(), shown.end(), [](const Shown& left, const Shown& right) {
    return lowered(left.name) < lowered(right.name);
  });
  return shown;
}

}  // namespace pgsilo
