// Types that users make: what is done with their values, as TypeInfo says it, for as long as
// somebody holds them (the catalog's snapshots and descriptors, and through these the plans). Who
// holds one may look it up by its OID like a built-in type (find_type): there is one for each OID,
// whatever transactions do to the type. What may change about a type (an enum's labels) is not
// here, but in the catalog, and read through TypeContext; but its name, which messages tell.
//
// Thread safety: any thread; immutable but for the name. The registry behind it takes a lock, so
// look up while planning and not for each value.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "sql/types/type.h"

namespace pgsilo {

class UserType {
 public:
  // An enum and the type of its arrays; the one that there is, if somebody holds it already.
  static std::shared_ptr<const UserType> make_enum(Oid oid, Oid array_oid, std::string_view name);
  // The same of a domain over `base`, which may be one itself and is held if a user made it.
  static std::shared_ptr<const UserType> make_domain(Oid oid, Oid array_oid, std::string_view name,
                                                     Oid base, int32_t typmod, Oid collation);
  ~UserType();
  UserType(const UserType&) = delete;
  UserType& operator=(const UserType&) = delete;

  const TypeInfo& type() const { return type_; }
  const TypeInfo& array_type() const { return array_type_; }

  // The name as messages have it, of type or array.
  std::string display_name(Oid of) const;
  // The type has been given another name.
  void set_name(std::string_view name) const;

 private:
  explicit UserType(std::string_view name);

  mutable std::mutex name_mutex_;
  mutable std::string display_name_;
  TypeInfo type_;
  TypeInfo array_type_;
  std::shared_ptr<const UserType> beneath_;  // of a domain over a user's type
};

// Of a type or of its arrays; null of built-in types, and when nobody holds one.
std::shared_ptr<const UserType> share_user_type(Oid oid);
const TypeInfo* find_user_type(Oid oid);

}  // namespace pgsilo
