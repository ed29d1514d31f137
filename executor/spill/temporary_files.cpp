#include "executor/spill/temporary_files.h"

#include "base/parker.h"
#include "executor/spill/spill_error.h"
#include "executor/transaction_status.h"
#include "sql/sql_error.h"

namespace pgsilo {

void TemporaryFiles::take(uint64_t bytes) {
  if (limit_kilobytes_ >= 0 && bytes_ + bytes > static_cast<uint64_t>(limit_kilobytes_) * 1024) {
    throw SqlError(
        sqlstate::configuration_limit_exceeded,
        concat("temporary file size exceeds temp_file_limit (", limit_kilobytes_, "kB)"));
  }
  bytes_ += bytes;
}

void TemporaryFiles::give_back(uint64_t bytes) {
  bytes_ -= bytes;
  if (bytes == 0) return;
  counters_.files.add();
  counters_.bytes.add(bytes);
}

void TemporaryFiles::wait(TemporaryStorage::Transfer& transfer) {
  using Kind = TemporaryStorage::Transfer::Kind;
  bool writes = transfer.kind == Kind::write;
  while (true) {
    if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed))
      raise_transaction_status(TransactionStatus::cancelled);
    if (storage_.is_done(transfer)) break;
    WaitScope scope(report_, writes ? WaitEvent::spill_write : WaitEvent::spill_read);
    parker_->park();
  }
  const std::string& path = transfer.file->path();
  if (!transfer.result.ok())
    throw file_error(writes ? "write to file" : "read file", path, transfer.result);
  if (transfer.is_damaged) {
    throw SqlError(sqlstate::data_corrupted,
                   concat("block ", transfer.block, " of temporary file \"", path,
                          "\" is not what was written"));
  }
}

}  // namespace pgsilo
