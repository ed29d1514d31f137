#include "server/settings/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/memory_budget.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

std::string get(const Settings& settings, std::string_view name) {
  std::string value;
  return settings.get(name, &value) ? value : "(none)";
}

// "state: message", or "" when it was accepted.
template <typename Action>
std::string failure(Action action) {
  try {
    action();
  } catch (const SqlError& error) {
    return std::string(error.state().text()) + ": " + error.what();
  }
  return "";
}

class SettingsTest : public ::testing::Test {
 protected:
  std::string set(std::string_view name, std::string_view value) {
    return failure([&] { settings.set(name, value, false); });
  }
  ServerSettings server;
  Settings settings{server};
};

TEST(SettingTableTest, IsSortedAndItsDefaultsAreCanonical) {
  auto definitions = setting_definitions();
  for (size_t i = 0; i < definitions.size(); ++i) {
    EXPECT_EQ(find_setting(definitions[i].name), static_cast<int>(i)) << definitions[i].name;
    if (definitions[i].kind == SettingKind::text) {
      EXPECT_EQ(parse_setting(definitions[i], definitions[i].initial).text, definitions[i].initial);
    }
    EXPECT_FALSE(definitions[i].description.empty()) << definitions[i].name;
  }
}

TEST_F(SettingsTest, ValuesAreCanonical) {
  EXPECT_EQ(set("STATEMENT_timeout", "1500"), "");
  EXPECT_EQ(get(settings, "statement_timeout"), "1500ms");
  EXPECT_EQ(set("statement_timeout", "2min"), "");
  EXPECT_EQ(get(settings, "statement_timeout"), "2min");
  EXPECT_EQ(set("work_mem", "0.5 MB"), "");
  EXPECT_EQ(get(settings, "work_mem"), "512kB");
  EXPECT_EQ(set("enable_sort", "fal"), "");
  EXPECT_EQ(get(settings, "enable_sort"), "off");
  EXPECT_EQ(set("bytea_output", "ESCAPE"), "");
  EXPECT_EQ(get(settings, "bytea_output"), "escape");
  EXPECT_EQ(set("DateStyle", "dmy"), "");
  EXPECT_EQ(get(settings, "datestyle"), "ISO, DMY");
  EXPECT_EQ(set("DateStyle", "german"), "");
  EXPECT_EQ(get(settings, "datestyle"), "German, DMY");
  EXPECT_EQ(set("client_encoding", "utf-8"), "");
  EXPECT_EQ(get(settings, "client_encoding"), "UTF8");
  EXPECT_EQ(set("synchronous_commit", "yes"), "");
  EXPECT_EQ(get(settings, "synchronous_commit"), "on");
  EXPECT_EQ(set("application_name", "a\xc3\xa4"), "");
  EXPECT_EQ(get(settings, "application_name"), "a??");
}

TEST_F(SettingsTest, RefusalsAreAsPostgreSqlWordsThem) {
  EXPECT_EQ(set("nosuch", "1"), "42704: unrecognized configuration parameter \"nosuch\"");
  EXPECT_EQ(set("statement_timeout", "-1"),
            "22023: -1 ms is outside the valid range for parameter \"statement_timeout\" (0 .. "
            "2147483647)");
  EXPECT_EQ(set("statement_timeout", "1 parsec"),
            "22023: invalid value for parameter \"statement_timeout\": \"1 parsec\"");
  EXPECT_EQ(set("extra_float_digits", "4"),
            "22023: 4 is outside the valid range for parameter \"extra_float_digits\" (-15 .. 3)");
  EXPECT_EQ(set("enable_sort", "maybe"),
            "22023: parameter \"enable_sort\" requires a Boolean value");
  EXPECT_EQ(set("server_version", "1"), "55P02: parameter \"server_version\" cannot be changed");
  EXPECT_EQ(set("port", "1"),
            "55P02: parameter \"port\" cannot be changed without restarting the server");
  EXPECT_EQ(set("client_encoding", "LATIN1"),
            "0A000: conversion between LATIN1 and UTF8 is not supported");
  EXPECT_EQ(set("client_encoding", "klingon"),
            "22023: invalid value for parameter \"client_encoding\": \"klingon\"");
  EXPECT_EQ(set("DateStyle", "iso, sql"),
            "22023: invalid value for parameter \"DateStyle\": \"iso, sql\"");
  EXPECT_EQ(set("search_path", "a,,b"),
            "22023: invalid value for parameter \"search_path\": \"a,,b\"");
  EXPECT_EQ(set("a.1b", "x"), "42602: invalid configuration parameter name \"a.1b\"");
}

