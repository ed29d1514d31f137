// Names of catalog objects for the reg* types, by a session's view of the catalog.
// Thread safety: none; one per session.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql/types/type_context.h"

namespace pgsilo {

class CatalogView;
class DomainChecks;
class Transaction;
struct ExecutionContext;

class CatalogNames final : public ObjectNames {
 public:
  // Who is told a name rests on the catalog's last change.
  CatalogNames(CatalogView& view, Transaction& transaction);
  ~CatalogNames() override;
  CatalogNames(const CatalogNames&) = delete;
  CatalogNames& operator=(const CatalogNames&) = delete;
  Oid find(Oid reg_type, std::string_view text) override;
  bool print(Oid reg_type, Oid object, ByteBuffer& out) override;
  const EnumLabels* find_labels(Oid type) override;
  void check_domain(Oid domain, Datum value) override;
  // Who checks domains calls functions, which ask the session. Without one nothing is checked.
  void set_session(ExecutionContext& session);

 private:
  Oid find_relation(const std::vector<std::string>& name) const;
  Oid find_type_name(const std::vector<std::string>& name, std::string_view text,
                     bool is_array) const;
  bool print_relation(Oid object, ByteBuffer& out) const;
  bool print_type(Oid object, ByteBuffer& out) const;

  CatalogView& view_;
  Transaction& transaction_;
  std::unique_ptr<DomainChecks> domains_;
};

// "a.B".c split at its dots: unquoted parts in lower case. Throws 42602 for what is no name.
std::vector<std::string> split_qualified_name(std::string_view text);

// schema.name, each quoted where it must be.
std::string qualified_name(std::string_view schema, std::string_view name);

}  // namespace pgsilo
