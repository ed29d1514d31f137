// What values of domains are held against: the constraints of a domain and of those that it is
// over, compiled when a value is first checked, and anew when the catalog has changed them. Who
// checks rests on the domains' rows of pg_type: plans do for the types that they name, COPY for its
// columns', Bind for its parameters'. Thread safety: none; one per session.
#pragma once

#include <memory>
#include <unordered_map>

#include "base/arena.h"
#include "sql/types/datum.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

class CatalogView;
struct ExecutionContext;

class DomainChecks {
 public:
  explicit DomainChecks(ExecutionContext& session);
  ~DomainChecks();
  DomainChecks(const DomainChecks&) = delete;
  DomainChecks& operator=(const DomainChecks&) = delete;

  // 23502 of a NULL, 23514 of a value that a constraint does not allow.
  void check(const CatalogView& catalog, Oid domain, Datum value);

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compile(const CatalogView& catalog, Oid domain);
  Compiled& compiled(const CatalogView& catalog, Oid domain);
  void forget_dropped(const CatalogView& catalog);
  void run(Compiled& checks, Datum value);

  ExecutionContext& session_;
  std::unordered_map<Oid, std::unique_ptr<Compiled>> known_;
  size_t forget_at_ = 64;  // so many known ones are worth a look for those that are not any more
};

}  // namespace pgsilo