TEST(ServerSettingsTest, TheLogsSettingsHaveTheNamesOfPostgreSql) {
  auto spelled = [](std::string_view name, std::string_view value) {
    return parse_setting(setting_definitions()[static_cast<size_t>(find_setting(name))], value)
        .text;
  };
  EXPECT_EQ(spelled("wal_compression", "LZ4"), "lz4");
  EXPECT_EQ(spelled("wal_compression", "on"), "lz4");
  EXPECT_EQ(spelled("wal_compression", "true"), "lz4");
  EXPECT_EQ(spelled("wal_compression", "0"), "off");
  EXPECT_EQ(spelled("wal_sync_method", "fdatasync"), "fdatasync");
  EXPECT_EQ(spelled("wal_sync_method", "open_datasync"), "open_datasync");
  for (std::string_view method : {"pglz", "zstd", "gzip"}) {
    EXPECT_EQ(
        failure([&] { spelled("wal_compression", method); }),
        "22023: invalid value for parameter \"wal_compression\": \"" + std::string(method) + "\"");
  }
  for (std::string_view method : {"fsync", "open_sync", "fsync_writethrough", "on"}) {
    EXPECT_EQ(
        failure([&] { spelled("wal_sync_method", method); }),
        "22023: invalid value for parameter \"wal_sync_method\": \"" + std::string(method) + "\"");
  }
}

TEST_F(SettingsTest, SetFollowsTheTransaction) {
  settings.start_transaction();
  set("work_mem", "1MB");
  set("my.key", "one");
  EXPECT_EQ(get(settings, "work_mem"), "1MB");
  settings.end_transaction(false);
  EXPECT_EQ(get(settings, "work_mem"), "4MB");
  EXPECT_EQ(get(settings, "my.key"), "(none)");

  settings.start_transaction();
  set("work_mem", "1MB");
  settings.set("work_mem", "2MB", true);
  set("my.key", "one");
  settings.set("my.local", "two", true);
  EXPECT_EQ(get(settings, "work_mem"), "2MB");
  EXPECT_EQ(get(settings, "my.local"), "two");
  settings.end_transaction(true);
  EXPECT_EQ(get(settings, "work_mem"), "1MB");
  EXPECT_EQ(get(settings, "my.key"), "one");
  EXPECT_EQ(get(settings, "my.local"), "(none)");
}

TEST_F(SettingsTest, SavepointsKeepWhatWasSetBeforeThem) {
  set("work_mem", "1MB");
  set("my.key", "zero");
  settings.start_transaction();
  settings.set("work_mem", "2MB", true);
  set("my.key", "one");
  Settings::Mark outer = settings.mark();
  set("work_mem", "3MB");
  set("work_mem", "4MB");
  set("my.new", "new");
  Settings::Mark inner = settings.mark();
  settings.set("work_mem", "5MB", true);
  settings.set("my.new", "newer", true);
  settings.set("my.newest", "newest", true);
  settings.rollback_to(inner);
  EXPECT_EQ(get(settings, "work_mem"), "4MB");
  EXPECT_EQ(get(settings, "my.new"), "new");
  EXPECT_EQ(get(settings, "my.newest"), "(none)");
  settings.set("my.key", "local", true);
  settings.rollback_to(outer);
  EXPECT_EQ(get(settings, "work_mem"), "2MB");
  EXPECT_EQ(get(settings, "my.key"), "one");
  EXPECT_EQ(get(settings, "my.new"), "(none)");
  settings.set("my.key", "local", true);
  settings.end_transaction(true);
  EXPECT_EQ(get(settings, "work_mem"), "1MB");
  EXPECT_EQ(get(settings, "my.key"), "one");
}

// Of a setting that was set for good and then locally, across a savepoint.
TEST_F(SettingsTest, ACommitLeavesWhatWasNotLocal) {
  settings.start_transaction();
  set("work_mem", "1MB");
  settings.mark();
  settings.set("work_mem", "2MB", true);
  set("my.key", "one");
  settings.mark();
  settings.set("my.key", "two", true);
  settings.set("my.local", "one", true);
  settings.mark();
  settings.set("my.local", "two", true);
  settings.end_transaction(true);
  EXPECT_EQ(get(settings, "work_mem"), "1MB");
  EXPECT_EQ(get(settings, "my.key"), "one");
  EXPECT_EQ(get(settings, "my.local"), "(none)");
}

