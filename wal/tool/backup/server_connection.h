// A session with the server that pgsilo-backup works beside. Thread safety: none; one owner.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <vector>

#include "wal/backup/backup_copy.h"
#include "wal/tool/backup/command_line.h"

namespace pgsilo::backup_tool {

class Server {
 public:
  bool connect(const CommandLine& line, std::string* why);
  void disconnect() { connection_.reset(); }
  // Whether the session is there: a failure was the statement's.
  bool is_connected() const { return PQstatus(connection_.get()) == CONNECTION_OK; }
  // Whether that failure was for want of something that may come, or is being mended.
  bool lacks_something() const;
  // Whether what failed last, a connection's beginning too, was refused for what was asked, or who
  // asked: so it will be again.
  bool refuses() const;
  // The only row's first values, as many as `row` has. False: `why`.
  bool ask(const char* statement, const std::vector<std::string>& parameters,
           std::vector<std::string>* row, std::string* why);

 private:
  bool connect_again();
  bool fail(std::string* why);

  std::string state_;  // the last failure's SQLSTATE
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_{nullptr, PQfinish};
};

// Where its files are. False: `why`.
bool find_source(Server& server, BackupSource* source, std::string* why);

}  // namespace pgsilo::backup_tool
