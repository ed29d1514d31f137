// Files that have gone take no place and no descriptor, however long their removal takes.
#include "tests/unit/executor/spill/gated_fixture.h"

namespace pgsilo {
namespace {

using testing::GatedFixture;

struct FilePlacesTest : GatedFixture {
  std::vector<std::unique_ptr<SpillFile>> open;
  void make_most() {
    while (open.size() < most_files) open.push_back(std::make_unique<SpillFile>(files, budget));
  }
};

TEST_F(FilePlacesTest, RetiredFilesHaveNone) {
  disk_gates.hold(Call::remove);
  retire_file();
  ASSERT_TRUE(disk_gates.await_held(Call::remove));
  for (int turn = 0; turn < 20; ++turn) {
    EXPECT_EQ(state_of([&] { make_most(); }), "none") << turn;
    EXPECT_EQ(state_of([&] { SpillFile one_more(files, budget); }), "53000");
    open.clear();
  }
  EXPECT_EQ(disk_gates.held(Call::remove), 1);
  EXPECT_LE(disk_gates.most_open_files(), static_cast<int>(most_files + threads));
  expect_all_gone();
}

TEST_F(FilePlacesTest, FilesThatCouldNotBeMadeHaveNone) {
  disk_gates.fail(Call::create, testing::GatedFiles::failed, 5);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(state_of([&] { SpillFile file(files, budget); }), "58030");
  EXPECT_EQ(state_of([&] { make_most(); }), "none");
  open.clear();
  EXPECT_EQ(counters.files.value(), 0);
  expect_all_gone();
}

}  // namespace
}  // namespace pgsilo
