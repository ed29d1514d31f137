#include "server/session/session_activity.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/backoff.h"
#include "base/ordered_load.h"
#include "sql/types/text.h"
#include "storage/record/row_copy.h"

namespace pgsilo {

void SessionActivity::introduce(std::string_view user, LockOwner* locks, std::string address,
                                int32_t port, int64_t now_us) {
  user_ = user;
  lock_owner_ = locks;
  client_address_ = std::move(address);
  client_port_ = port;
  backend_start_ = now_us;
  put(state_change_, now_us);
}

void SessionActivity::set_application_name(std::string_view name) {
  std::lock_guard lock(name_mutex_);
  application_name_ = name;
}

void SessionActivity::begin(std::string_view query, int64_t now_us) {
  prepared_.reset();
  put_query(query);
  put(query_start_, now_us);
  put(query_id_, 0);
  put(state_change_, now_us);
  state_.store(State::active, std::memory_order_relaxed);
}

void SessionActivity::begin(const std::shared_ptr<const CachedText::Syntax>& query,
                            int64_t now_us) {
  if (prepared_ != query) {
    put_query(query->text);
    prepared_ = query;
  }
  put(query_start_, now_us);
  put(query_id_, 0);
  put(state_change_, now_us);
  state_.store(State::active, std::memory_order_relaxed);
}

void SessionActivity::end(State state, int64_t now_us) {
  put(state_change_, std::max(now_us, get(query_start_)));
  state_.store(state, std::memory_order_relaxed);
}

bool SessionActivity::idles_in_transaction(int64_t now_us) const {
  // A client that reads and sends nothing may be waiting for an answer that waits for the log.
  if (wait_report_.unsynced.load(std::memory_order_relaxed)) return false;
  State state = state_.load(std::memory_order_relaxed);
  if (state == State::idle_in_transaction || state == State::idle_in_failed_transaction)
    return !client_wait_.still_reads(now_us);
  bool has_transaction = transaction_start() != 0 || pin_start() != 0;
  return state == State::active && has_transaction && client_wait_.has_stalled(now_us);
}

void SessionActivity::put_query(std::string_view query) {
  uint64_t version = query_version_.load(std::memory_order_relaxed);
  query_version_.store(version + 1, std::memory_order_relaxed);
  after_marking(query_version_);
  if (query.size() > limits::shown_query_bytes) query = text_clip(query, limits::shown_query_bytes);
  copy_racing_row_in(query_, query.data(), query.size());
  query_bytes_.store(query.size(), std::memory_order_relaxed);
  // Release: pairs with read_query().
  query_version_.store(version + 2, std::memory_order_release);
}

std::string SessionActivity::read_query() const {
  std::array<uint64_t, limits::shown_query_bytes / 8> words;
  for (Backoff backoff;; backoff.pause()) {
    uint64_t version = query_version_.load(std::memory_order_acquire);
    size_t bytes = query_bytes_.load(std::memory_order_relaxed);
    copy_racing_row_out(words.data(), query_, row_words(bytes));
    if (version % 2 != 0 || load_after_reads(query_version_) != version) continue;
    std::string text(reinterpret_cast<const char*>(words.data()), bytes);
    // It is published before anybody has looked at it.
    text.resize(valid_text_prefix(text));
    return text;
  }
}

// The session may be about to change it, and for ever so: what is there is good enough.
size_t SessionActivity::copy_running(std::span<char> text) const noexcept {
  if (state_.load(std::memory_order_relaxed) == State::idle) return 0;
  std::array<uint64_t, limits::shown_query_bytes / 8> words;
  size_t bytes =
      std::min<size_t>(query_bytes_.load(std::memory_order_relaxed), limits::shown_query_bytes);
  copy_racing_row_out(words.data(), query_, row_words(bytes));
  bytes = std::min(bytes, text.size());
  std::memcpy(text.data(), words.data(), bytes);
  return bytes;
}

SessionInfo SessionActivity::read() const {
  SessionInfo info;
  info.user = user_;
  info.client_address = client_address_;
  info.client_port = client_port_;
  info.backend_start = backend_start_;
  {
    std::lock_guard lock(name_mutex_);
    info.application_name = application_name_;
  }
  info.transaction_start = get(transaction_start_);
  info.pin_start = get(pin_start_);
  info.snapshot = static_cast<uint64_t>(get(snapshot_));
  info.query_start = get(query_start_);
  info.query_id = static_cast<uint64_t>(get(query_id_));
  info.state_change = get(state_change_);
  info.state = state_.load(std::memory_order_relaxed);
  info.wait = wait_report_.event.load(std::memory_order_relaxed);
  // Its client waits for an answer that waits for the log.
  if (wait_report_.unsynced.load(std::memory_order_relaxed)) {
    info.state = State::active;
    info.wait = WaitEvent::log_sync;
  }
  info.worker = static_cast<int>(get(worker_));
  info.moves = get(moves_);
  info.query = read_query();
  return info;
}

}  // namespace pgsilo
