// A child process commits on two threads over real files and notes each acknowledgement in a pipe;
// the parent kills it with SIGKILL at a random moment, recovers, and compares. The same directory
// goes through several lives. PGSILO_KILLS sets their number (4).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/check.h"
#include "base/random.h"
#include "tests/crash/logged_engine.h"
#include "wal/durable_parker.h"

namespace pgsilo {
namespace {

constexpr unsigned workers = 2;
constexpr uint64_t remembered = 50;  // of a worker's transactions, row by row

struct Note {
  uint32_t worker;
  uint32_t number;
};

uint64_t number_in(const Content& content, const std::string& key) {
  auto found = content.find({1, key});
  return found == content.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 10);
}

std::string last_key(unsigned worker) { return "last" + std::to_string(worker); }
std::string slot_key(unsigned worker, uint64_t number) {
  return "slot" + std::to_string(worker) + ":" + std::to_string(number % remembered);
}

// What one thread of the child does: transaction n writes n into its own row `last` and its slot,
// and adds one to `total`, which both threads share.
class Committer {
 public:
  Committer(LoggedEngine& engine, unsigned index, uint64_t last)
      : engine_(engine),
        index_(index),
        number_(last),
        relation_(engine.relations().get_or_create(RelationId(1), {})) {
    settings_.parker = &parker_;
    engine.wal().set_listener(index, &parker_);
  }

  void run(int notes) {
    Transaction transaction(engine_.worker(index_), settings_);
    for (;;) {
      if (!attempt(transaction, number_ + 1)) continue;
      ++number_;
      Epoch epoch = transaction.newest_epoch();
      engine_.wal().request_durable(index_, epoch,
                                    number_ % 2 == 0 ? LoggerWake::now : LoggerWake::later);
      while (engine_.wal().durable_epoch() < epoch) {
        if (!engine_.wal().try_step(index_)) parker_.park(Parker::no_deadline);
      }
      Note note{index_, static_cast<uint32_t>(number_)};
      PGSILO_CHECK(write(notes, &note, sizeof note) == sizeof note);
    }
  }

 private:
  bool attempt(Transaction& transaction, uint64_t number) {
    transaction.begin(TransactionMode::one_shot);
    arena_.reset();
    RowBuffer buffer(arena_);
    RowRef row;
    TransactionStatus status = transaction.get(relation_, "total", buffer, &row);
    uint64_t total = status == TransactionStatus::ok
                         ? std::strtoull(std::string(row.row).c_str(), nullptr, 10)
                         : 0;
    bool ok = put(transaction, "total", std::to_string(total + 1)) &&
              put(transaction, last_key(index_), std::to_string(number)) &&
              put(transaction, slot_key(index_, number),
                  std::to_string(number) + std::string(number % 700, ' '));
    if (!ok) {
      transaction.abort();
      return false;
    }
    return transaction.commit() == TransactionStatus::ok;
  }

  bool put(Transaction& transaction, const std::string& key, const std::string& value) {
    if (transaction.begin_statement() != TransactionStatus::ok) return false;
    RowBuffer buffer(arena_);
    RowRef row;
    TransactionStatus status = transaction.get(relation_, key, buffer, &row);
    status = status == TransactionStatus::ok ? transaction.update(row, value)
                                             : transaction.insert(relation_, key, value);
    return status == TransactionStatus::ok;
  }

  LoggedEngine& engine_;
  const unsigned index_;
  uint64_t number_;
  Relation& relation_;
  DurableParker parker_;
  WaitSettings settings_;
  Arena arena_;
};

WalOptions real_options(unsigned logs, bool compress) {
  WalOptions options = LoggedEngine::small_options();
  options.workers = workers;
  options.segment_bytes = size_t{1} << 20;
  options.compress = compress;
  options.recovery_threads = 2;
  options.log_directories = LoggedEngine::log_directories(logs);
  return options;
}

[[noreturn]] void child(const std::string& directory, unsigned logs, bool compress, int notes) {
  std::unique_ptr<FileSystem> files = posix_file_system();
  LoggedEngine engine(*files, directory, real_options(logs, compress));
  PGSILO_CHECK(engine.start());
  engine.wal().start_threads();
  Content content = engine.content();
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < workers; ++i) {
    threads.emplace_back(
        [&, i] { Committer(engine, i, number_in(content, last_key(i))).run(notes); });
  }
  threads[0].join();  // never
  _exit(1);
}

void check_content(const Content& content, const uint64_t acknowledged[workers]) {
  uint64_t total = 0;
  for (unsigned worker = 0; worker < workers; ++worker) {
    uint64_t last = number_in(content, last_key(worker));
    EXPECT_GE(last, acknowledged[worker]) << "an acknowledged transaction is lost";
    for (uint64_t number = last; number > 0 && number + remembered > last; --number) {
      EXPECT_EQ(number_in(content, slot_key(worker, number)), number);
    }
    total += last;
  }
  EXPECT_EQ(number_in(content, "total"), total);
}

void run_lives(unsigned logs) {
  char name[] = "/tmp/pgsilo_kill_XXXXXX";
  std::string directory = mkdtemp(name);
  const char* setting = std::getenv("PGSILO_KILLS");
  int lives = setting == nullptr ? 4 : std::atoi(setting);
  Random random(static_cast<uint64_t>(getpid()));
  uint64_t acknowledged[workers] = {};
  for (int life = 0; life < lives; ++life) {
    bool compress = life % 2 == 0;
    int notes[2];
    ASSERT_EQ(pipe(notes), 0);
    pid_t pid = fork();
    if (pid == 0) {
      close(notes[0]);
      child(directory, logs, compress, notes[1]);
    }
    close(notes[1]);
    // The first note says that the child is at work; then any moment will do.
    uint64_t wanted = 1 + random.below(400);
    Note note;
    uint64_t got = 0;
    bool killed = false;
    while (read(notes[0], &note, sizeof note) == sizeof note) {
      acknowledged[note.worker] = std::max<uint64_t>(acknowledged[note.worker], note.number);
      if (++got < wanted || killed) continue;
      usleep(static_cast<useconds_t>(random.below(300)));
      kill(pid, SIGKILL);
      killed = true;
    }
    close(notes[0]);
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the child ended by itself";
    std::unique_ptr<FileSystem> files = posix_file_system();
    LoggedEngine engine(*files, directory, real_options(logs, compress));
    ASSERT_TRUE(engine.start()) << engine.why();
    check_content(engine.content(), acknowledged);
  }
  EXPECT_GT(acknowledged[0] + acknowledged[1], static_cast<uint64_t>(lives));
  std::filesystem::remove_all(directory);
}

TEST(SigkillChild, OneLog) { run_lives(1); }
TEST(SigkillChild, TwoLogs) { run_lives(2); }

}  // namespace
}  // namespace pgsilo
