// What a compiler calls before each access to memory under -fsanitize=thread, and in place of each
// operation on an atomic: here it is told to the simulated core, and then done. The functions have
// the compiler's names by the linker's name alone, because the compiler has types of its own for
// them. Thread safety: as simulated_core.h; the operations themselves are atomic.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/scaling/simulated_core.h"

#define PGSILO_NAME(name) __asm__("__tsan_" name)
#define PGSILO_CALLER __builtin_return_address(0)

namespace pgsilo::scaling {

// ---- plain accesses ----

#define PGSILO_PLAIN_HOOK(name, bytes, access)          \
  void name##bytes(void* at) PGSILO_NAME(#name #bytes); \
  void name##bytes(void* at) { note_access(at, bytes, access, PGSILO_CALLER); }
#define PGSILO_PLAIN_HOOKS(bytes)                        \
  PGSILO_PLAIN_HOOK(read, bytes, Access::read)           \
  PGSILO_PLAIN_HOOK(write, bytes, Access::write)         \
  PGSILO_PLAIN_HOOK(unaligned_read, bytes, Access::read) \
  PGSILO_PLAIN_HOOK(unaligned_write, bytes, Access::write)

PGSILO_PLAIN_HOOKS(1)
PGSILO_PLAIN_HOOKS(2)
PGSILO_PLAIN_HOOKS(4)
PGSILO_PLAIN_HOOKS(8)
PGSILO_PLAIN_HOOKS(16)

void read_range(void* at, size_t bytes) PGSILO_NAME("read_range");
void read_range(void* at, size_t bytes) { note_access(at, bytes, Access::read, PGSILO_CALLER); }
void write_range(void* at, size_t bytes) PGSILO_NAME("write_range");
void write_range(void* at, size_t bytes) { note_access(at, bytes, Access::write, PGSILO_CALLER); }
void vptr_update(void** at, void* value) PGSILO_NAME("vptr_update");
void vptr_update(void** at, void* /*value*/) {
  note_access(at, sizeof *at, Access::write, PGSILO_CALLER);
}
void vptr_read(void** at) PGSILO_NAME("vptr_read");
void vptr_read(void** at) { note_access(at, sizeof *at, Access::read, PGSILO_CALLER); }

void start() PGSILO_NAME("init");
void start() {}
void func_entry(void* caller) PGSILO_NAME("func_entry");
void func_entry(void* caller) { note_call(caller); }
void func_exit(void* ignored) PGSILO_NAME("func_exit");
void func_exit(void* /*ignored*/) { note_return(); }

// Clang's, which leads these calls here; the linker leads GCC's to library_hooks.cpp.
void* copy(void* to, const void* from, size_t bytes) PGSILO_NAME("memcpy");
void* copy(void* to, const void* from, size_t bytes) { return std::memcpy(to, from, bytes); }
void* move(void* to, const void* from, size_t bytes) PGSILO_NAME("memmove");
void* move(void* to, const void* from, size_t bytes) { return std::memmove(to, from, bytes); }
void* fill(void* at, int value, size_t bytes) PGSILO_NAME("memset");
void* fill(void* at, int value, size_t bytes) { return std::memset(at, value, bytes); }

// ---- atomics ----

namespace {

// The compiler adds hints above these bits.
bool is_sequential(int order) { return (order & 0x7fff) == __ATOMIC_SEQ_CST; }

template <typename T>
void note(const volatile T* at, Access access, void* caller) {
  note_access(at, sizeof *at, access, caller);
}

}  // namespace

// On x86-64 a sequentially consistent store is an exchange, any other a plain store.
#define PGSILO_LOAD_AND_STORE(bits, T)                                                       \
  T load##bits(const volatile T* at, int order) PGSILO_NAME("atomic" #bits "_load");         \
  T load##bits(const volatile T* at, int /*order*/) {                                        \
    note(at, Access::read, PGSILO_CALLER);                                                   \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                            \
  }                                                                                          \
  void store##bits(volatile T* at, T value, int order) PGSILO_NAME("atomic" #bits "_store"); \
  void store##bits(volatile T* at, T value, int order) {                                     \
    note(at, is_sequential(order) ? Access::locked : Access::write, PGSILO_CALLER);          \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                           \
  }

#define PGSILO_CHANGE(bits, T, name, operation)                                           \
  T name##bits(volatile T* at, T value, int order) PGSILO_NAME("atomic" #bits "_" #name); \
  T name##bits(volatile T* at, T value, int /*order*/) {                                  \
    note(at, Access::locked, PGSILO_CALLER);                                              \
    return operation(at, value, __ATOMIC_SEQ_CST);                                        \
  }

#define PGSILO_COMPARE(bits, T, strength)                                                      \
  bool strength##bits(volatile T* at, T* expected, T desired, int order, int failed)           \
      PGSILO_NAME("atomic" #bits "_compare_exchange_" #strength);                              \
  bool strength##bits(volatile T* at, T* expected, T desired, int /*order*/, int /*failed*/) { \
    note(at, Access::locked, PGSILO_CALLER);                                                   \
    return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST,         \
                                       __ATOMIC_SEQ_CST);                                      \
  }

// Clang's form of both, which returns what was there.
#define PGSILO_COMPARE_VALUE(bits, T)                                                     \
  T compare##bits(volatile T* at, T expected, T desired, int order, int failed)           \
      PGSILO_NAME("atomic" #bits "_compare_exchange_val");                                \
  T compare##bits(volatile T* at, T expected, T desired, int /*order*/, int /*failed*/) { \
    note(at, Access::locked, PGSILO_CALLER);                                              \
    __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST,          \
                                __ATOMIC_SEQ_CST);                                        \
    return expected;                                                                      \
  }

#define PGSILO_ATOMIC_HOOKS(bits, T)                      \
  PGSILO_LOAD_AND_STORE(bits, T)                          \
  PGSILO_CHANGE(bits, T, exchange, __atomic_exchange_n)   \
  PGSILO_CHANGE(bits, T, fetch_add, __atomic_fetch_add)   \
  PGSILO_CHANGE(bits, T, fetch_sub, __atomic_fetch_sub)   \
  PGSILO_CHANGE(bits, T, fetch_and, __atomic_fetch_and)   \
  PGSILO_CHANGE(bits, T, fetch_or, __atomic_fetch_or)     \
  PGSILO_CHANGE(bits, T, fetch_xor, __atomic_fetch_xor)   \
  PGSILO_CHANGE(bits, T, fetch_nand, __atomic_fetch_nand) \
  PGSILO_COMPARE(bits, T, strong)                         \
  PGSILO_COMPARE(bits, T, weak)                           \
  PGSILO_COMPARE_VALUE(bits, T)

PGSILO_ATOMIC_HOOKS(8, uint8_t)
PGSILO_ATOMIC_HOOKS(16, uint16_t)
PGSILO_ATOMIC_HOOKS(32, uint32_t)
PGSILO_ATOMIC_HOOKS(64, uint64_t)

// Of fences only those that are an instruction count, as one on no line.
void thread_fence(int order) PGSILO_NAME("atomic_thread_fence");
void thread_fence(int order) {
  if (is_sequential(order)) note_fence();
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void signal_fence(int order) PGSILO_NAME("atomic_signal_fence");
void signal_fence(int /*order*/) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

}  // namespace pgsilo::scaling
