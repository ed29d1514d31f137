// Huge pages for what malloc() hands out: rows and trees are read at random, and with pages of 4 kB
// most of such a read is the walk to its page (docs/decisions/memory-retention.md). jemalloc asks
// the system for them (malloc_conf in huge_pages.cpp); MALLOC_CONF in the environment overrides.
#pragma once

namespace pgsilo {

// Whether the system gives huge pages to who asks for them.
bool system_gives_huge_pages();

// From here on this process gets none, whoever asks. Before there are threads.
void refuse_huge_pages();

}  // namespace pgsilo
