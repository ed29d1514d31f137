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
