#include "server/session/wal_slots.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include "base/parker.h"
#include "executor/wait_report.h"
#include "sql/sql_error.h"
#include "wal/checkpoint/log_slots.h"
#include "wal/layout/lsn_text.h"
#include "wal/log/segment_keeper.h"

namespace pgsilo {
namespace {

void check_name(std::string_view name) {
  if (name.empty()) {
    throw SqlError(sqlstate::invalid_name,
                   concat("replication slot name \"", name, "\" is too short"));
  }
  bool valid = std::ranges::all_of(
      name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
  if (valid) return;
  throw SqlError(sqlstate::invalid_name,
                 concat("replication slot name \"", name, "\" contains invalid character"))
      .hint(
          "Replication slot names may only contain lower case letters, numbers, and the "
          "underscore character.");
}

// Of what is the same whatever was to be done.
[[noreturn]] void refuse(std::string_view name, const SlotResult& result) {
  switch (result.outcome) {
    case SlotOutcome::exists:
      throw SqlError(sqlstate::duplicate_object,
                     concat("replication slot \"", name, "\" already exists"));
    case SlotOutcome::all_in_use:
      throw SqlError(sqlstate::configuration_limit_exceeded, "all replication slots are in use")
          .hint("Free one or increase max_replication_slots.");
    case SlotOutcome::active:
      throw SqlError(sqlstate::object_in_use, concat("replication slot \"", name,
                                                     "\" is active for PID ", result.slot.owner));
    case SlotOutcome::not_reserved:
      throw SqlError(sqlstate::object_not_in_prerequisite_state,
                     concat("replication slot \"", name, "\" cannot be advanced"))
          .detail("This slot has never previously reserved WAL, or it has been invalidated.");
    case SlotOutcome::failed:
      throw SqlError(sqlstate::io_error, result.why);
    case SlotOutcome::no_space:
      throw SqlError(sqlstate::disk_full, result.why);
    default:
      throw SqlError(sqlstate::undefined_object,
                     concat("replication slot \"", name, "\" does not exist"));
  }
}

class Errand final : public KeeperErrand {
 public:
  Errand(const std::function<SlotResult()>& work, Parker& parker) : work_(work), parker_(parker) {}

  void run() noexcept override {
    try {
      result_ = work_();
    } catch (...) {
      failure_ = std::current_exception();
    }
    // Without the lock the session might be gone before it is woken.
    std::lock_guard lock(mutex_);
    done_ = true;
    parker_.unpark();
  }
  bool done() {
    std::lock_guard lock(mutex_);
    return done_;
  }
  SlotResult result() {
    if (failure_) std::rethrow_exception(failure_);
    return std::move(result_);
  }

 private:
  const std::function<SlotResult()>& work_;
  Parker& parker_;
  SlotResult result_;
  std::exception_ptr failure_;
  std::mutex mutex_;
  bool done_ = false;
};

}  // namespace

// Not to be broken off: what is under way happens, and the session has to know.
SlotResult WalSlots::elsewhere(const std::function<SlotResult()>& work) {
  Errand errand(work, *context_.parker);
  WaitScope waits(context_.wait_report, WaitEvent::log_sync);
  slots_.keeper().ask(errand);
  while (!errand.done()) context_.parker->park();
  return errand.result();
}

std::optional<uint64_t> WalSlots::create(std::string_view name, bool reserve, bool temporary) {
  check_name(name);
  if (slots_.most() == 0) {
    throw SqlError(sqlstate::object_not_in_prerequisite_state,
                   "replication slots can only be used if max_replication_slots > 0");
  }
  SlotResult result =
      elsewhere([&] { return slots_.create(name, reserve, temporary ? context_.backend_pid : 0); });
  if (result.outcome != SlotOutcome::ok) refuse(name, result);
  has_temporary_ |= temporary;
  return reserve ? std::optional(result.slot.restart.value()) : std::nullopt;
}

// What was done is not on disk: the device is full.
void WalSlots::warn(const SlotResult& result, std::string_view hint) {
  if (result.why.empty()) return;
  context_.notices->notice(SqlError(Severity::warning, sqlstate::disk_full, result.why)
                               .detail("The change counts, and is written when there is room.")
                               .hint(std::string(hint)));
}

void WalSlots::drop(std::string_view name) {
  SlotResult result = elsewhere([&] { return slots_.drop(name, context_.backend_pid); });
  if (result.outcome != SlotOutcome::ok) refuse(name, result);
  warn(result, "Until it is, a restart finds the slot again, lost if its log has gone.");
}

uint64_t WalSlots::advance(std::string_view name, uint64_t epoch) {
  if (epoch == 0) throw SqlError(sqlstate::internal_error, "invalid target WAL LSN");
  SlotResult result =
      elsewhere([&] { return slots_.advance(name, Epoch(epoch), context_.backend_pid); });
  if (result.outcome == SlotOutcome::behind) {
    throw SqlError(sqlstate::object_not_in_prerequisite_state,
                   concat("cannot advance replication slot to ", lsn_text(Epoch(epoch)),
                          ", minimum is ", lsn_text(result.slot.restart)));
  }
  if (result.outcome != SlotOutcome::ok) refuse(name, result);
  warn(result, "Until it is, a restart finds the slot where it was, lost if its log has gone.");
  return result.slot.restart.value();
}

void WalSlots::drop_temporary() noexcept {
  if (!has_temporary_) return;
  has_temporary_ = false;
  slots_.drop_temporary(context_.backend_pid);
}

}  // namespace pgsilo
