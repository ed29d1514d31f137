# Third-party libraries, each behind one pgsilo:: name. Packages: scripts/packages.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(GTest REQUIRED)

function(pgsilo_library name)
  add_library(pgsilo_${name} INTERFACE)
  add_library(pgsilo::${name} ALIAS pgsilo_${name})
  target_link_libraries(pgsilo_${name} INTERFACE ${ARGN})
endfunction()

pgsilo_library(fiber_context boost_context)
pgsilo_library(pg_query pg_query)
# PostgreSQL's own headers, for what libpg_query returns: after ours, for some folders have the same names.
find_path(PGSILO_POSTGRES_HEADERS postgres.h PATHS /usr/include/postgresql/15/server NO_DEFAULT_PATH REQUIRED)
target_include_directories(pgsilo_pg_query SYSTEM INTERFACE ${PGSILO_POSTGRES_HEADERS})
pgsilo_library(gmp gmp)
pgsilo_library(lz4 lz4)
find_package(absl REQUIRED)
pgsilo_library(absl absl::time absl::flat_hash_map)
pkg_check_modules(libpq REQUIRED IMPORTED_TARGET libpq)
pgsilo_library(libpq PkgConfig::libpq)
# Sanitizers bring their own allocator.
if(PGSILO_SANITIZE)
  pgsilo_library(allocator)
else()
  pgsilo_library(allocator jemalloc)
endif()
