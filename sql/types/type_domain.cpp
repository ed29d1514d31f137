// Domains: values of the type beneath, held against what the catalog says of the domain when they
// are read.
#include "sql/types/type_functions.h"

namespace pgsilo::types {

namespace {

Datum fit(const TypeInfo& type, Datum value, TypeContext& ctx) {
  if (type.base_typmod >= 0 && type.base->has_typmods())
    value = type.base->apply_typmod(value, type.base_typmod, /*explicit_cast=*/false, ctx);
  check_domain(type, value, ctx);
  return value;
}

Datum parse_domain(const TypeInfo& type, std::string_view text, int32_t, TypeContext& ctx) {
  return fit(type, type.base->parse(text, type.base_typmod, ctx), ctx);
}

void print_domain(const TypeInfo& type, Datum value, ByteBuffer& out, const TypeContext& ctx) {
  type.base->print(value, out, ctx);
}

Datum receive_domain(const TypeInfo& type, std::string_view bytes, int32_t, TypeContext& ctx) {
  return fit(type, type.base->receive(bytes, type.base_typmod, ctx), ctx);
}

void send_domain(const TypeInfo& type, Datum value, ByteBuffer& out, const TypeContext& ctx) {
  type.base->send(value, out, ctx);
}

int compare_domain(const TypeInfo& type, Datum left, Datum right) {
  return type.base->compare(left, right);
}

bool equal_domain(const TypeInfo& type, Datum left, Datum right) {
  return type.base->equal(left, right);
}

uint64_t hash_domain(const TypeInfo& type, Datum value) { return type.base->hash(value); }

}  // namespace

Functions domain_functions(const TypeInfo& base) {
  const Functions& beneath = base.functions;
  Functions made;
  if (beneath.parse != nullptr) made.parse = parse_domain;
  if (beneath.print != nullptr) made.print = print_domain;
  if (beneath.receive != nullptr) made.receive = receive_domain;
  if (beneath.send != nullptr) made.send = send_domain;
  if (beneath.compare != nullptr) made.compare = compare_domain;
  if (beneath.equal != nullptr) made.equal = equal_domain;
  if (beneath.hash != nullptr) made.hash = hash_domain;
  return made;
}

}  // namespace pgsilo::types
