// Rows of the nine tables (TPC-C clause 1.3) without the columns of their keys. Money is in cents,
// rates in hundredths of a percent, times in microseconds since 1970; 0 stands for a null time or
// carrier. A row is stored as its struct's bytes; the last text, where its length varies much, ends
// with its last character. So with its key a row has the size that clause 1.2.1 names. Thread
// safety: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/check.h"
#include "storage/transaction/partial_row.h"

namespace pgsilo::tpcc {

// A row is also read where it lies, in a buffer of bytes.
#define PGSILO_TPCC_ROW [[gnu::packed, gnu::may_alias]]

// Text of a varying length of at most `capacity` characters.
template <size_t capacity>
struct PGSILO_TPCC_ROW Text {
  using Size = std::conditional_t<(capacity < 256), uint8_t, uint16_t>;
  Size size;
  char bytes[capacity];

  std::string_view view() const { return {bytes, size}; }
  void assign(std::string_view text) {
    PGSILO_DCHECK(text.size() <= capacity);
    size = static_cast<Size>(text.size());
    std::memcpy(bytes, text.data(), text.size());
  }
};

struct PGSILO_TPCC_ROW Address {
  Text<20> street_1;
  Text<20> street_2;
  Text<20> city;
  char state[2];
  char zip[9];
};

struct PGSILO_TPCC_ROW Warehouse {
  Text<10> name;
  Address address;
  int32_t tax;
  int64_t ytd;
};

struct PGSILO_TPCC_ROW District {
  Text<10> name;
  Address address;
  int32_t tax;
  int64_t ytd;
  uint32_t next_order;
};

struct PGSILO_TPCC_ROW Customer {
  Text<16> first;
  char middle[2];
  Text<16> last;
  Address address;
  char phone[16];
  int64_t since;
  char credit[2];
  int64_t credit_limit;
  int32_t discount;
  int64_t balance;
  int64_t ytd_payment;
  uint32_t payment_count;
  uint32_t delivery_count;
  Text<500> data;

  size_t row_bytes() const { return sizeof *this - sizeof data.bytes + data.size; }
};

struct PGSILO_TPCC_ROW History {  // has no key: the engine gives it a row number
  uint32_t customer;
  uint32_t customer_district;
  uint32_t customer_warehouse;
  uint32_t district;
  uint32_t warehouse;
  int64_t date;
  int64_t amount;
  Text<24> data;

  size_t row_bytes() const { return sizeof *this - sizeof data.bytes + data.size; }
};

struct PGSILO_TPCC_ROW Order {
  uint32_t customer;
  int64_t entry_date;
  uint8_t carrier;
  uint8_t line_count;
  uint8_t all_local;
};

struct PGSILO_TPCC_ROW OrderLine {
  uint32_t item;
  uint32_t supply_warehouse;
  int64_t delivery_date;
  uint8_t quantity;
  int32_t amount;
  char district_info[24];
};

struct PGSILO_TPCC_ROW Item {
  uint32_t image;
  Text<24> name;
  int32_t price;
  Text<50> data;

  size_t row_bytes() const { return sizeof *this - sizeof data.bytes + data.size; }
};

struct PGSILO_TPCC_ROW Stock {
  int16_t quantity;
  char district_info[10][24];
  uint32_t ytd;
  uint16_t order_count;
  uint16_t remote_count;
  Text<50> data;

  size_t row_bytes() const { return sizeof *this - sizeof data.bytes + data.size; }
};

// A column of a row.
#define PGSILO_TPCC_RANGE(row, column) \
  (RowRange{offsetof(row, column), static_cast<uint32_t>(sizeof(row::column))})

#undef PGSILO_TPCC_ROW

template <typename Row>
std::string_view bytes_of(const Row& row) {
  if constexpr (requires { row.row_bytes(); }) {
    return {reinterpret_cast<const char*>(&row), row.row_bytes()};
  } else {
    return {reinterpret_cast<const char*>(&row), sizeof row};
  }
}

// What the two data columns say of an item that is sold as "brand" (clause 2.4.2.2).
inline bool is_original(std::string_view data) {
  return data.find("ORIGINAL") != std::string_view::npos;
}

}  // namespace pgsilo::tpcc
