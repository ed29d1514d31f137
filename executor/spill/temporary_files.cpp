#include "executor/spill/temporary_files.h"

#include "base/thread_parker.h"
#include "executor/spill/spill_error.h"
#include "executor/transaction_status.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

SqlError transfer_error(const TemporaryStorage::Transfer& transfer) {
  using Kind = TemporaryStorage::Transfer::Kind;
  std::string_view what = "create temporary file";
  if (transfer.kind == Kind::read) what = "read file";
  if (transfer.kind == Kind::write) what = "write to file";
  return file_error(what, transfer.file->path(), transfer.result);
}

}  // namespace

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

std::shared_ptr<TemporaryStorage::OpenFile> TemporaryFiles::create() {
  TemporaryStorage::TransferHandle making = storage_.make_transfer();
  making->kind = Transfer::Kind::create;
  making->file = storage_.take_place();
  submit(*making);
  wait(*making);
  return making->file;
}

void TemporaryFiles::check_cancelled() const {
  if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed))
    raise_transaction_status(TransactionStatus::cancelled);
}

void TemporaryFiles::await_end(const Transfer& transfer) {
  bool reads = transfer.kind == Transfer::Kind::read;
  while (true) {
    check_cancelled();
    if (storage_.is_done(transfer)) return;
    WaitScope scope(report_, reads ? WaitEvent::spill_read : WaitEvent::spill_write);
    parker_->park();
  }
}

// False: there is none to wait for.
bool TemporaryFiles::await_space(Transfer& transfer) {
  using Outlook = TemporaryStorage::SpaceWait::Outlook;
  ThreadParker thread;
  Parker& parker = parker_ != nullptr ? *parker_ : thread;
  TemporaryStorage::SpaceWait space(storage_, transfer, parker);
  while (true) {
    check_cancelled();
    Outlook outlook = space.outlook();
    if (outlook != Outlook::awaited) return outlook == Outlook::came;
    WaitScope scope(report_, WaitEvent::spill_write);
    parker.park();
  }
}

void TemporaryFiles::wait(Transfer& transfer) {
  await_end(transfer);
  while (transfer.result.status == FileStatus::no_space && await_space(transfer)) {
    storage_.submit_again(transfer, parker_);
    await_end(transfer);
  }
  if (!transfer.result.ok()) throw transfer_error(transfer);
  if (transfer.is_damaged) throw damaged_block(transfer.file->path(), transfer.block);
}

}  // namespace pgsilo
