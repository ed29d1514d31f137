#include "server/settings/settings.h"

#include <algorithm>

#include "base/check.h"
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
    values_.push_back(parse_setting(each, each.initial));
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
  SettingValue& slot = values_[static_cast<size_t>(index)];
  if (index == indexes().date_style) complete_date_style(parsed, slot.text);
  slot = std::move(parsed);
}

const SettingValue& ServerSettings::value(std::string_view name) const {
  int index = find_setting(name);
  PGSILO_REQUIRE(index >= 0);
  return values_[static_cast<size_t>(index)];
}

// --- Settings ---

Settings::Settings(const ServerSettings& server)
    : current_(server.values()), reset_(server.values()) {
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
    if (!mode_text(index, value)) *value = current_[static_cast<size_t>(index)].text;
    return true;
  }
  auto found = custom_.find(lowered(name));
  if (found == custom_.end()) return false;
  *value = found->second;
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
  SettingValue parsed = parse_setting(definition(index), value);
  if (index == indexes().date_style)
    complete_date_style(parsed, current_[static_cast<size_t>(index)].text);
  return parsed;
}

void Settings::set(std::string_view name, std::string_view value, bool is_local) {
  int index = find_setting(name);
  if (index < 0) {
    if (!is_custom_name(name)) throw unrecognized(name);
    check_custom_name(name);
    assign_custom(name, value, is_local);
    return;
  }
  check_context(index, SettingContext::user);
  SettingValue parsed = parse(index, value);
  if (!set_mode(index, parsed)) assign(index, std::move(parsed), is_local);
}

void Settings::reset(std::string_view name, bool is_local) {
  int index = find_setting(name);
  if (index < 0) {
    if (!is_custom_name(name)) throw unrecognized(name);
    check_custom_name(name);
    assign_custom(name, "", is_local);
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

void Settings::reset_all() {
  for (size_t i = 0; i < current_.size(); ++i) {
    int index = static_cast<int>(i);
    std::string ignored;
    const SettingDefinition& each = definition(index);
    if (each.context != SettingContext::user || each.keeps_in_reset_all ||
        mode_text(index, &ignored)) {
      continue;
    }
    if (current_[i].text != reset_[i].text) assign(index, reset_[i], false);
  }
  std::vector<std::string> names;
  names.reserve(custom_.size());
  for (const auto& entry : custom_) names.push_back(entry.first);
  for (const std::string& name : names) assign_custom(name, "", false);
}

void Settings::set_at_start(std::string_view name, std::string_view value) {
  int index = find_setting(name);
  if (index < 0) {
    if (!is_custom_name(name)) throw unrecognized(name);
    check_custom_name(name);
    custom_[lowered(name)] = value;
    return;
  }
  check_context(index, SettingContext::connection);
  SettingValue parsed = parse(index, value);
  current_[static_cast<size_t>(index)] = parsed;
  reset_[static_cast<size_t>(index)] = std::move(parsed);
  ++generation_;
}

void Settings::set_user(std::string_view user) {
  auto index = static_cast<size_t>(find_setting("session_authorization"));
  current_[index].text = user;
  reset_[index].text = user;
}

Settings::Undo& Settings::undo_for(int index, std::string_view custom) {
  for (Undo& undo : undo_) {
    if (undo.index == index && undo.custom == custom) return undo;
  }
  Undo undo{.index = index, .custom = std::string(custom), .before = {}, .session = {}};
  if (index >= 0) {
    undo.before = current_[static_cast<size_t>(index)];
  } else if (auto found = custom_.find(custom); found != custom_.end()) {
    undo.before.text = found->second;
  } else {
    undo.existed_before = undo.exists_in_session = false;
  }
  undo.session = undo.before;
  undo_.push_back(std::move(undo));
  return undo_.back();
}

void Settings::store(int index, const std::string& custom, const SettingValue& value, bool exists) {
  ++generation_;
  if (index >= 0) {
    current_[static_cast<size_t>(index)] = value;
  } else if (exists) {
    custom_[custom] = value.text;
  } else {
    custom_.erase(custom);
  }
}

void Settings::assign(int index, SettingValue value, bool is_local) {
  if (in_transaction_) {
    Undo& undo = undo_for(index, {});
    if (!is_local) undo.session = value;
  }
  store(index, {}, value, true);
}

void Settings::assign_custom(std::string_view name, std::string_view value, bool is_local) {
  std::string key = lowered(name);
  SettingValue stored;
  stored.text = value;
  if (in_transaction_) {
    Undo& undo = undo_for(-1, key);
    if (!is_local) {
      undo.session = stored;
      undo.exists_in_session = true;
    }
  }
  store(-1, key, stored, true);
}

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
  for (const Undo& undo : undo_) {
    const SettingValue& value = committed ? undo.session : undo.before;
    store(undo.index, undo.custom, value, committed ? undo.exists_in_session : undo.existed_before);
  }
  undo_.clear();
}

Settings::Mark Settings::mark() const {
  Mark mark{{}, modes_};
  for (const Undo& undo : undo_) {
    Changed changed{undo, {}, true};
    if (undo.index >= 0) {
      changed.now = current_[static_cast<size_t>(undo.index)];
    } else if (auto found = custom_.find(undo.custom); found != custom_.end()) {
      changed.now.text = found->second;
    } else {
      changed.exists_now = false;
    }
    mark.changed.push_back(std::move(changed));
  }
  return mark;
}

void Settings::rollback_to(const Mark& mark) {
  for (const Undo& undo : undo_) store(undo.index, undo.custom, undo.before, undo.existed_before);
  undo_.clear();
  for (const Changed& changed : mark.changed) {
    store(changed.undo.index, changed.undo.custom, changed.now, changed.exists_now);
    undo_.push_back(changed.undo);
  }
  modes_ = mark.modes;
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
  std::vector<Shown> shown;
  auto definitions = setting_definitions();
  for (size_t i = 0; i < definitions.size(); ++i) {
    std::string text;
    if (!mode_text(static_cast<int>(i), &text)) text = current_[i].text;
    shown.push_back({definitions[i].name, std::move(text), definitions[i].description});
  }
  for (const auto& [name, value] : custom_) shown.push_back({name, value, {}});
  std::sort(shown.begin(), shown.end(), [](const Shown& left, const Shown& right) {
    return lowered(left.name) < lowered(right.name);
  });
  return shown;
}

}  // namespace pgsilo
