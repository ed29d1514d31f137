#include "storage/record/record_allocator.h"

#include <new>

#include "base/small_memory.h"
#include "storage/limits.h"

namespace pgsilo {

namespace {

// Rows longer than this are external from the start, so that what they leave when they shrink can
// be given back: 2 kB, as PostgreSQL's, which are moved out then, too.
constexpr size_t max_inline_words = 256;

size_t payload_bytes(const ExternalPayload* payload) {
  return sizeof(ExternalPayload) + size_t{payload->capacity_words} * 8;
}

size_t record_bytes(size_t key_bytes, size_t inline_words) {
  return sizeof(Record) + round_up_to_words(key_bytes) + inline_words * 8;
}

}  // namespace

Record* RecordAllocator::allocate(std::string_view key, size_t row_bytes, TidWord initial,
                                  ReclaimerHandle& handle) {
  PGSILO_CHECK(key.size() <= max_key_bytes && row_bytes <= max_row_bytes);
  size_t words = row_words(row_bytes);
  size_t inline_words = words <= max_inline_words ? words : 0;
  size_t bytes = record_bytes(key.size(), inline_words);
  auto* record = new (allocate_small(bytes)) Record(key, inline_words, initial);
  account_.add(handle.index(), bytes);
  if (inline_words < words) {
    try {
      record->set_external(create_payload(row_bytes, handle));
    } catch (...) {
      destroy(record, handle);
      throw;
    }
  }
  return record;
}

Record* RecordAllocator::create(std::string_view key, size_t row_bytes, ReclaimerHandle& handle) {
  return allocate(key, row_bytes, TidWord::absent(Tid()), handle);
}

Record* RecordAllocator::create_filled(std::string_view key, std::string_view row, Tid tid,
                                       ReclaimerHandle& handle) {
  Record* record = allocate(key, row.size(), TidWord::present(tid), handle);
  record->write_first_row(row);
  return record;
}

bool RecordAllocator::is_inline(size_t row_bytes) {
  return row_words(row_bytes) <= max_inline_words;
}

Record* RecordAllocator::create_held(std::string_view key, std::string_view row,
                                     RecordHolder holder, ReclaimerHandle& handle) {
  PGSILO_DCHECK(is_inline(row.size()));
  Record* record = allocate(key, row.size(), TidWord::absent(Tid()).with_intent(), handle);
  record->write_first_row(row);
  record->change_holder(RecordHolder(), holder);
  return record;
}

Record* RecordAllocator::create_absent(std::string_view key, Tid tid, ReclaimerHandle& handle) {
  return allocate(key, 0, TidWord::absent(tid), handle);
}

ExternalPayload* RecordAllocator::create_payload(size_t row_bytes, ReclaimerHandle& handle) {
  PGSILO_CHECK(row_bytes <= max_row_bytes);
  size_t bytes = sizeof(ExternalPayload) + round_up_to_words(row_bytes);
  auto* payload = new (allocate_small(bytes)) ExternalPayload;
  payload->capacity_words = static_cast<uint32_t>(row_words(row_bytes));
  account_.add(handle.index(), bytes);
  return payload;
}

void RecordAllocator::destroy(ExternalPayload* payload, ReclaimerHandle& handle) {
  size_t bytes = payload_bytes(payload);
  account_.subtract(handle.index(), bytes);
  free_small(payload, bytes);
}

void RecordAllocator::destroy(Record* record, ReclaimerHandle& handle) {
  ExternalPayload* external = record->external();
  if (external != nullptr) destroy(external, handle);
  size_t bytes = record_bytes(record->key_bytes_, record->inline_words_);
  account_.subtract(handle.index(), bytes);
  free_small(record, bytes);
}

void RecordAllocator::free_unaccounted(Record* record) {
  ExternalPayload* external = record->external();
  if (external != nullptr) free_small(external, payload_bytes(external));
  free_small(record, record_bytes(record->key_bytes_, record->inline_words_));
}

void RecordAllocator::retire(ExternalPayload* payload, ReclaimerHandle& handle) {
  size_t bytes = payload_bytes(payload);
  account_.subtract(handle.index(), bytes);
  handle.retire(payload, small_memory_deleter(bytes), bytes);
}

void RecordAllocator::retire(Record* record, ReclaimerHandle& handle) {
  // Obsolete or unreachable, so its payload cannot move any more.
  ExternalPayload* external = record->external();
  if (external != nullptr) retire(external, handle);
  size_t bytes = record_bytes(record->key_bytes_, record->inline_words_);
  account_.subtract(handle.index(), bytes);
  handle.retire(record, small_memory_deleter(bytes), bytes);
}

}  // namespace pgsilo
