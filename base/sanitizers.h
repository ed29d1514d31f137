// Which sanitizer this build carries, for GCC and Clang alike.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define PGSILO_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define PGSILO_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PGSILO_ASAN 1
#elif __has_feature(thread_sanitizer)
#define PGSILO_TSAN 1
#endif
#endif

// For a function that control leaves without a return, or enters without a call: a switch of
// stacks. Instrumented, it would leave its frame on ThreadSanitizer's own stack of calls at every
// pass: each allocation then has a history of its own, and the store of histories grows by
// gigabytes.
#if !defined(PGSILO_TSAN)
#define PGSILO_NO_TSAN_FRAME
#elif defined(__clang__)
#define PGSILO_NO_TSAN_FRAME __attribute__((disable_sanitizer_instrumentation))
#else
#define PGSILO_NO_TSAN_FRAME __attribute__((no_sanitize_thread))
#endif
