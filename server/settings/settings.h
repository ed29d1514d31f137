// A session's settings: the table's defaults, under them what the command line said, over them what
// the start-up packet and SET say. SET follows the transaction: rolled back with it, SET LOCAL ends
// with it. Thread safety: ServerSettings is constant once the server runs; Settings belongs to one
// session. Invariants: outside of a transaction there is nothing to undo; the three transaction_*
// settings show the defaults then.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/asking_allocator.h"
#include "executor/execution_context.h"
#include "server/settings/setting_definition.h"

namespace pgsilo {

// Shared by all that go back to it: sessions, and the changes of a transaction.
using SharedSetting = std::shared_ptr<const SettingValue>;

// What every new session starts with.
class ServerSettings {
 public:
  ServerSettings();
  // From the command line. Throws SqlError (42704, 22023, 55P02).
  void set(std::string_view name, std::string_view value);
  // For what the server finds out itself; the context is not checked.
  void set_internal(std::string_view name, std::string_view value);
  const std::vector<SharedSetting>& values() const { return values_; }
  const SettingValue& value(std::string_view name) const;

 private:
  std::vector<SharedSetting> values_;
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
  // Outside of a transaction: all that the session has set, for where it goes on.
  std::unique_ptr<Settings> copy() const;
  void become(const Settings& other);

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
  const SettingValue& value(int index) const { return *slots_[static_cast<size_t>(index)].now; }
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
  struct Mark {
    size_t changes;
    TransactionModes modes;
  };
  Mark mark();
  void rollback_to(const Mark& mark);
  // The newest savepoint goes, what was changed in it belongs to the one below (null: there is
  // none): of two changes of one setting only the older can still be gone back to.
  void release(const Mark& newest, const Mark* below);
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
  Settings(const Settings&) = default;
  Settings& operator=(const Settings&) = default;

  // A setting of the table, or a custom one: that is there when it has a value.
  struct Slot {
    SharedSetting now;
    SharedSetting session;            // what stays if the transaction commits
    size_t changed_at = not_changed;  // the newest of changes_ that is about it
  };
  using CustomSettings = std::map<std::string, Slot, std::less<>>;
  // What a slot was before: one for each that was changed since the newest savepoint.
  struct Change {
    int index;  // -1: custom
    CustomSettings::iterator custom;
    Slot before;
  };
  static constexpr size_t not_changed = SIZE_MAX;

  void assign(int index, SharedSetting value, bool is_local);
  void assign_custom(std::string key, SharedSetting value, bool is_local);
  const SharedSetting& reset_of_custom(std::string_view key) const;
  void assign_to(int index, CustomSettings::iterator custom, SharedSetting value, bool is_local);
  void make_room_for_change();
  void take_back(size_t changes);
  void forget_change(size_t at);
  Slot& slot_of(const Change& change);
  SharedSetting keep(SettingValue value, const SettingValue* replaced = nullptr);
  bool set_mode(int index, const SettingValue& value);
  SettingValue parse(int index, std::string_view value) const;
  void check_context(int index, SettingContext least) const;
  bool mode_text(int index, std::string* value) const;

  // Of values, which may outlive this object in a copy().
  std::shared_ptr<size_t> kept_bytes_ = std::make_shared<size_t>(0);
  std::vector<Slot> slots_;
  // What they go back to: a slot that has this itself, not its like, was reset or never set.
  std::vector<SharedSetting> reset_;
  CustomSettings custom_;
  std::map<std::string, SharedSetting, std::less<>> custom_reset_;  // for the others empty_
  SharedSetting empty_ = std::make_shared<const SettingValue>();
  AskingVector<Change> changes_;  // of the transaction, oldest first
  size_t marked_ = 0;             // of them before the newest savepoint
  std::vector<int> reported_;
  TransactionModes modes_;
  bool in_transaction_ = false;
  bool modes_fixed_ = false;
  bool in_savepoint_ = false;
  uint64_t generation_ = 1;
};

}  // namespace pgsilo
