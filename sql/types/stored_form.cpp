#include "sql/types/stored_form.h"

namespace pgsilo {

namespace {
// Reference types no longer than this have a fixed place (interval, timetz, uuid; not name).
constexpr int16_t max_fixed_reference_bytes = 16;
// xid and cid have no order, and so no form of keys that would say it.
bool is_unsigned(const TypeInfo& type) {
  return type.key_form == KeyForm::uint32 || type.oid == type_oid::xid || type.oid == type_oid::cid;
}
}  // namespace

uint8_t stored_width(const TypeInfo& type) {
  if (type.by_reference) {
    // What has no order is kept as text, whatever pg_type says (aclitem).
    bool is_short = type.typlen > 0 && type.typlen <= max_fixed_reference_bytes &&
                    type.key_form != KeyForm::none;
    return is_short ? static_cast<uint8_t>(type.typlen) : 0;
  }
  switch (type.typlen) {
    case 1:
    case 2:
    case 4:
      return static_cast<uint8_t>(type.typlen);
    default:
      return 8;
  }
}

StoredForm stored_form(const TypeInfo& type) {
  uint8_t width = stored_width(type);
  if (width == 0) return StoredForm::variable;
  if (type.by_reference) return StoredForm::bytes;
  if (type.key_form == KeyForm::float32) return StoredForm::float32;
  if (type.key_form == KeyForm::float64) return StoredForm::float64;
  switch (width) {
    case 1:
      return StoredForm::byte1;
    case 2:
      return StoredForm::int16;
    case 4:
      return is_unsigned(type) ? StoredForm::uint32 : StoredForm::int32;
    default:
      return StoredForm::int64;
  }
}

}  // namespace pgsilo
