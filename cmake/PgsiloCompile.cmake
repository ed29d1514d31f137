# How every file of the project is compiled: language level, warnings, sanitizers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(PGSILO_SANITIZE "" CACHE STRING "sanitizer build: address (with undefined), thread, or empty")
option(PGSILO_FUZZ "instrument for libFuzzer and build tests/fuzz (clang only)" OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "build type" FORCE)
endif()

# pgsilo::plain: without the sanitizer, for what would take too long with it and shares nothing with the rest.
add_library(pgsilo_plain INTERFACE)
add_library(pgsilo::plain ALIAS pgsilo_plain)
add_library(pgsilo_compile INTERFACE)
add_library(pgsilo::compile ALIAS pgsilo_compile)
target_link_libraries(pgsilo_compile INTERFACE pgsilo_plain)
target_compile_options(pgsilo_plain INTERFACE -Wall -Wextra -Werror -fno-omit-frame-pointer)
# SSE4.2 and CX16 are in every x86-64 server of the last decade.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64")
  target_compile_options(pgsilo_plain INTERFACE -march=x86-64-v2)
endif()
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
if(PGSILO_SANITIZE STREQUAL "address")
  # Not what the machine tells anyway, by a signal that AddressSanitizer reports (null), or what it looks at itself
  # (object-size): a sixth of the compilation.
  target_compile_options(pgsilo_compile INTERFACE -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
                                                  -fno-sanitize=null,object-size)
  target_link_options(pgsilo_compile INTERFACE -fsanitize=address,undefined)
elseif(PGSILO_SANITIZE STREQUAL "thread")
  target_compile_options(pgsilo_compile INTERFACE -O1 -fsanitize=thread)
  target_link_options(pgsilo_compile INTERFACE -fsanitize=thread)
elseif(PGSILO_SANITIZE)
  message(FATAL_ERROR "PGSILO_SANITIZE is address, thread or empty, not '${PGSILO_SANITIZE}'")
endif()
# What the sanitizers add leads GCC's flow analysis astray (its manual advises against -Werror beside them), and in a
# precompiled header it no longer knows system headers by their place. The other builds keep these warnings.
if(PGSILO_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(pgsilo_compile INTERFACE -Wno-array-bounds -Wno-maybe-uninitialized -Wno-restrict
                                                  -Wno-stringop-overflow -Wno-stringop-overread)
endif()
# Sanitizers' builds are made from nothing each time, and most of a test's compilation is its headers: they parse the
# standard library's once. Other builds show what each file includes itself.
set(PGSILO_PRECOMPILED OFF)
if(PGSILO_SANITIZE)
  set(PGSILO_PRECOMPILED ON)
  if(NOT EXISTS ${CMAKE_BINARY_DIR}/precompiled.cpp)
    file(WRITE ${CMAKE_BINARY_DIR}/precompiled.cpp "")
  endif()
endif()
# pgsilo_precompile(NAME LIBRARY HEADER...): an object library that owns a precompiled header.
function(pgsilo_precompile name library)
  if(PGSILO_PRECOMPILED)
    add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(${name} PRIVATE ${library} pgsilo::compile)
    target_precompile_headers(${name} PRIVATE ${ARGN})
  endif()
endfunction()
function(pgsilo_use_precompiled target name)
  if(PGSILO_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()
if(PGSILO_FUZZ)
  target_compile_options(pgsilo_compile INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(pgsilo_compile INTERFACE -fsanitize=fuzzer-no-link)
endif()
