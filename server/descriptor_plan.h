// Who gets how many of the process's file descriptors. Files come first: what the log, checkpoints
// and the control file may need is set aside, so that running out of descriptors is a matter of
// clients, who are told so (53300), and never of a file. Thread safety: pure functions.
#pragma once

#include <cstddef>

namespace pgsilo {

// How many the process may have: the soft limit is raised to the hard one first.
size_t raise_descriptor_limit();

// Those that are open now, connections of clients apart.
size_t descriptors_in_use();

struct DescriptorNeeds {
  size_t limit = 0;
  size_t in_use = 0;
  size_t door = 0;  // clients that wait to be turned away
  size_t logs = 0;
  size_t checkpoint_files = 0;
  size_t temporary_files = 0;  // those being closed and removed included
};

// Of so many that the process may have: those of statements that sort and hash on disk.
size_t most_temporary_files(size_t limit);

// Clients that may be taken in.
size_t seats_for_clients(const DescriptorNeeds& needs);
// What there must be, for the message when that is less than limits::least_seats.
size_t least_descriptors(const DescriptorNeeds& needs);

}  // namespace pgsilo
