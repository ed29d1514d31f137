// What a session is given: the server's parts and those of its worker. Everything outlives the
// session. Thread safety: the worker's parts belong to its thread.
#pragma once

namespace pgsilo {

class Catalog;
class Checkpointer;
class MemoryBudget;
class ParserThreads;
class PlanCache;
class ServerLog;
class ServerMonitor;
class ServerSettings;
class SessionRegistry;
class TemporaryStorage;
class Worker;
class WorkerContext;
struct WorkerStatistics;

struct SessionServices {
  Worker& worker;
  WorkerContext& storage;
  PlanCache& plans;
  ParserThreads& parsers;
  TemporaryStorage& temporary;
  Catalog& catalog;
  Checkpointer& checkpointer;
  SessionRegistry& sessions;
  const ServerSettings& settings;
  ServerMonitor& monitor;
  ServerLog& log;
  WorkerStatistics& statistics;
  MemoryBudget& memory;
};

}  // namespace pgsilo
