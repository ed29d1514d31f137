#include "server/session/extended_query.h"

#include "base/long_work.h"
#include "server/pgwire/message_reader.h"
#include "sql/types/text.h"
#include "sql/types/type.h"

namespace pgsilo {
namespace {

void read_formats(MessageReader& reader, std::vector<WireFormat>* formats) {
  formats->resize(reader.uint16());
  for (WireFormat& format : *formats) format = static_cast<WireFormat>(reader.int16());
}

// What a client declares is taken for what it says from here on: only types that exist get further.
// 0 leaves a type to be inferred.
void check_declared(std::span<const Oid> types) {
  for (Oid type : types) {
    if (type == invalid_oid || find_type(type) != nullptr) continue;
    throw SqlError(sqlstate::undefined_object, concat("type with OID ", type, " does not exist"));
  }
}

// What was known before stands nearer to the fault, and first.
void add_context(SqlError& error, const std::string& text) {
  std::string& context = error.amend().context;
  if (!context.empty() && !text.empty()) context += '\n';
  context += text;
}

// Puts the type context's arena back at the end of a scope.
class ArenaScope {
 public:
  ArenaScope(TypeContext& types, Arena& arena) : types_(types), before_(types.arena) {
    types.arena = &arena;
  }
  ~ArenaScope() { types_.arena = before_; }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  TypeContext& types_;
  Arena* before_;
};

}  // namespace

std::shared_ptr<PreparedStatement> ExtendedQuery::find_statement(std::string_view name) const {
  std::shared_ptr<PreparedStatement> found = state_.statements.find(name);
  if (found != nullptr) return found;
  throw SqlError(sqlstate::invalid_sql_statement_name,
                 name.empty() ? std::string("unnamed prepared statement does not exist")
                              : concat("prepared statement \"", name, "\" does not exist"));
}

std::shared_ptr<Portal> ExtendedQuery::find_portal(std::string_view name) const {
  std::shared_ptr<Portal> found = state_.portals.find(name);
  if (found != nullptr) return found;
  throw SqlError(sqlstate::invalid_cursor_name, concat("portal \"", name, "\" does not exist"));
}

void ExtendedQuery::show(const PreparedStatement& statement) {
  state_.log.set_statement(statement.text->syntax->text);
  if (!state_.running_again)
    state_.activity.begin(statement.text->syntax, state_.context.statement_timestamp_us);
}

void ExtendedQuery::parse(std::string_view body) {
  MessageReader reader(body);
  std::string_view name = reader.cstring();
  std::string_view text = reader.cstring();
  std::vector<Oid> types(reader.uint16());
  for (Oid& type : types) type = reader.uint32();
  reader.end();
  validate_text(name);
  validate_text(text);  // before anybody else is shown it

  state_.log.set_statement(text);
  if (!state_.running_again) state_.activity.begin(text, state_.context.statement_timestamp_us);
  // The unnamed statement goes first, so that an error leaves none.
  if (name.empty()) state_.statements.remove(name);
  std::shared_ptr<CachedText> parsed = runner_.parse(text, types, true);
  auto statements = parsed->syntax->statements;
  if (statements.size() > 1) {
    throw SqlError(sqlstate::syntax_error,
                   "cannot insert multiple commands into a prepared statement");
  }
  runner_.begin(statements.empty() ? nullptr : statements[0].statement);
  check_declared(types);
  std::shared_ptr<PreparedStatement> prepared = runner_.prepare(std::move(parsed), 0, true);
  prepared->prepared_us = state_.context.statement_timestamp_us;
  state_.statements.add(name, std::move(prepared));
  state_.reply.messages().bare(BackendMessage::parse_complete);
  if (state_.log.wants_durations()) state_.log.parse_done(name, text);
}

Datum ExtendedQuery::read_parameter(std::string_view bytes, Oid type, WireFormat format,
                                    Portal& portal) {
  const TypeInfo& info = type_info(type);
  TypeContext& types = state_.context.types;
  // The message's bytes do not last: what a value may point into is copied first.
  if (info.by_reference) bytes = copy_value(bytes, *portal.memory);
  if (format == WireFormat::text) {
    validate_text(bytes);
    return info.parse(bytes, no_typmod, types);
  }
  if (!info.can_receive()) {
    throw SqlError(sqlstate::undefined_function,
                   concat("no binary input function available for type ", format_type(type)));
  }
  return info.receive(bytes, no_typmod, types);
}

// Which parameter it was, and a text's value as far as log_parameter_max_length_on_error lets it
// be told.
std::string ExtendedQuery::parameter_title(std::string_view portal_name, size_t number,
                                           std::string_view bytes, WireFormat format) const {
  std::string title = concat(portal_title(portal_name), " parameter $", number);
  if (format != WireFormat::text || valid_text_prefix(bytes) != bytes.size()) return title;
  return concat(title, " = ", quoted_parameter(bytes, state_.log.parameter_length_on_error()));
}

void ExtendedQuery::read_parameters(MessageReader& reader, std::string_view portal_name,
                                    std::string_view statement_name, Portal& portal) {
  read_formats(reader, &parameter_formats_);
  size_t count = reader.uint16();
  const std::vector<Oid>& types = portal.statement->parameter_types;
  if (parameter_formats_.size() > 1 && parameter_formats_.size() != count) {
    throw SqlError(sqlstate::protocol_violation,
                   concat("bind message has ", parameter_formats_.size(), " parameter formats but ",
                          count, " parameters"));
  }
  if (count != types.size()) {
    throw SqlError(sqlstate::protocol_violation,
                   concat("bind message supplies ", count, " parameters, but prepared statement \"",
                          statement_name, "\" requires ", types.size()));
  }
  ArenaScope scope(state_.context.types, *portal.memory);
  portal.parameters.resize(count);
  for (size_t i = 0; i < count; ++i) {
    int32_t length = reader.int32();
    if (length < -1) throw SqlError(sqlstate::protocol_violation, "invalid message format");
    std::string_view bytes = length == -1 ? "" : reader.bytes(static_cast<size_t>(length));
    WireFormat format = format_of_column(parameter_formats_, i);
    try {
      require_known_format(format);
      runner_.rest_on_domains(types[i]);
      if (length != -1) {
        portal.parameters[i] = read_parameter(bytes, types[i], format, portal);
      } else {
        check_domain(type_info(types[i]), Datum(), state_.context.types);
      }
    } catch (SqlError& error) {
      add_context(error, parameter_title(portal_name, i + 1, bytes, format));
      throw;
    }
  }
}

void ExtendedQuery::bind(std::string_view body) {
  MessageReader reader(body);
  std::string_view portal_name = reader.cstring();
  std::string_view statement_name = reader.cstring();
  auto portal = std::make_shared<Portal>();
  portal->statement = find_statement(statement_name);
  show(*portal->statement);
  runner_.begin(portal->statement->node);
  state_.apply_settings();
  portal->statement_name = statement_name;
  portal->bound_us = state_.context.statement_timestamp_us;
  read_parameters(reader, portal_name, statement_name, *portal);
  read_formats(reader, &portal->result_formats);
  reader.end();
  validate_text(portal_name);
  runner_.revalidate(*portal->statement);
  runner_.choose_plan(*portal, !statement_name.empty());
  size_t columns = portal->statement->result_columns.size();
  if (portal->result_formats.size() > 1 && portal->result_formats.size() != columns) {
    throw SqlError(sqlstate::protocol_violation,
                   concat("bind message has ", portal->result_formats.size(),
                          " result formats but query has ", columns, " columns"));
  }
  Portal& bound = *portal;
  state_.portals.add(portal_name, std::move(portal));
  state_.reply.messages().bare(BackendMessage::bind_complete);
  if (state_.log.wants_durations()) state_.log.bind_done(bound, portal_name, state_.context.types);
}

void ExtendedQuery::describe_statement(std::string_view name) {
  std::shared_ptr<PreparedStatement> statement = find_statement(name);
  if (statement->returns_rows) state_.transactions.require_not_failed();
  runner_.begin(nullptr);
  if (state_.transactions.state() != TransactionControl::State::failed)
    runner_.revalidate(*statement);
  state_.transactions.catalog().told_by(state_.transactions.storage());
  MessageWriter& messages = state_.reply.messages();
  messages.parameter_description(statement->parameter_types);
  if (statement->returns_rows) {
    messages.row_description(statement->result_columns, {});
  } else {
    messages.bare(BackendMessage::no_data);
  }
}

void ExtendedQuery::describe_portal(std::string_view name) {
  std::shared_ptr<Portal> portal = find_portal(name);
  if (portal->statement->returns_rows) state_.transactions.require_not_failed();
  MessageWriter& messages = state_.reply.messages();
  if (portal->statement->returns_rows) {
    messages.row_description(portal->statement->result_columns, portal->result_formats);
  } else {
    messages.bare(BackendMessage::no_data);
  }
}

void ExtendedQuery::describe(std::string_view body) {
  MessageReader reader(body);
  char kind = static_cast<char>(reader.byte());
  std::string_view name = reader.cstring();
  reader.end();
  if (kind == 'S') {
    describe_statement(name);
  } else if (kind == 'P') {
    describe_portal(name);
  } else {
    throw SqlError(sqlstate::protocol_violation,
                   concat("invalid DESCRIBE message subtype ", static_cast<int>(kind)));
  }
}

void ExtendedQuery::execute(std::string_view body) {
  MessageReader reader(body);
  std::string_view name = reader.cstring();
  int32_t limit = reader.int32();
  reader.end();
  std::shared_ptr<Portal> portal = find_portal(name);
  if (portal->statement->node == nullptr) {
    state_.reply.messages().bare(BackendMessage::empty_query_response);
    return;
  }
  show(*portal->statement);
  state_.run_counted(*portal->statement->text, portal->statement->text->syntax->text);
  // As in PostgreSQL nothing is left of it, not even that it would end the block.
  if (portal->state == Portal::State::ended) state_.transactions.require_not_failed();
  runner_.begin(portal->statement->node);
  state_.interrupts.check();
  if (state_.log.wants_statements() && !state_.running_again)
    state_.log.execute(*portal, name, state_.context.types);
  StatementRunner::Outcome outcome =
      run(portal, name, limit <= 0 ? 0 : static_cast<uint64_t>(limit));
  state_.transactions.statement_ran();
  if (outcome.suspended) {
    state_.reply.messages().bare(BackendMessage::portal_suspended);
  } else {
    state_.reply.messages().command_complete(outcome.tag);
    state_.interrupts.stop_clock();
  }
  if (state_.log.wants_durations()) state_.log.execute_done(*portal, name, state_.context.types);
}

StatementRunner::Outcome ExtendedQuery::run(const std::shared_ptr<Portal>& portal,
                                            std::string_view name, uint64_t row_limit) {
  try {
    return runner_.run(portal, row_limit);
  } catch (SqlError& error) {
    add_context(error, state_.log.parameter_context(*portal, name, state_.context.types));
    throw;
  }
}

void ExtendedQuery::close(std::string_view body) {
  MessageReader reader(body);
  char kind = static_cast<char>(reader.byte());
  std::string_view name = reader.cstring();
  reader.end();
  if (kind == 'S') {
    state_.statements.remove(name);
  } else if (kind == 'P') {
    state_.portals.remove(name);
  } else {
    throw SqlError(sqlstate::protocol_violation,
                   concat("invalid CLOSE message subtype ", static_cast<int>(kind)));
  }
  state_.reply.messages().bare(BackendMessage::close_complete);
}

}  // namespace pgsilo