TEST_F(SettingsTest, WhatWasChangedInAReleasedSavepointBelongsToTheOneBelow) {
  set("work_mem", "1MB");
  settings.start_transaction();
  set("my.old", "old");
  Settings::Mark outer = settings.mark();
  set("work_mem", "2MB");
  set("my.key", "one");
  Settings::Mark inner = settings.mark();
  set("work_mem", "3MB");
  settings.set("my.key", "two", true);
  set("my.new", "new");
  set("my.old", "older");
  settings.release(inner, &outer);
  EXPECT_EQ(get(settings, "work_mem"), "3MB");
  EXPECT_EQ(get(settings, "my.key"), "two");
  set("work_mem", "4MB");
  Settings::Mark again = settings.mark();
  set("my.new", "newer");
  settings.rollback_to(again);
  EXPECT_EQ(get(settings, "my.new"), "new");
  settings.release(again, &outer);
  settings.rollback_to(outer);
  EXPECT_EQ(get(settings, "work_mem"), "1MB");
  EXPECT_EQ(get(settings, "my.key"), "(none)");
  EXPECT_EQ(get(settings, "my.new"), "(none)");
  EXPECT_EQ(get(settings, "my.old"), "old");
  set("my.old", "oldest");
  settings.release(outer, nullptr);
  settings.end_transaction(false);
  EXPECT_EQ(get(settings, "work_mem"), "1MB");
  EXPECT_EQ(get(settings, "my.old"), "(none)");
}

// What each of them should show is kept beside them, in a copy for each savepoint.
TEST_F(SettingsTest, RandomSavepointsGoBackToWhatThereWas) {
  std::mt19937 random(1);
  auto below = [&random](size_t count) { return random() % count; };
  using Values = std::map<std::string, std::string>;
  for (int transaction = 0; transaction < 300; ++transaction) {
    struct Savepoint {
      Settings::Mark mark;
      Values values;
    };
    std::vector<Savepoint> savepoints;
    Values values;
    for (int key = 0; key < 8; ++key) {
      std::string name = "my.key" + std::to_string(key);
      values[name] = get(settings, name);
    }
    Values for_good = values;
    settings.start_transaction();
    for (int step = 0; step < 60; ++step) {
      size_t kind = below(6);
      if (kind < 3) {
        std::string name = "my.key" + std::to_string(below(8));
        values[name] = std::to_string(step);
        settings.set(name, values[name], true);
      } else if (kind == 3) {
        savepoints.push_back({settings.mark(), values});
      } else if (!savepoints.empty() && kind == 4) {
        size_t keep = below(savepoints.size());
        for (size_t i = savepoints.size(); i > keep; --i)
          settings.release(savepoints[i - 1].mark, i > 1 ? &savepoints[i - 2].mark : nullptr);
        savepoints.resize(keep);
      } else if (!savepoints.empty()) {
        savepoints.resize(below(savepoints.size()) + 1);
        settings.rollback_to(savepoints.back().mark);
        values = savepoints.back().values;
      }
      for (const auto& [name, value] : values) ASSERT_EQ(get(settings, name), value) << name;
    }
    bool commits = transaction % 2 == 0;
    if (commits) {
      for_good["my.key0"] = "of " + std::to_string(transaction);
      settings.set("my.key0", for_good["my.key0"], false);
    }
    settings.end_transaction(commits);
    for (const auto& [name, value] : for_good) ASSERT_EQ(get(settings, name), value) << name;
  }
}

// Of this thread alone: others may be at work.
int64_t thread_us() {
  timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return int64_t{used.tv_sec} * 1000000 + used.tv_nsec / 1000;
}

// The least time of a few runs that set so many settings in a transaction.
int64_t us_to_set(int count) {
  int64_t least = INT64_MAX;
  for (int run = 0; run < 3; ++run) {
    ServerSettings server;
    Settings settings(server);
    int64_t begun = thread_us();
    settings.start_transaction();
    for (int i = 0; i < count; ++i) settings.set("my.key" + std::to_string(i), "x", false);
    settings.end_transaction(true);
    least = std::min(least, thread_us() - begun);
  }
  return least;
}

TEST(SettingsCostTest, SettingManyIsLinear) {
  constexpr int few = 4000;
  EXPECT_LT(us_to_set(4 * few), 10 * us_to_set(few));
}

