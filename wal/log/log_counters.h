// What one logger has written, counted where it happens. Thread safety: the logger's step adds, any
// thread reads.
#pragma once

#include "base/counter.h"
#include "base/latency_histogram.h"

namespace pgsilo {

struct LogCounters {
  Counter records;
  Counter record_bytes;  // of these, without what blocks add
  Counter writes;        // system calls
  Counter bytes;         // to segments, padding included
  Counter bytes_saved;   // by compression
  Counter write_ns;      // of writes that a sync follows
  Counter batches;       // each made durable once
  Counter sync_ns;       // of syncs, and of writes that are durable when they return
  // What each batch waited for the device.
  SharedLatencyHistogram batch_latency;
  Counter longest_batch_ns;
};

}  // namespace pgsilo
