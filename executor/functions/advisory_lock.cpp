// pg_advisory_lock() and its kin: each with one bigint key or with two ints.
#include "storage/transaction/advisory_lock.h"

#include "executor/execution_context.h"
#include "executor/functions/function.h"
#include "executor/transaction_status.h"
#include "sql/sql_error.h"
#include "storage/transaction/transaction.h"

namespace pgsilo::functions {
namespace {

using Scope = AdvisoryLocks::Scope;

template <int keys>
LockTag tag_of(const Datum* a) {
  if constexpr (keys == 1) return LockTag::advisory(a[0].i64);
  return LockTag::advisory(static_cast<int32_t>(a[0].i64), static_cast<int32_t>(a[1].i64));
}

template <int keys, LockMode mode, Scope scope>
bool gain(ExecutionContext& session, const Datum* a, WaitPolicy policy) {
  TransactionStatus status = session.advisory_locks->lock(tag_of<keys>(a), mode, scope, policy,
                                                          session.transaction->waits());
  if (status == TransactionStatus::lock_not_available && policy == WaitPolicy::no_wait)
    return false;
  if (status != TransactionStatus::ok) raise_transaction_status(status);
  return true;
}

template <int keys, LockMode mode, Scope scope>
Datum lock(EvalContext& context, const Datum* a) {
  ExecutionContext& session = *context.execution;
  if (session.transaction->keeps_writers_out()) {
    // Its holder may be one of them.
    if (gain<keys, mode, scope>(session, a, WaitPolicy::no_wait)) return Datum::of_int(0);
    session.transaction->let_writers_in();
  }
  gain<keys, mode, scope>(session, a, WaitPolicy::wait);
  return Datum::of_int(0);
}

template <int keys, LockMode mode, Scope scope>
Datum try_lock(EvalContext& context, const Datum* a) {
  return Datum::of_bool(gain<keys, mode, scope>(*context.execution, a, WaitPolicy::no_wait));
}

template <int keys, LockMode mode>
Datum unlock(EvalContext& context, const Datum* a) {
  ExecutionContext& session = *context.execution;
  if (session.advisory_locks->unlock(tag_of<keys>(a), mode)) return Datum::of_bool(true);
  session.notices->notice(
      SqlError(Severity::warning, sqlstate::warning,
               concat("you don't own a lock of type ",
                      mode == LockMode::share ? "ShareLock" : "ExclusiveLock")));
  return Datum::of_bool(false);
}

Datum unlock_all(EvalContext& context, const Datum*) {
  context.execution->advisory_locks->unlock_all();
  return Datum::of_int(0);
}

constexpr LockMode share = LockMode::share, exclusive = LockMode::exclusive;

constexpr FunctionEntry entries[] = {
    {2880, lock<1, exclusive, Scope::session>},
    {2881, lock<1, share, Scope::session>},
    {2882, try_lock<1, exclusive, Scope::session>},
    {2883, try_lock<1, share, Scope::session>},
    {2884, unlock<1, exclusive>},
    {2885, unlock<1, share>},
    {2886, lock<2, exclusive, Scope::session>},
    {2887, lock<2, share, Scope::session>},
    {2888, try_lock<2, exclusive, Scope::session>},
    {2889, try_lock<2, share, Scope::session>},
    {2890, unlock<2, exclusive>},
    {2891, unlock<2, share>},
    {2892, unlock_all},
    {3089, lock<1, exclusive, Scope::transaction>},
    {3090, lock<1, share, Scope::transaction>},
    {3091, try_lock<1, exclusive, Scope::transaction>},
    {3092, try_lock<1, share, Scope::transaction>},
    {3093, lock<2, exclusive, Scope::transaction>},
    {3094, lock<2, share, Scope::transaction>},
    {3095, try_lock<2, exclusive, Scope::transaction>},
    {3096, try_lock<2, share, Scope::transaction>},
};

}  // namespace

std::span<const FunctionEntry> advisory_lock() { return entries; }

}  // namespace pgsilo::functions
