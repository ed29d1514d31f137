#include "tests/unit/server/server_support.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/byte_order.h"
#include "base/file_forwarding.h"
#include "server/pgwire/protocol.h"

namespace pgsilo::server_test {
namespace {

class GatedFile final : public File {
 public:
  GatedFile(std::unique_ptr<File> file, bool synchronous, Gate& gate, std::string path)
      : File(synchronous), file_(std::move(file)), gate_(gate), path_(std::move(path)) {}

  FileResult size(uint64_t* bytes) override { return file_->size(bytes); }
  FileResult allocate(uint64_t bytes) override { return file_->allocate(bytes); }
  FileResult try_lock() override { return file_->try_lock(); }
  FileResult is_at(const std::string& path, bool* is) const override {
    return file_->is_at(path, is);
  }

 protected:
  FileResult do_write(const void* data, size_t bytes, uint64_t offset, size_t* done) override {
    gate_.pass(Gate::At::write, path_);
    *done = bytes;
    return file_->write_at(data, bytes, offset);
  }
  FileResult do_read(void* data, size_t bytes, uint64_t offset, size_t* done) override {
    return file_->read_at(data, bytes, offset, done);
  }
  FileResult do_sync() override { return file_->sync_data(); }

 private:
  std::unique_ptr<File> file_;
  Gate& gate_;
  const std::string path_;
};

class GatedFileSystem final : public ForwardingFileSystem {
 public:
  GatedFileSystem(std::unique_ptr<FileSystem> files, Gate& gate)
      : ForwardingFileSystem(*files), owned_(std::move(files)), gate_(gate) {}

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    gate_.pass(Gate::At::open, path);
    FileResult result = files_.open(path, flags, file);
    if (result.ok())
      *file = std::make_unique<GatedFile>(std::move(*file), flags.synchronous, gate_, path);
    return result;
  }

 private:
  const std::unique_ptr<FileSystem> owned_;
  Gate& gate_;
};

}  // namespace

TestDirectory::TestDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "pgsilo-test.XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

TestDirectory::~TestDirectory() { std::filesystem::remove_all(path_); }

std::string be32(uint32_t value) {
  char bytes[4];
  store_be32(bytes, value);
  return {bytes, 4};
}

std::string startup_packet() {
  std::string body = be32(protocol_version_3);
  for (std::string_view word : {"user", "ann", "database", "postgres", ""}) {
    body += word;
    body += '\0';
  }
  return be32(static_cast<uint32_t>(body.size() + 4)) + body;
}

RawClient::RawClient(const TestDirectory& directory)
    : descriptor_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  timeval ten_seconds{.tv_sec = 10, .tv_usec = 0};
  setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &ten_seconds, sizeof ten_seconds);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, (directory.path() + "/.s.PGSQL.5432").c_str());
  EXPECT_EQ(connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
}

RawClient::~RawClient() { close(descriptor_); }

void RawClient::send(std::string_view bytes) {
  EXPECT_EQ(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

char RawClient::read_byte() {
  char byte = '\0';
  return read(descriptor_, &byte, 1) == 1 ? byte : '\0';
}

std::string RawClient::read_all() {
  std::string all;
  for (char buffer[512];;) {
    ssize_t count = read(descriptor_, buffer, sizeof buffer);
    if (count <= 0) return all;
    all.append(buffer, static_cast<size_t>(count));
  }
}

void Gate::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  reached_ = false;
}

void Gate::open() {
  std::lock_guard lock(mutex_);
  closed_ = false;
  changed_.notify_all();
}

void Gate::wait_until_reached() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return reached_; });
}

void Gate::pass(At at, const std::string& path) {
  if (at != at_ || !path.ends_with(suffix_)) return;
  std::unique_lock lock(mutex_);
  if (!closed_) return;
  reached_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !closed_; });
}

std::unique_ptr<FileSystem> gated_file_system(Gate& gate) {
  return std::make_unique<GatedFileSystem>(posix_file_system(), gate);
}

ServerSettings settings_in(const TestDirectory& directory) {
  ServerSettings settings;
  settings.set("unix_socket_directories", directory.path());
  settings.set("listen_addresses", "");
  settings.set("worker_threads", "2");
  return settings;
}

std::string sent_value(PGconn* connection) {
  std::string value;
  while (PGresult* result = PQgetResult(connection)) {
    value = PQntuples(result) == 1 ? PQgetvalue(result, 0, 0) : PQresultErrorMessage(result);
    PQclear(result);
  }
  return value;
}

std::string one_value(PGconn* connection, const char* sql) {
  return PQsendQuery(connection, sql) == 1 ? sent_value(connection) : PQerrorMessage(connection);
}

std::string tag_or_state(PGresult* given) {
  std::unique_ptr<PGresult, decltype(&PQclear)> result(given, PQclear);
  const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
  return state != nullptr ? state : PQcmdStatus(result.get());
}

ConnectionPointer connect_to(const TestDirectory& directory) {
  return {PQconnectdb(directory.address().c_str()), PQfinish};
}

}  // namespace pgsilo::server_test
