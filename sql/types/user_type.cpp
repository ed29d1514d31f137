#include "sql/types/user_type.h"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/arena.h"
#include "sql/types/text.h"
#include "sql/types/type_functions.h"

namespace pgsilo {

namespace {

class Registry {
 public:
  void add(Oid oid, const std::shared_ptr<const UserType>& type) {
    std::unique_lock lock(mutex_);
    types_[oid] = type;
  }
  // Nobody holds the type any more, unless it has been made again.
  void remove(Oid oid) {
    std::unique_lock lock(mutex_);
    auto found = types_.find(oid);
    if (found != types_.end() && found->second.expired()) types_.erase(found);
  }
  std::shared_ptr<const UserType> find(Oid oid) {
    std::shared_lock lock(mutex_);
    auto found = types_.find(oid);
    return found != types_.end() ? found->second.lock() : nullptr;
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<Oid, std::weak_ptr<const UserType>> types_;
};

// Outlives every holder, those of static storage too.
Registry& registry() {
  static auto* only = new Registry();
  return *only;
}

std::string quoted(std::string_view name) {
  Arena arena(256);
  return std::string(quote_identifier(name, arena));
}

}  // namespace

UserType::UserType(std::string_view name) : display_name_(quoted(name)), type_{}, array_type_{} {
  type_.delimiter = array_type_.delimiter = ',';
  array_type_.typlen = -1;
  array_type_.typtype = 'b';
  array_type_.category = 'A';
  array_type_.storage = 'x';
  array_type_.alignment = 'i';
  array_type_.by_reference = true;
  array_type_.functions = types::array_functions;
  array_type_.modifiers = types::array_modifiers;
  array_type_.element_info = &type_;
}

UserType::~UserType() {
  registry().remove(type_.oid);
  registry().remove(array_type_.oid);
}

std::shared_ptr<const UserType> UserType::make_enum(Oid oid, Oid array_oid, std::string_view name) {
  if (std::shared_ptr<const UserType> known = registry().find(oid)) return known;
  std::shared_ptr<UserType> made(new UserType(name));
  TypeInfo& type = made->type_;
  type.oid = made->array_type_.element = oid;
  type.array = made->array_type_.oid = array_oid;
  type.typlen = 4;
  type.typbyval = true;
  type.typtype = 'e';
  type.category = 'E';
  type.alignment = 'i';
  type.storage = 'p';
  type.key_form = KeyForm::int32;
  type.functions = types::enum_functions;
  made->array_type_.key_form = KeyForm::array;
  registry().add(oid, made);
  registry().add(array_oid, made);
  return made;
}

std::shared_ptr<const UserType> UserType::make_domain(Oid oid, Oid array_oid, std::string_view name,
                                                      Oid over, int32_t typmod, Oid collation) {
  if (std::shared_ptr<const UserType> known = registry().find(oid)) return known;
  std::shared_ptr<UserType> made(new UserType(name));
  made->beneath_ = share_user_type(over);
  const TypeInfo& below = type_info(over);
  const TypeInfo& base = base_type_of(below);
  TypeInfo& type = made->type_;
  type = base;
  type.name = type.display_name = {};
  type.oid = made->array_type_.element = oid;
  type.array = made->array_type_.oid = array_oid;
  type.typtype = 'd';
  type.preferred = false;
  type.element = invalid_oid;
  if (base.category == 'A') type.element_info = &element_type(base);
  type.base = &base;
  type.base_typmod = is_domain(below) ? below.base_typmod : typmod;
  type.collation = made->array_type_.collation = collation;
  type.functions = types::domain_functions(base);
  type.modifiers = {};
  made->array_type_.delimiter = type.delimiter;
  made->array_type_.alignment = type.alignment == 'd' ? 'd' : 'i';
  if (base.key_form != KeyForm::none) made->array_type_.key_form = KeyForm::array;
  registry().add(oid, made);
  registry().add(array_oid, made);
  return made;
}

std::string UserType::display_name(Oid of) const {
  std::lock_guard lock(name_mutex_);
  return of == array_type_.oid ? display_name_ + "[]" : display_name_;
}

void UserType::set_name(std::string_view name) const {
  std::lock_guard lock(name_mutex_);
  display_name_ = quoted(name);
}

std::shared_ptr<const UserType> share_user_type(Oid oid) {
  // Below, PostgreSQL's own objects are.
  constexpr Oid first_user_oid = 16384;
  return oid < first_user_oid ? nullptr : registry().find(oid);
}

const TypeInfo* find_user_type(Oid oid) {
  std::shared_ptr<const UserType> found = registry().find(oid);
  if (found == nullptr) return nullptr;
  return found->type().oid == oid ? &found->type() : &found->array_type();
}

}  // namespace pgsilo
