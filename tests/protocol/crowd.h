// Many sessions at once, a thread each. Thread safety: the creating thread's.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {

// body(client, index) in `count` sessions; returns when all have ended.
inline void run_clients(int count, const std::function<void(RawClient&, int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&body, i] {
      RawClient client;
      client.start();
      body(client, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// As run_clients(), `rounds` times each: round(client, index, round); false ends that session.
inline void hammer(int count, int rounds, const std::function<bool(RawClient&, int, int)>& round) {
  run_clients(count, [&](RawClient& client, int index) {
    for (int i = 0; i < rounds && round(client, index, i); ++i) {
    }
  });
}

// Sessions that do the same again and again while something else is tried.
class Crowd {
 public:
  Crowd(int count, std::function<void(RawClient&, int)> body) : body_(std::move(body)) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, i] {
        RawClient client;
        client.start();
        for (; !stops_; ++rounds_) body_(client, i);
      });
    }
  }
  ~Crowd() { stop(); }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  void stop() {
    stops_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  int rounds() const { return rounds_; }
  // Until so many rounds more have been done. Fails the test if that takes very long.
  void await(int more) const {
    int until = rounds_ + more;
    for (int waited_ms = 0; rounds_ < until && waited_ms < 30000; ++waited_ms)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_GE(rounds_, until) << "the crowd stands still";
  }

 private:
  const std::function<void(RawClient&, int)> body_;
  std::atomic<bool> stops_ = false;
  std::atomic<int> rounds_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace pgsilo::protocol_test
