#include "executor/spill/external_sort.h"

#include <algorithm>
#include <utility>

namespace pgsilo {

ExternalSort::ExternalSort(TemporaryFiles& files, size_t budget, TapeColumns layout,
                           RowOrder& order, uint64_t wanted)
    : order_(order),
      layout_(std::move(layout)),
      wanted_(wanted),
      file_(files, budget),
      writer_(file_, layout_) {}

void ExternalSort::add_run(std::span<Datum* const> rows) {
  for (const Datum* row : rows.first(std::min<uint64_t>(rows.size(), wanted_))) writer_.append(row);
  end_run();
}

void ExternalSort::end_run() {
  if (writer_.rows() != 0) runs_.push_back(writer_.finish());
}

// The first pass merges no more than it has to, so that each later one is full.
void ExternalSort::begin_merge() {
  readers_.clear();
  size_t fan = file_.begin_merge(runs_.size());
  while (runs_.size() > fan) merge_some(std::min(fan, runs_.size() - fan + 1));
  open(runs_.size(), true);
  left_ = wanted_;
}

void ExternalSort::open(size_t count, bool kept) {
  heap_.clear();
  is_begun_ = false;
  while (readers_.size() < count) readers_.push_back(std::make_unique<TapeReader>(file_, layout_));
  for (size_t i = 0; i < count; ++i) readers_[i]->start(runs_[i], kept);
  for (size_t i = 0; i < count; ++i) {
    if (readers_[i]->next() != nullptr) heap_.push_back(readers_[i].get());
  }
  for (size_t i = heap_.size() / 2; i-- > 0;) sift(i);
}

void ExternalSort::merge_some(size_t count) {
  open(count, false);
  uint64_t rows = 0;
  while (rows < wanted_) {
    const Datum* row = least();
    if (row == nullptr) break;
    writer_.append(row);
    ++rows;
  }
  for (auto& reader : readers_) reader->stop();
  runs_.erase(runs_.begin(), runs_.begin() + static_cast<ptrdiff_t>(count));
  runs_.push_back(writer_.finish());
}

const Datum* ExternalSort::next() {
  if (left_ == 0) return nullptr;
  const Datum* row = least();
  left_ = row == nullptr ? 0 : left_ - 1;
  return row;
}

const Datum* ExternalSort::least() {
  if (heap_.empty()) return nullptr;
  if (is_begun_) {
    if (heap_[0]->next() == nullptr) {
      heap_[0] = heap_.back();
      heap_.pop_back();
      if (heap_.empty()) return nullptr;
    }
    sift(0);
  }
  is_begun_ = true;
  return heap_[0]->row();
}

void ExternalSort::sift(size_t at) {
  TapeReader* moved = heap_[at];
  while (true) {
    size_t child = 2 * at + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() &&
        order_.compare_rows(heap_[child + 1]->row(), heap_[child]->row()) < 0) {
      ++child;
    }
    if (order_.compare_rows(moved->row(), heap_[child]->row()) <= 0) break;
    heap_[at] = heap_[child];
    at = child;
  }
  heap_[at] = moved;
}

}  // namespace pgsilo
