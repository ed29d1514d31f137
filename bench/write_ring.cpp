#include "bench/write_ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace pgsilo {
namespace {

unsigned load_acquire(const char* word) {
  return std::atomic_ref(*reinterpret_cast<unsigned*>(const_cast<char*>(word)))
      .load(std::memory_order_acquire);
}

void store_release(char* word, unsigned value) {
  std::atomic_ref(*reinterpret_cast<unsigned*>(word)).store(value, std::memory_order_release);
}

int set_up(io_uring_params* parameters) {
  *parameters = {};
  parameters->flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
  long ring = ::syscall(SYS_io_uring_setup, WriteRing::queue_entries, parameters);
  if (ring >= 0) return static_cast<int>(ring);
  *parameters = {};  // an older kernel
  return static_cast<int>(::syscall(SYS_io_uring_setup, WriteRing::queue_entries, parameters));
}

void* map(int ring, size_t bytes, off_t what) {
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, what);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

WriteRing::WriteRing(const std::string& path)
    : file_(::open(path.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC)), ring_(set_up(&parameters_)) {
  if (file_ < 0 || ring_ < 0 || (parameters_.features & IORING_FEAT_SINGLE_MMAP) == 0) return;
  queue_bytes_ =
      std::max<size_t>(parameters_.sq_off.array + parameters_.sq_entries * sizeof(unsigned),
                       parameters_.cq_off.cqes + parameters_.cq_entries * sizeof(io_uring_cqe));
  queues_ = static_cast<char*>(map(ring_, queue_bytes_, IORING_OFF_SQ_RING));
  if (queues_ == nullptr) return;
  entries_ = static_cast<io_uring_sqe*>(
      map(ring_, parameters_.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
}

WriteRing::~WriteRing() {
  if (entries_ != nullptr) ::munmap(entries_, parameters_.sq_entries * sizeof(io_uring_sqe));
  if (queues_ != nullptr) ::munmap(queues_, queue_bytes_);
  if (ring_ >= 0) ::close(ring_);
  if (file_ >= 0) ::close(file_);
}

io_uring_sqe* WriteRing::next_entry() {
  PGSILO_CHECK(queued_ < parameters_.sq_entries);
  char* tail_word = queues_ + parameters_.sq_off.tail;
  unsigned tail = load_acquire(tail_word);
  unsigned index = tail & (parameters_.sq_entries - 1);
  reinterpret_cast<unsigned*>(queues_ + parameters_.sq_off.array)[index] = index;
  io_uring_sqe* entry = &entries_[index];
  std::memset(entry, 0, sizeof *entry);
  entry->fd = file_;
  ++queued_;
  store_release(tail_word, tail + 1);  // the kernel looks when run() tells it to
  return entry;
}

void WriteRing::add(const void* data, size_t bytes, uint64_t offset, RingSync sync) {
  io_uring_sqe* write = next_entry();
  write->opcode = IORING_OP_WRITE;
  write->addr = reinterpret_cast<uint64_t>(data);
  write->len = static_cast<uint32_t>(bytes);
  write->off = offset;
  write->user_data = bytes;  // what it is to return
  if (sync == RingSync::dsync) write->rw_flags = RWF_DSYNC;
  if (sync != RingSync::linked_fdatasync) return;
  write->flags = IOSQE_IO_LINK;
  io_uring_sqe* flush = next_entry();
  flush->opcode = IORING_OP_FSYNC;
  flush->fsync_flags = IORING_FSYNC_DATASYNC;
}

void WriteRing::run() {
  unsigned count = std::exchange(queued_, 0);
  long submitted =
      ::syscall(SYS_io_uring_enter, ring_, count, count, IORING_ENTER_GETEVENTS, nullptr, 0);
  PGSILO_CHECK(submitted == static_cast<long>(count));
  char* head_word = queues_ + parameters_.cq_off.head;
  unsigned head = load_acquire(head_word);
  PGSILO_CHECK(load_acquire(queues_ + parameters_.cq_off.tail) - head == count);
  const auto* done = reinterpret_cast<io_uring_cqe*>(queues_ + parameters_.cq_off.cqes);
  for (; count > 0; --count, ++head) {
    const io_uring_cqe& one = done[head & (parameters_.cq_entries - 1)];
    PGSILO_CHECK(one.res >= 0 && static_cast<uint64_t>(one.res) == one.user_data);
  }
  store_release(head_word, head);
}

}  // namespace pgsilo
