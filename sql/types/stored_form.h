// How a value of a type is kept in few bytes, in rows (catalog/row_layout.h) and in arrays
// (array.h): little-endian and unaligned. A storage format. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "sql/types/datum.h"
#include "sql/types/type.h"

namespace pgsilo {

enum class StoredForm : uint8_t {
  byte1,
  int16,
  int32,
  int64,
  uint32,
  float32,
  float64,
  bytes,     // by reference, always the same number of them
  variable,  // by reference, any number of bytes
};

// Bytes that each value of the type takes; 0: they vary.
uint8_t stored_width(const TypeInfo& type);
StoredForm stored_form(const TypeInfo& type);

template <typename T>
T load_stored(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Precondition: not of variable length. By-reference values point at `at`.
inline Datum read_stored(StoredForm form, uint8_t width, const char* at) {
  switch (form) {
    case StoredForm::int32:
      return Datum::of_int(load_stored<int32_t>(at));
    case StoredForm::int64:
      return Datum::of_int(load_stored<int64_t>(at));
    case StoredForm::int16:
      return Datum::of_int(load_stored<int16_t>(at));
    case StoredForm::byte1:
      return Datum::of_int(load_stored<uint8_t>(at));
    case StoredForm::uint32:
      return Datum::of_int(load_stored<uint32_t>(at));
    case StoredForm::float64:
      return Datum::of_float(load_stored<double>(at));
    case StoredForm::float32:
      return Datum::of_float(static_cast<double>(load_stored<float>(at)));
    case StoredForm::bytes:
    case StoredForm::variable:
      break;
  }
  return Datum::of_bytes({at, width});
}

// The same precondition.
inline void write_stored(StoredForm form, uint8_t width, Datum value, char* at) {
  auto store = [at](auto stored) { std::memcpy(at, &stored, sizeof stored); };
  switch (form) {
    case StoredForm::byte1:
      return store(static_cast<uint8_t>(value.i64));
    case StoredForm::int16:
      return store(static_cast<int16_t>(value.i64));
    case StoredForm::int32:
      return store(static_cast<int32_t>(value.i64));
    case StoredForm::uint32:
      return store(static_cast<uint32_t>(value.i64));
    case StoredForm::int64:
      return store(value.i64);
    case StoredForm::float32:
      return store(static_cast<float>(value.f64));
    case StoredForm::float64:
      return store(value.f64);
    case StoredForm::bytes:
      PGSILO_DCHECK(value.length == width);
      std::memcpy(at, value.ptr, width);
      return;
    case StoredForm::variable:
      return;
  }
}

}  // namespace pgsilo
