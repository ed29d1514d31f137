// The extended query protocol: Parse, Bind, Describe, Execute, Close. Sync and Flush are the
// session's. Thread safety: none; the session's fiber.
#pragma once

#include <cstdint>
#include <string_view>

#include "server/session/session_state.h"
#include "server/session/statement_runner.h"

namespace pgsilo {

class MessageReader;

class ExtendedQuery {
 public:
  ExtendedQuery(SessionState& state, StatementRunner& runner) : state_(state), runner_(runner) {}

  // Each takes a message's body; throws SqlError.
  void parse(std::string_view body);
  void bind(std::string_view body);
  void describe(std::string_view body);
  void execute(std::string_view body);
  void close(std::string_view body);

 private:
  void describe_statement(std::string_view name);
  void describe_portal(std::string_view name);
  // As the session's running query.
  void show(const PreparedStatement& statement);
  std::shared_ptr<PreparedStatement> find_statement(std::string_view name) const;
  std::shared_ptr<Portal> find_portal(std::string_view name) const;
  void read_parameters(MessageReader& reader, std::string_view portal_name,
                       std::string_view statement_name, Portal& portal);
  Datum read_parameter(std::string_view bytes, Oid type, WireFormat format, Portal& portal);
  std::string parameter_title(std::string_view portal_name, size_t number, std::string_view bytes,
                              WireFormat format) const;
  StatementRunner::Outcome run(const std::shared_ptr<Portal>& portal, std::string_view name,
                               uint64_t row_limit);

  SessionState& state_;
  StatementRunner& runner_;
  std::vector<WireFormat> parameter_formats_;  // reused
};

}  // namespace pgsilo
