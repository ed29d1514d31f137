// The limits of the server process, all in one place. Those marked [PostgreSQL] are its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pgsilo::limits {

// Length words above these are refused before anything is allocated. [PostgreSQL:
// PQ_SMALL_MESSAGE_LIMIT, MaxAllocSize - 1, MAX_STARTUP_PACKET_LENGTH]
inline constexpr uint32_t max_small_message_bytes = 10000;
inline constexpr uint32_t max_message_bytes = (uint32_t{1} << 30) - 2;
inline constexpr uint32_t max_startup_bytes = 10000;

// Longer ones are read only while memory_limit admits them.
inline constexpr uint32_t free_message_bytes = uint32_t{256} << 10;

// A connection's input buffer: what it starts with and shrinks back to, and how much one read asks
// for at most.
inline constexpr size_t input_buffer_bytes = size_t{8} << 10;
inline constexpr size_t max_read_bytes = size_t{256} << 10;
// Who has not said who he is by then is gone. [PostgreSQL: authentication_timeout]
inline constexpr int64_t authentication_timeout_us = 60'000'000;
// So many who have said nothing yet may wait while the server starts or stops, or has no seat for
// them; fewer where descriptors are few: one in so many.
inline constexpr size_t clients_at_closed_door = 100;
inline constexpr size_t door_share_of_descriptors = 8;
// Descriptors that clients never get: for the control file, what else is replaced, for each log its
// segments (more than are ready at the start), for each file of a checkpoint: the one that is
// removed, and being read back.
inline constexpr size_t reserved_descriptors = 16;
inline constexpr size_t reserved_descriptors_per_log = 8;
inline constexpr size_t reserved_descriptors_per_checkpoint_file = 3;
// Temporary files that are open at a time: one in so many of all descriptors, within bounds.
// Threads that read and write them.
inline constexpr size_t temporary_file_share_of_descriptors = 16;
inline constexpr size_t least_temporary_files = 8;
inline constexpr size_t most_temporary_files = 1000;
inline constexpr unsigned temporary_file_threads = 4;
// With less than this for clients the server does not start.
inline constexpr size_t least_seats = 8;
// Sockets there may be for each session of max_connections, those who have not said who they are
// included. [PostgreSQL: MaxLivePostmasterChildren]
inline constexpr size_t sockets_per_session = 2;

// A client whose worker does not come for it by then is served by another one.
inline constexpr int64_t called_worker_patience_us = 20'000;

// How often the end of a session tries to drop what it has made temporarily, where others are in
// the way.
inline constexpr int temporary_drop_attempts = 10;

// How often what a session says last is offered to a socket that is full.
inline constexpr int64_t last_send_us = 100'000;

// Output that may leave but does not, because the client does not read: above this its fiber waits.
inline constexpr size_t output_backlog_bytes = size_t{256} << 10;
// Buffers larger than this are given back when they are empty.
inline constexpr size_t kept_buffer_bytes = size_t{64} << 10;

// The setting retry_buffer_size says how much output is held back before it is validated and
// leaves; for a long result the pieces grow up to this.
inline constexpr size_t largest_held_output_bytes = size_t{64} << 20;

// Of the messages of a transaction that may run again so much is kept beside the longest one; with
// more it runs once.
inline constexpr size_t replayed_input_bytes = size_t{16} << 20;

// Named prepared statements of a session that take more than this, with their plans, are kept while
// memory_limit admits them.
inline constexpr size_t free_statement_bytes = size_t{256} << 10;

// So are named portals of a session that take more, with their parameters; what one takes without.
inline constexpr size_t free_portal_bytes = size_t{256} << 10;
inline constexpr size_t portal_bytes = 2048;

// So are more savepoints of a block than this; what one takes.
inline constexpr size_t free_savepoints = 1000;
inline constexpr size_t savepoint_bytes = 512;

// So are more of a session's settings: the values that it has set, and in a transaction those
// before.
inline constexpr size_t free_setting_bytes = size_t{256} << 10;

// A statement of a SERIALIZABLE block whose own reads are beaten runs again so often; then the
// client gets 40001.
inline constexpr uint32_t serializable_statement_restarts = 16;

// A one-shot that only reads and has met so many conflicts reads a snapshot.
inline constexpr uint32_t read_failures_before_snapshot = 4;

// Sessions that idle in a transaction are ended for the memory that they keep from being freed only
// where that is more than this part of memory_limit. In the midst of a statement they idle when for
// so long nothing has come from their client; where something was sent to it that it has not read,
// when it has read nothing of that for so long: the kernel tells of up to 100 kB at once.
inline constexpr size_t held_back_fraction = 64;
inline constexpr int64_t silent_client_us = 1'000'000;
inline constexpr int64_t unread_client_us = 5'000'000;

// Longer texts of statements are parsed on one of so many threads of their own, while their worker
// goes on: one so long takes some milliseconds.
inline constexpr size_t text_parsed_at_once = size_t{32} << 10;
inline constexpr size_t parser_threads = 4;

// A session that is idle keeps what it may run again: so many executions at most, whose plans, with
// the syntax of their texts, take so many bytes together.
inline constexpr size_t kept_executions = 64;
inline constexpr size_t kept_executions_bytes = size_t{1} << 20;

// What pg_stat_activity keeps of a query's text. [PostgreSQL: track_activity_query_size]
inline constexpr size_t shown_query_bytes = 1024;
// What a worker keeps for pgsilo_stat_statements.
inline constexpr size_t counted_statements = 1000;
inline constexpr size_t counted_statement_bytes = 4096;

// The smallest memory_limit: below it an empty server with a few sessions could do nothing.
inline constexpr int least_memory_megabytes = 64;

// What of the server's log waits to be written; more is dropped and counted.
inline constexpr size_t queued_log_bytes = size_t{4} << 20;
// Each text of an entry (its message, its statement) is cut off behind so many.
inline constexpr size_t logged_text_bytes = size_t{1} << 20;

}  // namespace pgsilo::limits