// Of savepoints in each other, a setting changed in each, released one by one from the innermost
// on, or each at once.
int64_t us_to_release(int count, bool at_once) {
  int64_t least = INT64_MAX;
  for (int run = 0; run < 3; ++run) {
    ServerSettings server;
    Settings settings(server);
    settings.start_transaction();
    std::vector<Settings::Mark> marks;
    int64_t begun = thread_us();
    for (int i = 0; i < count; ++i) {
      marks.push_back(settings.mark());
      settings.set("my.key" + std::to_string(i), "x", false);
      if (!at_once) continue;
      settings.release(marks.back(), nullptr);
      marks.pop_back();
    }
    for (size_t i = marks.size(); i > 0; --i)
      settings.release(marks[i - 1], i > 1 ? &marks[i - 2] : nullptr);
    least = std::min(least, thread_us() - begun);
    settings.end_transaction(false);
  }
  return least;
}

TEST(SettingsCostTest, ReleasingManySavepointsIsLinear) {
  constexpr int few = 4000;
  for (bool at_once : {true, false})
    EXPECT_LT(us_to_release(4 * few, at_once), 10 * us_to_release(few, at_once)) << at_once;
}

TEST_F(SettingsTest, ResetGoesBackToTheStartUpValue) {
  settings.set_at_start("work_mem", "1MB");
  set("work_mem", "2MB");
  settings.reset("work_mem", false);
  EXPECT_EQ(get(settings, "work_mem"), "1MB");
  set("work_mem", "2MB");
  set("enable_sort", "off");
  settings.reset_all();
  EXPECT_EQ(get(settings, "work_mem"), "1MB");
  EXPECT_EQ(get(settings, "enable_sort"), "on");
}

TEST_F(SettingsTest, CustomOnesGoBackToTheStartUpValue) {
  settings.set_at_start("My.started", "start");
  set("my.started", "other");
  set("my.other", "other");
  settings.reset("my.Started", false);
  EXPECT_EQ(get(settings, "my.started"), "start");
  set("my.started", "other");
  settings.reset_all();
  EXPECT_EQ(get(settings, "my.started"), "start");
  EXPECT_EQ(get(settings, "my.other"), "");
}

// Others may have taken the last of memory_limit since.
TEST_F(SettingsTest, AShorterValueIsSetAboveTheLimit) {
  constexpr size_t limit = 64 << 20;
  EXPECT_EQ(set("my.long", std::string(1 << 20, 'x')), "");
  EXPECT_EQ(set("search_path", std::string(1 << 20, 'x')), "");
  MemoryCeiling ceiling(limit, 1, [] { return MemoryUsage{limit + (1 << 20), limit}; });
  MemoryBudget budget(ceiling, 0);
  MemoryBudget::Use use(budget);
  EXPECT_THROW(set("my.new", ""), MemoryLimitReached);
  EXPECT_THROW(set("my.long", std::string(1 << 20, 'y')), MemoryLimitReached);
  EXPECT_EQ(get(settings, "my.long").size(), 1 << 20);
  EXPECT_EQ(set("my.long", ""), "");
  EXPECT_EQ(set("search_path", "public"), "");
  EXPECT_EQ(get(settings, "my.long") + get(settings, "search_path"), "public");
}

TEST_F(SettingsTest, TransactionModesLastForTheTransaction) {
  EXPECT_EQ(get(settings, "transaction_isolation"), "serializable");
  set("default_transaction_read_only", "on");
  EXPECT_EQ(get(settings, "transaction_read_only"), "on");
  settings.start_transaction();
  EXPECT_EQ(set("transaction_isolation", "read committed"), "");
  EXPECT_EQ(set("transaction_read_only", "off"), "");
  EXPECT_EQ(get(settings, "transaction_isolation"), "read committed");
  settings.fix_transaction_modes();
  EXPECT_EQ(set("transaction_isolation", "serializable"),
            "25001: SET TRANSACTION ISOLATION LEVEL must be called before any query");
  EXPECT_EQ(set("transaction_read_only", "on"), "");
  EXPECT_EQ(set("transaction_read_only", "off"),
            "25001: transaction read-write mode must be set before any query");
  settings.end_transaction(true);
  EXPECT_EQ(get(settings, "transaction_isolation"), "serializable");
}

}  // namespace
}  // namespace pgsilo
