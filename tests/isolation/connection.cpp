#include "tests/isolation/connection.h"

#include <poll.h>

#include <stdexcept>

namespace pgsilo::isolation {
namespace {

std::string rows_of(const PGresult* result) {
  std::string text;
  for (int row = 0; row < PQntuples(result); ++row) {
    if (row > 0) text += " ";
    for (int column = 0; column < PQnfields(result); ++column) {
      if (column > 0) text += ",";
      text += PQgetisnull(result, row, column) != 0 ? "null" : PQgetvalue(result, row, column);
    }
  }
  return text.empty() ? "no row" : text;
}

}  // namespace

Connection::Connection(const std::string& conninfo)
    : connection_(PQconnectdb(conninfo.c_str()), PQfinish) {
  if (PQstatus(connection_.get()) != CONNECTION_OK)
    throw std::runtime_error(PQerrorMessage(connection_.get()));
  PQsetNoticeProcessor(connection_.get(), [](void*, const char*) {}, nullptr);
}

void Connection::send(const std::string& sql) {
  answer_ = {};
  complete_ = false;
  pending_ = true;
  if (PQsendQuery(connection_.get(), sql.c_str()) != 1)
    throw std::runtime_error(PQerrorMessage(connection_.get()));
}

void Connection::add(const PGresult* result) {
  if (!answer_.text.empty()) answer_.text += "; ";
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  answer_.tag = PQcmdStatus(const_cast<PGresult*>(result));
  switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_EMPTY_QUERY:
      answer_.text += answer_.tag;
      break;
    case PGRES_TUPLES_OK:
      answer_.text += rows_of(result);
      break;
    default:
      if (state == nullptr) throw std::runtime_error(PQresultErrorMessage(result));
      answer_.sqlstate = state;
      answer_.tag.clear();
      answer_.text += "error " + answer_.sqlstate;
  }
}

bool Connection::answered(int milliseconds) {
  while (!complete_) {
    if (PQisBusy(connection_.get()) != 0) {
      pollfd socket{PQsocket(connection_.get()), POLLIN, 0};
      if (poll(&socket, 1, milliseconds) == 0) return false;
      if (PQconsumeInput(connection_.get()) != 1)
        throw std::runtime_error(PQerrorMessage(connection_.get()));
      continue;
    }
    std::unique_ptr<PGresult, decltype(&PQclear)> result(PQgetResult(connection_.get()), PQclear);
    if (result == nullptr) {
      complete_ = true;
    } else {
      add(result.get());
    }
  }
  return true;
}

Answer Connection::take() {
  pending_ = false;
  return std::move(answer_);
}

Answer Connection::run(const std::string& sql) {
  constexpr int patience_ms = 60'000;
  send(sql);
  if (!answered(patience_ms)) throw std::runtime_error("no answer to " + sql);
  return take();
}

Answer Connection::must(const std::string& sql) {
  Answer answer = run(sql);
  if (!answer.sqlstate.empty()) throw std::runtime_error(answer.text + ": " + sql);
  return answer;
}

bool Connection::in_block() const {
  PGTransactionStatusType status = PQtransactionStatus(connection_.get());
  return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

}  // namespace pgsilo::isolation
