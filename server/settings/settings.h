// A session's settings: the table's defaults, under them what the command line said, over them what
// the start-up packet and SET say. SET follows the transaction: rolled back with it, SET LOCAL ends
// with it. Thread safety: ServerSettings is constant once the server runs; Settings belongs to one
// session. Invariants: outside of a transaction there is nothing to undo; the three transaction_*
// settings show the defaults then.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "executor/execution_context.h"
#include "server/settings/setting_definition.h"

namespace pgsilo {

// What every new session starts with.
class ServerSettings {
 public:
  ServerSettings();
  // From the command line. Throws SqlError (42704, 22023, 55P02).
  void set(std::string_view name, std::string_view value);
  // For what the server finds out itself; the context is not checked.
  void set_internal(std::string_view name, std::string_view value);
  const std::vector<SettingValue>& values() const { return values_; }
  const SettingValue& value(std::string_view name) const;

 private:
  std::vector<SettingValue> values_;
};

enum class IsolationLevel : uint8_t {
  serializable,
  repeatable_read,
  read_committed,
  read_uncommitted
};

struct TransactionModes {
  IsolationLevel isolation = IsolationLevel::serializable;
  bool read_only = false;
  bool deferrable = false;
};

class Settings final : public SettingsAccessor {
 public:
  explicit Settings(const ServerSettings& server);

  // --- SettingsAccessor ---
  bool get(std::string_view name, std::string* value) const override;
  void set(std::string_view name, std::string_view value, bool is_local) override;

  // From the start-up packet: becomes the value that RESET goes back to.
  void set_at_start(std::string_view name, std::string_view value);
  void set_user(std::string_view user);
  // SET name TO DEFAULT and RESET name.
  void reset(std::string_view name, bool is_local);
  void reset_all();
  // The setting's own spelling, for messages and SHOW's column name; throws 42704 when there is
  // none.
  std::string_view canonical_name(std::string_view name) const;
  const SettingValue& value(int index) const { return current_[static_cast<size_t>(index)]; }
  // Every setting: (name, value, description), as SHOW ALL lists them.
  struct Shown {
    std::string_view name;
    std::string value;
    std::string_view description;
  };
  std::vector<Shown> show_all() const;

  // --- the transaction ---
  void start_transaction();
  // True from the first statement that reads or writes: modes are fixed then.
  void fix_transaction_modes() { modes_fixed_ = true; }
  void end_transaction(bool committed);
  // For savepoints: what the transaction has changed so far, and going back to it.
  struct Mark;
  Mark mark() const;
  void rollback_to(const Mark& mark);
  // SET TRANSACTION READ ONLY ends with the savepoint that it was given in.
  void restore_modes(const Mark& mark);
  // Transaction modes are fixed inside of savepoints.
  void set_in_savepoint(bool inside) { in_savepoint_ = inside; }
  // BEGIN ISOLATION LEVEL ..., SET TRANSACTION ...: nullptr leaves a mode as it is.
  void set_transaction_modes(const IsolationLevel* isolation, const bool* read_only,
                             const bool* deferrable);
  const TransactionModes& modes() const { return modes_; }
  TransactionModes default_modes() const;

  // Changes whenever any value does.
  uint64_t generation() const { return generation_; }
  std::span<const int> reported_settings() const { return reported_; }

 private:
  struct Undo {
    int index;  // -1: custom
    std::string custom;
    SettingValue before;         // when the transaction began
    SettingValue session;        // what stays if it commits
    bool existed_before = true;  // false for custom settings that are new
    bool exists_in_session = true;
  };

  struct Changed {
    Undo undo;
    SettingValue now;
    bool exists_now;
  };

  void assign(int index, SettingValue value, bool is_local);
  void assign_custom(std::string_view name, std::string_view value, bool is_local);
  Undo& undo_for(int index, std::string_view custom);
  void store(int index, const std::string& custom, const SettingValue& value, bool exists);
  bool set_mode(int index, const SettingValue& value);
  SettingValue parse(int index, std::string_view value) const;
  void check_context(int index, SettingContext least) const;
  bool mode_text(int index, std::string* value) const;

  std::vector<SettingValue> current_;
  std::vector<SettingValue> reset_;
  std::map<std::string, std::string, std::less<>> custom_;
  std::vector<Undo> undo_;
  std::vector<int> reported_;
  TransactionModes modes_;
  bool in_transaction_ = false;
  bool modes_fixed_ = false;
  bool in_savepoint_ = false;
  uint64_t generation_ = 1;
};

struct Settings::Mark {
  std::vector<Changed> changed;
  TransactionModes modes;
};

}  // namespace pgsilo
