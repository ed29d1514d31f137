#include <charconv>

#include "storage/relation/relation.h"
#include "tpcc/engine/transactions.h"

namespace pgsilo::tpcc {

namespace {

// Clause 2.5.2.2: of a customer with bad credit the payments are noted in front of what his data
// says, which loses its end.
void note_payment(const PaymentInput& input, uint32_t customer, Customer* row) {
  decltype(row->data) noted;
  char* to = noted.bytes;
  for (int64_t number :
       {int64_t{customer}, int64_t{input.customer.district}, int64_t{input.customer.warehouse},
        int64_t{input.district}, int64_t{input.warehouse}, input.amount}) {
    to = std::to_chars(to, to + 20, number).ptr;
    *to++ = ' ';
  }
  size_t used = static_cast<size_t>(to - noted.bytes);
  size_t kept = std::min(row->data.view().size(), sizeof noted.bytes - used);
  std::memcpy(to, row->data.bytes, kept);
  noted.size = static_cast<uint16_t>(used + kept);
  row->data.assign(noted.view());
}

template <size_t capacity>
char* append(char* to, const Text<capacity>& text) {
  std::memcpy(to, text.bytes, text.size);
  return to + text.size;
}

}  // namespace

TransactionStatus payment(Attempt& attempt, Tables& tables, const PaymentInput& input,
                          Screen* screen) {
  Warehouse warehouse;
  District district;
  Customer customer;
  RowRef place;
  // The names and addresses are for the terminal's screen; the sums only grow.
  constexpr RowRange warehouse_used[] = {PGSILO_TPCC_RANGE(Warehouse, name),
                                         PGSILO_TPCC_RANGE(Warehouse, address)};
  constexpr RowRange district_used[] = {PGSILO_TPCC_RANGE(District, name),
                                        PGSILO_TPCC_RANGE(District, address)};
  if (!attempt.read_partial(tables.warehouses, Key(input.warehouse), warehouse_used, &warehouse,
                            &place))
    return attempt.status();
  warehouse.ytd += input.amount;
  if (!attempt.update_partial(place, warehouse,
                              RowPatch::add(PGSILO_TPCC_RANGE(Warehouse, ytd), input.amount)) ||
      !attempt.read_partial(tables.districts, Key(input.warehouse, input.district), district_used,
                            &district, &place)) {
    return attempt.status();
  }
  district.ytd += input.amount;
  if (!attempt.update_partial(place, district,
                              RowPatch::add(PGSILO_TPCC_RANGE(District, ytd), input.amount)) ||
      !find_customer(attempt, tables, input.customer, &customer, &place)) {
    return attempt.status();
  }
  uint32_t number = key_number(place.key(), 2);
  customer.balance -= input.amount;
  customer.ytd_payment += input.amount;
  ++customer.payment_count;
  if (std::memcmp(customer.credit, "BC", 2) == 0) note_payment(input, number, &customer);
  if (!attempt.update(place, customer)) return attempt.status();
  screen->amount = customer.balance;

  History history{.customer = number,
                  .customer_district = input.customer.district,
                  .customer_warehouse = input.customer.warehouse,
                  .district = input.district,
                  .warehouse = input.warehouse,
                  .date = input.date,
                  .amount = input.amount,
                  .data = {}};
  char* end = append(history.data.bytes, warehouse.name);
  std::memcpy(end, "    ", 4);
  end = append(end + 4, district.name);
  history.data.size = static_cast<uint8_t>(end - history.data.bytes);
  char row_number[8];
  store_be64(row_number, tables.history.next_row_id(attempt.transaction().worker().index()));
  attempt.insert(tables.history, {row_number, sizeof row_number}, bytes_of(history));
  return attempt.status();
}

}  // namespace pgsilo::tpcc
