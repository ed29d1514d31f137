set(standard_headers <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstdio> <cstring> <deque> <functional> <map>
    <memory> <mutex> <new> <optional> <span> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>)
pgsilo_precompile(precompiled_standard Threads::Threads ${standard_headers})
pgsilo_precompile(precompiled_gtest GTest::gtest <gtest/gtest.h> ${standard_headers})

# pgsilo_folder(NAME DEP...): the static library of one top-level folder, from every .cpp file in it but those of programs,
# main.cpp, *_main.cpp and what lies in tool/backup, which needs libpq, or in a library of its own (sql/regex).
function(pgsilo_folder name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "[/_]main\\.cpp$|/tool/backup/|/sql/regex/")
  if(sources)
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC pgsilo::compile ${ARGN})
    pgsilo_use_precompiled(${name} precompiled_standard)
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE pgsilo::compile ${ARGN})
  endif()
endfunction()

# pgsilo_gtest(TARGET GLOB DEP...): one GoogleTest binary from every matching .cpp file; none, no target.
# Beside *_test.cpp it takes *_support.cpp: what tests share.
function(pgsilo_gtest target pattern)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${pattern})
  if(NOT sources)
    return()
  endif()
  string(REPLACE "_test.cpp" "_support.cpp" support_pattern "${pattern}")
  file(GLOB_RECURSE support CONFIGURE_DEPENDS ${support_pattern})
  add_executable(${target} ${sources} ${support})
  target_compile_definitions(${target} PRIVATE PGSILO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE ${ARGN} GTest::gtest GTest::gtest_main pgsilo::compile)
  pgsilo_use_precompiled(${target} precompiled_gtest)
  add_test(NAME ${target} COMMAND ${target})
endfunction()

# pgsilo_folder_uses(NAME LIBRARY...): third-party libraries that only this folder's own files see.
function(pgsilo_folder_uses name)
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    target_link_libraries(${name} PRIVATE ${ARGN})
  else()
    target_link_libraries(${name} INTERFACE ${ARGN})
  endif()
endfunction()
