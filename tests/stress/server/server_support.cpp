#include "tests/stress/server/server_support.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "catalog/catalog.h"
#include "catalog/catalog_view.h"
#include "storage/relation/relation.h"
#include "tests/index_agreement.h"

namespace pgsilo::server_stress {
namespace {

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

// libpq warns so of messages that do not belong to any question.
void expect_no_warning(void*, const char* message) {
  EXPECT_EQ(std::string(message).find("arrived from server"), std::string::npos) << message;
}

}  // namespace

InProcessServer::InProcessServer(std::string session_balancing)
    : session_balancing_(std::move(session_balancing)) {
  std::signal(SIGPIPE, SIG_IGN);
  std::string pattern = (std::filesystem::temp_directory_path() / "pgsilo-stress.XXXXXX").string();
  directory_ = mkdtemp(pattern.data());
  address_ = "host=" + directory_ + " port=5432 user=postgres dbname=postgres";
  start();
}

InProcessServer::~InProcessServer() {
  if (database_ != nullptr) database_->stop();
  database_.reset();
  std::filesystem::remove_all(directory_);
}

void InProcessServer::start() {
  ServerSettings settings;
  settings.set("unix_socket_directories", directory_);
  settings.set("listen_addresses", "");
  settings.set("worker_threads", "3");
  settings.set("deadlock_timeout", "10ms");
  settings.set("session_balancing", session_balancing_);
  database_ = std::make_unique<Database>(std::move(settings), directory_ + "/data");
  std::string why;
  ASSERT_TRUE(database_->open(&why)) << why;
  database_->start();
}

void InProcessServer::restart() {
  if (database_ != nullptr) database_->stop();
  database_.reset();
  start();
}

void InProcessServer::stop_and_check() {
  database_->stop();
  size_t checked = 0;
  for (const auto& [oid, table] : database_->catalog().snapshot()->tables()) {
    EXPECT_EQ(table->relation->tree().check(), "") << table->name;
    for (const auto& index : table->indexes) {
      if (index->is_primary_tree()) continue;
      EXPECT_EQ(index->relation->tree().check(), "") << index->name;
      CatalogView view(database_->catalog());
      IndexEntries entries(*table, *index,
                           database_->catalog().index_evaluator(view, *table, *index));
      EXPECT_EQ(index_disagreement(*table, *index, entries), "");
      ++checked;
    }
  }
  EXPECT_GT(checked, 0u);
}

void Client::connect() {
  prepared_.clear();
  connection_.reset();
  connection_.reset(PQconnectdb(address_.c_str()));
  ASSERT_EQ(PQstatus(connection()), CONNECTION_OK) << PQerrorMessage(connection());
  PQsetNoticeProcessor(connection(), expect_no_warning, nullptr);
}

Answer Client::must(const std::string& sql) {
  Answer answer = run(sql);
  EXPECT_TRUE(answer.good()) << sql << ": " << answer.message();
  return answer;
}

Answer Client::run_extended(const std::string& sql, const std::vector<std::string>& parameters) {
  return Answer(PQexecParams(connection(), sql.c_str(), static_cast<int>(parameters.size()),
                             nullptr, pointers(parameters).data(), nullptr, nullptr, 0));
}

std::string Client::prepare(const std::string& sql, Answer* failure) {
  auto known = std::find_if(prepared_.begin(), prepared_.end(),
                            [&](const auto& statement) { return statement.first == sql; });
  if (known != prepared_.end()) return known->second;
  std::string name = "s" + std::to_string(prepared_.size());
  Answer answer(PQprepare(connection(), name.c_str(), sql.c_str(), 0, nullptr));
  if (answer.good()) {
    prepared_.emplace_back(sql, name);
  } else {
    *failure = std::move(answer);
  }
  return name;
}

Answer Client::run_prepared(const std::string& sql, const std::vector<std::string>& parameters) {
  Answer failure;
  std::string name = prepare(sql, &failure);
  if (failure) return failure;
  return Answer(PQexecPrepared(connection(), name.c_str(), static_cast<int>(parameters.size()),
                               pointers(parameters).data(), nullptr, nullptr, 0));
}

std::vector<Answer> Client::run_together(const std::string& sql) {
  std::vector<Answer> answers;
  if (PQsendQuery(connection(), sql.c_str()) != 1) {
    EXPECT_NE(PQstatus(connection()), CONNECTION_OK) << PQerrorMessage(connection());
  }
  while (Answer answer{PQgetResult(connection())}) answers.push_back(std::move(answer));
  return answers;
}

std::vector<Answer> Client::run_pipeline(const std::vector<Call>& calls) {
  std::vector<std::string> names;
  for (const Call& call : calls) {
    Answer failure;
    names.push_back(prepare(call.sql, &failure));
    EXPECT_FALSE(failure) << call.sql << ": " << failure.message();
  }
  EXPECT_EQ(PQenterPipelineMode(connection()), 1);
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::vector<std::string>& parameters = calls[i].parameters;
    EXPECT_EQ(
        PQsendQueryPrepared(connection(), names[i].c_str(), static_cast<int>(parameters.size()),
                            pointers(parameters).data(), nullptr, nullptr, 0),
        1);
  }
  EXPECT_EQ(PQpipelineSync(connection()), 1);
  std::vector<Answer> answers;
  bool lost = false;
  while (!lost) {
    Answer answer(PQgetResult(connection()));
    if (!answer) continue;  // between the answers of two calls
    if (answer.status() == PGRES_PIPELINE_SYNC) break;
    lost = PQstatus(connection()) != CONNECTION_OK;
    if (answer.status() != PGRES_PIPELINE_ABORTED) answers.push_back(std::move(answer));
  }
  EXPECT_EQ(PQexitPipelineMode(connection()), 1);
  return answers;
}

void expect(const Answer& answer, const States& allowed, const std::string& what) {
  bool known = std::find(allowed.begin(), allowed.end(), answer.state()) != allowed.end();
  EXPECT_TRUE(answer.good() || known) << what << ": " << answer.message();
}

void in_threads(int threads, const std::function<void(int)>& body) {
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) running.emplace_back(body, thread);
  for (std::thread& thread : running) thread.join();
}

}  // namespace pgsilo::server_stress
