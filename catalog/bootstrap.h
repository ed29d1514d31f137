// The rows of an empty database: the catalog's own tables, the built-in types, the first schemas
// and databases. Thread safety: none; start-up only.
#pragma once

namespace pgsilo {

class RelationDirectory;
class SystemTables;
class WorkerContext;

// Commits them in one transaction. The system relations exist and are empty.
void bootstrap_catalog(const SystemTables& tables, RelationDirectory& relations,
                       WorkerContext& worker);

}  // namespace pgsilo
