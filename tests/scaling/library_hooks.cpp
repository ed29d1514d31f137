// The C library's functions that touch memory of ours, or hand it out: the linker leads every call
// of this program to these first (--wrap). Thread safety: as simulated_core.h.
#include <pthread.h>

#include <cstddef>
#include <cstdlib>
#include <new>

#include "tests/scaling/simulated_core.h"

#define PGSILO_CALLER __builtin_return_address(0)

using pgsilo::scaling::Access;
using pgsilo::scaling::note_access;
using pgsilo::scaling::note_allocation;

extern "C" {

// ---- copies ----

void* __real_memcpy(void* to, const void* from, size_t bytes);
void* __wrap_memcpy(void* to, const void* from, size_t bytes) {
  note_access(from, bytes, Access::read, PGSILO_CALLER);
  note_access(to, bytes, Access::write, PGSILO_CALLER);
  return __real_memcpy(to, from, bytes);
}
void* __real_memmove(void* to, const void* from, size_t bytes);
void* __wrap_memmove(void* to, const void* from, size_t bytes) {
  note_access(from, bytes, Access::read, PGSILO_CALLER);
  note_access(to, bytes, Access::write, PGSILO_CALLER);
  return __real_memmove(to, from, bytes);
}
void* __real_memset(void* at, int value, size_t bytes);
void* __wrap_memset(void* at, int value, size_t bytes) {
  note_access(at, bytes, Access::write, PGSILO_CALLER);
  return __real_memset(at, value, bytes);
}
// How far it looks is not known: all of it, at most.
int __real_memcmp(const void* left, const void* right, size_t bytes);
int __wrap_memcmp(const void* left, const void* right, size_t bytes) {
  note_access(left, bytes, Access::read, PGSILO_CALLER);
  note_access(right, bytes, Access::read, PGSILO_CALLER);
  return __real_memcmp(left, right, bytes);
}

// ---- mutexes: a locked instruction each ----

int __real_pthread_mutex_lock(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) {
  note_access(mutex, sizeof *mutex, Access::locked, PGSILO_CALLER);
  return __real_pthread_mutex_lock(mutex);
}
int __real_pthread_mutex_trylock(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t* mutex) {
  note_access(mutex, sizeof *mutex, Access::locked, PGSILO_CALLER);
  return __real_pthread_mutex_trylock(mutex);
}
int __real_pthread_mutex_unlock(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t* mutex) {
  note_access(mutex, sizeof *mutex, Access::locked, PGSILO_CALLER);
  return __real_pthread_mutex_unlock(mutex);
}

// ---- memory: who asked for it names its lines ----

void* __real_malloc(size_t bytes);
void* __wrap_malloc(size_t bytes) {
  void* memory = __real_malloc(bytes);
  note_allocation(memory, bytes, PGSILO_CALLER);
  return memory;
}
void* __real_calloc(size_t count, size_t bytes);
void* __wrap_calloc(size_t count, size_t bytes) {
  void* memory = __real_calloc(count, bytes);
  note_allocation(memory, count * bytes, PGSILO_CALLER);
  return memory;
}
void* __real_aligned_alloc(size_t alignment, size_t bytes);
void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
  void* memory = __real_aligned_alloc(alignment, bytes);
  note_allocation(memory, bytes, PGSILO_CALLER);
  return memory;
}
// operator new(size_t), new[](size_t), and both with an alignment.
void* __real__Znwm(size_t bytes);
void* __wrap__Znwm(size_t bytes) {
  void* memory = __real__Znwm(bytes);
  note_allocation(memory, bytes, PGSILO_CALLER);
  return memory;
}
void* __real__Znam(size_t bytes);
void* __wrap__Znam(size_t bytes) {
  void* memory = __real__Znam(bytes);
  note_allocation(memory, bytes, PGSILO_CALLER);
  return memory;
}
void* __real__ZnwmSt11align_val_t(size_t bytes, std::align_val_t alignment);
void* __wrap__ZnwmSt11align_val_t(size_t bytes, std::align_val_t alignment) {
  void* memory = __real__ZnwmSt11align_val_t(bytes, alignment);
  note_allocation(memory, bytes, PGSILO_CALLER);
  return memory;
}
void* __real__ZnamSt11align_val_t(size_t bytes, std::align_val_t alignment);
void* __wrap__ZnamSt11align_val_t(size_t bytes, std::align_val_t alignment) {
  void* memory = __real__ZnamSt11align_val_t(bytes, alignment);
  note_allocation(memory, bytes, PGSILO_CALLER);
  return memory;
}

}  // extern "C"
