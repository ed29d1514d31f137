// Allocates the records and payloads of one tree from the process's allocator and keeps the tree's
// account. All functions that allocate throw std::bad_alloc; none may be called with a lock held
// (I3). Thread safety: any thread, each with its own ReclaimerHandle.
#pragma once

#include <cstddef>
#include <string_view>

#include "storage/epoch/reclaimer.h"
#include "storage/record/memory_account.h"
#include "storage/record/record.h"

namespace pgsilo {

class RecordAllocator {
 public:
  // `account` outlives the allocator.
  explicit RecordAllocator(MemoryAccount& account) : account_(account) {}

  // A placeholder for `key` (absent, Tid()) with room for a row of `row_bytes` bytes. key.size() <=
  // max_key_bytes, row_bytes <= max_row_bytes.
  Record* create(std::string_view key, size_t row_bytes, ReclaimerHandle& handle);
  // A record that holds `row` as version `tid`: for unpublished trees and for recovery.
  Record* create_filled(std::string_view key, std::string_view row, Tid tid,
                        ReclaimerHandle& handle);
  // A placeholder whose intent lock `holder` has, with the row in its place already, which
  // is_inline(): Record::install_in_place().
  Record* create_held(std::string_view key, std::string_view row, RecordHolder holder,
                      ReclaimerHandle& handle);
  static bool is_inline(size_t row_bytes);
  // A record that says: absent since `tid`. For recovery's tombstones.
  Record* create_absent(std::string_view key, Tid tid, ReclaimerHandle& handle);
  // Room for a row that Record::install() could not place inline.
  ExternalPayload* create_payload(size_t row_bytes, ReclaimerHandle& handle);

  // Of records and payloads that were never published, or whose tree is gone.
  void destroy(Record* record, ReclaimerHandle& handle);
  void destroy(ExternalPayload* payload, ReclaimerHandle& handle);
  // Of those that were unlinked: memory goes when no pin can reach them. The account is credited at
  // once; the bytes count as the reclaimer's pending ones from here on.
  void retire(Record* record, ReclaimerHandle& handle);
  void retire(ExternalPayload* payload, ReclaimerHandle& handle);
  // Of a tree that is being destroyed together with its account.
  static void free_unaccounted(Record* record);

 private:
  Record* allocate(std::string_view key, size_t row_bytes, TidWord initial,
                   ReclaimerHandle& handle);

  MemoryAccount& account_;
};

}  // namespace pgsilo
