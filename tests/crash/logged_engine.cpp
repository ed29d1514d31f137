#include "tests/crash/logged_engine.h"

#include "base/check.h"
#include "storage/record/row_buffer.h"

namespace pgsilo {

void apply_writes(Content& content, const std::vector<WriteOperation>& transaction) {
  for (const WriteOperation& operation : transaction) {
    std::pair<uint32_t, std::string> key{operation.relation, operation.key};
    if (operation.row) {
      content[key] = *operation.row;
    } else {
      content.erase(key);
    }
  }
}

WalOptions LoggedEngine::small_options() {
  WalOptions options;
  options.buffer_bytes = size_t{64} << 10;
  options.segment_bytes = size_t{256} << 10;
  options.spare_segments = 1;
  options.checkpoints.max_log_bytes = size_t{512} << 10;
  options.recovery_threads = 1;
  return options;
}

std::vector<std::string> LoggedEngine::log_directories(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back("wal" + std::to_string(i));
  return names;
}

LoggedEngine::LoggedEngine(FileSystem& files, std::string directory, WalOptions options)
    : files_(files), directory_(std::move(directory)), options_(std::move(options)) {}

LoggedEngine::~LoggedEngine() {
  workers_.clear();
  wal_.reset();
}

bool LoggedEngine::recover(const LiveRelations& live) {
  wal_ = Wal::open(files_, clock_, directory_, options_, &why_);
  return wal_ != nullptr &&
         wal_->recover(relations_, reclaimer_, live, nullptr, &recovered_, &why_);
}

bool LoggedEngine::begin() {
  epochs_ = std::make_unique<EpochManager>(recovered_.first_epoch);
  durable_ = std::make_unique<DurableEpoch>(recovered_.durable_epoch);
  if (!wal_->start(*epochs_, *durable_, &why_)) return false;
  settings_.parker = &parker_.emplace(*wal_);
  snapshots_ = std::make_unique<SnapshotRegistry>(*epochs_);
  for (unsigned i = 0; i < options_.workers; ++i) {
    sinks_.push_back(std::make_unique<Sink>(wal_->worker_log(i)));
    workers_.push_back(std::make_unique<WorkerContext>(parts(), *sinks_[i]));
  }
  return true;
}

void LoggedEngine::disconnect_log() {
  for (const auto& sink : sinks_) sink->disconnect();
}

TransactionStatus LoggedEngine::write(Transaction& transaction, const WriteOperation& operation) {
  RelationId id(operation.relation);
  Relation& relation = relations_.get_or_create(id, RelationOptions{});
  arena_.reset();
  RowBuffer buffer(arena_);
  RowRef row;
  TransactionStatus found = transaction.get(relation, operation.key, buffer, &row);
  if (found == TransactionStatus::not_found) {
    return operation.row ? transaction.insert(relation, operation.key, *operation.row)
                         : TransactionStatus::ok;
  }
  if (found != TransactionStatus::ok) return found;
  return operation.row ? transaction.update(row, *operation.row) : transaction.remove(row);
}

std::optional<Epoch> LoggedEngine::commit(unsigned worker,
                                          const std::vector<WriteOperation>& operations) {
  Transaction transaction(*workers_[worker], settings_);
  transaction.begin(TransactionMode::one_shot);
  status_ = TransactionStatus::ok;
  for (const WriteOperation& operation : operations) {
    if (status_ == TransactionStatus::ok) status_ = transaction.begin_statement();
    if (status_ == TransactionStatus::ok) status_ = write(transaction, operation);
  }
  if (status_ == TransactionStatus::ok) {
    status_ = transaction.commit();
  } else {
    transaction.abort();
  }
  if (status_ != TransactionStatus::ok) return std::nullopt;
  return transaction.newest_epoch();
}

Content LoggedEngine::content() {
  Content content;
  ReclaimerHandle handle(reclaimer_);
  Pin pin(handle);
  for (Relation* relation : relations_.list()) {
    relation->tree().for_each([&](Record* record) {
      arena_.reset();
      RowBuffer buffer(arena_);
      if (record->stable_read(buffer).is_absent()) return;
      content[{relation->id().value(), std::string(record->key())}] = std::string(buffer.bytes());
    });
  }
  return content;
}

void LoggedEngine::step(unsigned worker, Epoch epoch) {
  wal_->request_durable(worker, epoch, LoggerWake::later);
  wal_->try_step(worker);
}

}  // namespace pgsilo
