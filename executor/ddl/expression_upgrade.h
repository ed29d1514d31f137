// Programs before catalog version 14 kept defaults and checks as SQL text. They become trees
// (docs/stored_expressions.md) when such a database starts, before anybody can rename what they
// name. Thread safety: start-up only, alone.
#pragma once

namespace pgsilo {

class Catalog;
class WorkerContext;
struct WaitSettings;

// One transaction for each table. True: something was committed, and is not durable yet. Throws
// SqlError, FATAL, if an expression cannot be read any more.
bool store_expression_texts(Catalog& catalog, WorkerContext& worker, const WaitSettings& waits);

}  // namespace pgsilo
