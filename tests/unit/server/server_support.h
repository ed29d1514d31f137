// A server inside of a test, over a disk that stops where the test wants, and its clients.
// Thread safety: none but where said.
#pragma once

#include <libpq-fe.h>

#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/file.h"
#include "server/database.h"

namespace pgsilo::server_test {

using ConnectionPointer = std::unique_ptr<PGconn, decltype(&PQfinish)>;

class TestDirectory {
 public:
  TestDirectory();
  ~TestDirectory();
  const std::string& path() const { return path_; }
  std::string address() const {
    return "host=" + path_ + " port=5432 user=postgres dbname=postgres";
  }

 private:
  std::string path_;
};

std::string be32(uint32_t value);
std::string startup_packet();

// A client's end of a connection to the Unix socket in `directory`.
class RawClient {
 public:
  explicit RawClient(const TestDirectory& directory);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(std::string_view bytes);
  // '\0' if none comes in ten seconds.
  char read_byte();
  // To the end of the connection, or until nothing comes for ten seconds.
  std::string read_all();

 private:
  int descriptor_;
};

// Where a disk stops until it may go on: at operations on files whose names end so. Any thread.
class Gate {
 public:
  enum class At : uint8_t { open, write };
  Gate(At at, std::string suffix) : at_(at), suffix_(std::move(suffix)) {}

  void close();
  void open();
  // Until somebody stands before it.
  void wait_until_reached();
  // Of the disk.
  void pass(At at, const std::string& path);

 private:
  const At at_;
  const std::string suffix_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  bool reached_ = false;
};

// The process's own file system behind a gate, which outlives it.
std::unique_ptr<FileSystem> gated_file_system(Gate& gate);

// Two workers, on a Unix socket in the directory.
ServerSettings settings_in(const TestDirectory& directory);

// The only value that the query returns, or the message of its error; of several the last one's.
std::string one_value(PGconn* connection, const char* sql);
// Of the query that was sent.
std::string sent_value(PGconn* connection);
// The command's tag, or the SQLSTATE of its error. Clears the result.
std::string tag_or_state(PGresult* given);
ConnectionPointer connect_to(const TestDirectory& directory);

}  // namespace pgsilo::server_test
