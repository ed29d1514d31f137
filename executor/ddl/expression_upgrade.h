// Programs before catalog version 14 kept defaults and checks as SQL text. They become trees
// (docs/stored_expressions.md) when such a database starts, before anybody can rename what they
// name. What cannot be read stays text: the server starts and tells of it, and whoever uses the
// expression gets an error, as from the older program, until it is dropped or defined anew. Thread
// safety: start-up only, alone.
#pragma once

namespace pgsilo {

class Catalog;
class WorkerContext;
struct TypeContext;
struct WaitSettings;

// One transaction for each table. `settings`: by which literals are read, and the time that 'now'
// is. True: something was committed, and is not durable yet.
bool store_expression_texts(Catalog& catalog, WorkerContext& worker, const WaitSettings& waits,
                            const TypeContext& settings);

}  // namespace pgsilo
