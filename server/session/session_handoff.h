// All that a session takes along to another worker: what clients have set and sent, and
// who they are. What else a session has it makes anew there: the storage transaction, the view of
// the catalog, executions, buffers (docs/session_moves.md).
//
// Thread safety: one owner at a time; made on one worker's thread, used up on another's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "catalog/sequence/sequence_session.h"
#include "catalog/temporary_schema.h"
#include "executor/execution_context.h"
#include "executor/worker/load.h"
#include "server/net/connection.h"
#include "server/session/block_caution.h"
#include "server/session/prepared_statements.h"
#include "server/session/session_activity.h"
#include "server/session/session_log.h"
#include "server/settings/settings.h"

namespace pgsilo {

struct SessionHandoff {
  int destination = -1;  // the worker's index
  SessionLoad load;
  int32_t process = 0;
  // The registry knows it all the time. Shared: it must not go before its entry there.
  std::shared_ptr<SessionActivity> activity;
  UnreadInput input;
  std::unique_ptr<Settings> settings;
  // Which of them prepared statements were read under (SessionState).
  std::string settings_key;
  uint64_t settings_number = 0;
  SessionLog::Speaker speaker;
  std::string user_name;
  std::string session_user_name;
  SequenceSession sequences;
  TemporarySchema temporary_schema;
  PreparedStatements statements;
  RandomState random;
  BlockCaution caution;
  std::vector<std::string> reported;
  uint64_t reported_generation = 0;
};

}  // namespace pgsilo
