// Objects that are done with, for their owner's next use. T has a `next`. One thread at a time.
#pragma once

#include <cstddef>

namespace pgsilo {

template <typename T>
class SpareList {
 public:
  size_t count() const { return count_; }
  // Throws std::bad_alloc.
  void have(size_t count) {
    while (count_ < count) keep(new T);
  }
  // There is one.
  T* take() {
    T* taken = first_;
    first_ = taken->next;
    --count_;
    return taken;
  }
  void keep(T* spare) {
    spare->next = first_;
    first_ = spare;
    ++count_;
  }
  // All but so many.
  void free(size_t but = 0) {
    while (count_ > but) delete take();
  }

 private:
  T* first_ = nullptr;
  size_t count_ = 0;
};

}  // namespace pgsilo
