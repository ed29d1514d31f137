// A statement is cancelled, and what it has read is just being committed by somebody: its session
// cannot wait for that, for it is cancelled, and goes on all the same.
#include <gtest/gtest.h>

#include <string>

#include "base/byte_buffer.h"
#include "catalog/catalog.h"
#include "storage/relation/relation.h"
#include "tests/unit/server/server_support.h"

namespace pgsilo {
namespace {

using namespace server_test;

class CancelledValidationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    ASSERT_TRUE(database_.open(&why)) << why;
    database_.start();
    client_ = connect_to(directory_);
    ASSERT_EQ(run("create table t (a int primary key)"), "CREATE TABLE");
    ASSERT_EQ(run("insert into t values (1)"), "INSERT 0 1");
  }
  void TearDown() override { database_.stop(); }

  std::string run(const char* sql) { return tag_or_state(PQexec(client_.get(), sql)); }
  AtomicTidWord& only_row() {
    std::shared_ptr<const CatalogSnapshot> snapshot = database_.catalog().snapshot();
    const TableDescriptor* table = snapshot->find_table(system_oid::schema_public, "t");
    ByteBuffer key;
    const Datum one[] = {Datum::of_int(1)};
    table->primary_key.encode_prefix(one, key);
    return table->relation->tree().get(key.view()).record->tid_word();
  }
  void await_sleep() {
    ConnectionPointer other = connect_to(directory_);
    while (one_value(other.get(),
                     "select count(*) from pg_stat_activity"
                     " where wait_event = 'PgSleep'") != "1") {
    }
  }
  void cancel() {
    std::unique_ptr<PGcancel, decltype(&PQfreeCancel)> cancel(PQgetCancel(client_.get()),
                                                              PQfreeCancel);
    char why[256];
    EXPECT_EQ(PQcancel(cancel.get(), why, sizeof why), 1) << why;
  }

  TestDirectory directory_;
  Database database_{settings_in(directory_), directory_.path() + "/data"};
  ConnectionPointer client_{nullptr, PQfinish};
};

TEST_F(CancelledValidationTest, TheSessionGoesOn) {
  ASSERT_EQ(PQsendQuery(client_.get(), "select a, pg_sleep(60) from t"), 1);
  await_sleep();
  TidWord seen;
  ASSERT_TRUE(only_row().try_lock(LockPurpose::update, seen));
  cancel();
  EXPECT_EQ(tag_or_state(PQgetResult(client_.get())), "57014");
  EXPECT_EQ(PQgetResult(client_.get()), nullptr);
  only_row().unlock();
  EXPECT_EQ(run("select a from t"), "SELECT 1");
}

}  // namespace
}  // namespace pgsilo
