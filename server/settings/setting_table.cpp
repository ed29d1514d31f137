#include "catalog/builtin_rows.h"
#include "server/limits.h"
#include "server/settings/canonical.h"
#include "server/settings/setting_definition.h"
#include "server/version.h"
#include "sql/limits.h"

namespace pgsilo {
namespace {

using Choice = const std::string_view;
Choice backslash_quote_choices[] = {"safe_encoding", "on", "off"};
Choice bytea_output_choices[] = {"hex", "escape"};
Choice message_levels[] = {"debug5", "debug4", "debug3",  "debug2", "debug1",
                           "log",    "notice", "warning", "error"};
// In the order of LogLevel.
Choice log_levels[] = {"debug5", "debug4",  "debug3", "debug2", "debug1", "info",
                       "notice", "warning", "error",  "log",    "fatal",  "panic"};
Choice log_verbosities[] = {"terse", "default", "verbose"};
Choice isolation_levels[] = {"serializable", "repeatable read", "read committed",
                             "read uncommitted"};
Choice checkpoint_compression_methods[] = {"off", "lz4"};
Choice huge_pages_choices[] = {"off", "on", "try"};
Choice interval_styles[] = {"postgres", "postgres_verbose", "sql_standard", "iso_8601"};
Choice log_statement_choices[] = {"none", "ddl", "mod", "all"};
Choice session_balancing_choices[] = {"off", "on", "always"};
Choice password_encryption_choices[] = {"md5", "scram-sha-256"};
// In the order of PlanCacheMode.
Choice plan_cache_modes[] = {"auto", "force_generic_plan", "force_custom_plan"};
Choice replication_roles[] = {"origin", "replica", "local"};
Choice synchronous_commit_choices[] = {"local", "remote_write", "remote_apply", "on", "off"};
// As a build of PostgreSQL has them that knows only lz4, and this platform.
Choice wal_compression_methods[] = {"lz4", "on", "off"};
Choice wal_sync_methods[] = {"fdatasync", "open_datasync"};
Choice wal_levels[] = {"minimal", "replica", "logical"};
Choice xmlbinary_choices[] = {"base64", "hex"};
Choice xmloption_choices[] = {"content", "document"};

constexpr auto internal = SettingContext::internal;
constexpr auto server = SettingContext::server;
constexpr auto connection = SettingContext::connection;
constexpr auto user = SettingContext::user;
constexpr auto none = SettingUnit::none;
constexpr auto bytes = SettingUnit::bytes;
constexpr auto kilobytes = SettingUnit::kilobytes;
constexpr auto blocks = SettingUnit::blocks;
constexpr auto megabytes = SettingUnit::megabytes;
constexpr auto milliseconds = SettingUnit::milliseconds;
constexpr auto seconds = SettingUnit::seconds;

using Word = std::string_view;

constexpr int64_t page_size = limits::page_bytes;
constexpr Word page_size_text = "8192";
constexpr int64_t number_of(Word digits) {
  int64_t number = 0;
  for (char digit : digits) number = number * 10 + (digit - '0');
  return number;
}
static_assert(number_of(page_size_text) == page_size);

using Canonicalize = void (*)(std::string& value);

SettingDefinition boolean(Word name, SettingContext context, Word initial, Word description,
                          Canonicalize canonicalize = nullptr) {
  return {.name = name,
          .kind = SettingKind::boolean,
          .context = context,
          .initial = initial,
          .canonicalize = canonicalize,
          .description = description};
}

SettingDefinition text(Word name, SettingContext context, Word initial, Word description,
                       Canonicalize canonicalize = nullptr) {
  return {.name = name,
          .kind = SettingKind::text,
          .context = context,
          .initial = initial,
          .canonicalize = canonicalize,
          .description = description};
}

SettingDefinition integer(Word name, SettingContext context, Word initial, SettingUnit unit,
                          double minimum, double maximum, Word description) {
  return {.name = name,
          .kind = SettingKind::integer,
          .context = context,
          .unit = unit,
          .initial = initial,
          .minimum = minimum,
          .maximum = maximum,
          .description = description};
}

SettingDefinition real(Word name, SettingContext context, Word initial, double minimum,
                       double maximum, Word description) {
  return {.name = name,
          .kind = SettingKind::real,
          .context = context,
          .initial = initial,
          .minimum = minimum,
          .maximum = maximum,
          .description = description};
}

SettingDefinition choice(Word name, SettingContext context, Word initial,
                         std::span<const Word> choices, Word description,
                         Canonicalize canonicalize = nullptr) {
  return {.name = name,
          .kind = SettingKind::enumeration,
          .context = context,
          .initial = initial,
          .choices = choices,
          .canonicalize = canonicalize,
          .description = description};
}

// Clients are told by ParameterStatus.
SettingDefinition reported(SettingDefinition definition) {
  definition.reported = true;
  return definition;
}

SettingDefinition or_zero(SettingDefinition definition) {
  definition.zero_is_special = true;
  return definition;
}

// Who one is outlasts RESET ALL.
SettingDefinition identity(SettingDefinition definition) {
  definition.keeps_in_reset_all = true;
  return definition;
}

const SettingDefinition table[] = {
    reported(text("application_name", user, "", "Name under which the client reports itself.",
                  canonicalize_application_name)),
    boolean("array_nulls", user, "on", "Reads an unquoted NULL in array input as a null element."),
    integer("background_share", server, "10", none, 1, 90,
            "Percentage of a worker that long statements get while others are runnable."),
    choice("backslash_quote", user, "safe_encoding", backslash_quote_choices,
           "Whether \\' may stand for a quote in string literals."),
    integer("block_size", internal, page_size_text, none, page_size, page_size,
            "Size of a disk block; kept for clients that ask."),
    choice("bytea_output", user, "hex", bytea_output_choices, "Output format of bytea."),
    boolean("check_function_bodies", user, "on", "Checks routine bodies when routines are made."),
    real("checkpoint_completion_target", server, "0.9", 0, 1,
         "Share of the time between checkpoints over which one is spread."),
    choice("checkpoint_compression", server, "off", checkpoint_compression_methods,
           "Compresses blocks of checkpoints."),
    text("checkpoint_directories", server, "checkpoint",
         "Directories of checkpoints' files, separated by commas."),
    integer("checkpoint_threads", server, "0", none, 0, 64,
            "Threads that write a checkpoint; 0: one for each directory."),
    integer("checkpoint_timeout", server, "300", seconds, 30, 86400,
            "Longest time between checkpoints, while anything is committed."),
    reported(text("client_encoding", user, "UTF8", "Character set of the client.",
                  canonicalize_client_encoding)),
    choice("client_min_messages", user, "notice", message_levels,
           "Least severity of messages sent to the client."),
    integer("commit_delay", user, "0", none, 0, 100000,
            "Accepted; group commit follows the device."),
    text("config_file", internal, "", "Always empty: settings come from the command line."),
    boolean("data_checksums", internal, "on", "Everything on disk carries checksums."),
    text("data_directory", internal, "", "The server's data directory."),
    reported(text("DateStyle", user, "ISO, MDY",
                  "Display format of dates and the order of day, month and year in input.",
                  canonicalize_date_style)),
    integer("deadlock_timeout", user, "1000", milliseconds, 1, 2147483647,
            "Time to wait for a lock before looking for a deadlock."),
    boolean("debug_assertions", internal, "off", "Whether this build carries debug assertions."),
    boolean("debug_pretty_print", user, "on", "Accepted for PostgreSQL's sake."),
    integer("default_statistics_target", user, "100", none, 1, limits::most_statistics_target,
            "Common values and intervals that are kept of a column."),
    text("default_table_access_method", user, "heap", "Accepted; every table is in memory.",
         canonicalize_table_access_method),
    text("default_tablespace", user, "", "Accepted; there are no tablespaces."),
    text("default_text_search_config", user, "pg_catalog.english",
         "Accepted for PostgreSQL's sake."),
    boolean("default_transaction_deferrable", user, "off",
            "Default deferrable status of new transactions."),
    choice("default_transaction_isolation", user, "serializable", isolation_levels,
           "Default isolation level of new transactions."),
    reported(boolean("default_transaction_read_only", user, "off",
                     "Default read-only status of new transactions.")),
    text("dynamic_library_path", user, "$libdir", "Accepted for PostgreSQL's sake."),
    integer("effective_cache_size", user, "524288", blocks, 1, 2147483647,
            "Accepted; everything is cached."),
    boolean("enable_bitmapscan", user, "on", "Accepted; there are no bitmap scans."),
    boolean("enable_hashagg", user, "on", "Allows hashed aggregation."),
    boolean("enable_hashjoin", user, "on", "Allows hash joins."),
    boolean("enable_incremental_sort", user, "on", "Allows sorts of what comes by the first keys."),
    boolean("enable_indexonlyscan", user, "on", "Accepted; index scans read what they need."),
    boolean("enable_indexscan", user, "on", "Allows index scans."),
    boolean("enable_material", user, "on", "Accepted; materialisation is chosen by need."),
    boolean("enable_memoize", user, "on", "Allows looked-up rows to be kept."),
    boolean("enable_mergejoin", user, "on", "Allows merge joins."),
    boolean("enable_nestloop", user, "on", "Allows nested-loop joins."),
    boolean("enable_seqscan", user, "on", "Allows sequential scans."),
    boolean("enable_sort", user, "on", "Allows explicit sorts."),
    boolean("enable_tidscan", user, "on", "Accepted; there are no TID scans."),
    boolean("escape_string_warning", user, "on", "Accepted for PostgreSQL's sake."),
    integer("extra_float_digits", user, "1", none, -15, 3,
            "Digits shown for floating-point values; above 0 the shortest exact form."),
    integer("from_collapse_limit", user, "8", none, 1, 2147483647,
            "Accepted for PostgreSQL's sake."),
    boolean("fsync", internal, "on", "Commits are always synced."),
    boolean("geqo", user, "on", "Accepted for PostgreSQL's sake."),
    real("hash_mem_multiplier", user, "2", 1, 1000,
         "Multiple of work_mem that hash tables may use."),
    choice("huge_pages", server, "try", huge_pages_choices,
           "Use of huge pages for rows and trees; on: or the server does not start."),
    integer("idle_in_transaction_session_timeout", user, "0", milliseconds, 0, 2147483647,
            "Ends a session that idles longer than this inside a transaction."),
    integer("idle_session_timeout", user, "0", milliseconds, 0, 2147483647,
            "Ends a session that idles longer than this outside a transaction."),
    reported(boolean("in_hot_standby", internal, "off", "Whether the server is a standby.")),
    reported(boolean("integer_datetimes", internal, "on", "Dates and times are integers.")),
    reported(
        choice("IntervalStyle", user, "postgres", interval_styles, "Display format of intervals.")),
    reported(boolean("is_superuser", internal, "on", "Whether the user may do everything.")),
    boolean("jit", user, "off", "Accepted for PostgreSQL's sake."),
    integer("join_collapse_limit", user, "8", none, 1, 2147483647,
            "Accepted for PostgreSQL's sake."),
    text("lc_collate", internal, "C.UTF-8", "Collation order."),
    text("lc_ctype", internal, "C.UTF-8", "Character classification."),
    text("lc_messages", user, "C.UTF-8", "Language of messages; they are in English."),
    text("lc_monetary", user, "C.UTF-8", "Format of monetary amounts."),
    text("lc_numeric", user, "C.UTF-8", "Format of numbers."),
    text("lc_time", user, "C.UTF-8", "Format of dates and times."),
    text("listen_addresses", server, "localhost", "Addresses to listen on: loopback only."),
    integer("lock_timeout", user, "0", milliseconds, 0, 2147483647, "Longest wait for a lock."),
    boolean("log_checkpoints", server, "on", "Logs each checkpoint."),
    boolean("log_connections", connection, "off", "Logs each connection."),
    text("log_destination", internal, "stderr", "The server's log goes to standard error."),
    text("log_directories", server, "",
         "Directories of the log, one logger each; empty: inside the data directory."),
    boolean("log_disconnections", connection, "off", "Logs the end of each session."),
    boolean("log_duration", user, "off", "Logs how long each statement took."),
    choice("log_error_verbosity", user, "default", log_verbosities,
           "Which fields of a message the server's log has."),
    text("log_line_prefix", server, "%m [%p] ", "Stands before each line of the server's log."),
    boolean("log_lock_waits", user, "off",
            "Logs each wait for a lock that lasts for deadlock_timeout."),
    integer("log_min_duration_statement", user, "-1", milliseconds, -1, 2147483647,
            "Logs statements that took as long; 0: all, -1: none."),
    choice("log_min_error_statement", user, "error", log_levels,
           "Least severity of messages in the server's log that come with their statement."),
    choice("log_min_messages", user, "warning", log_levels,
           "Least severity of messages in the server's log."),
    integer("log_parameter_max_length", user, "-1", bytes, -1, 1073741823,
            "Bytes of each parameter that are logged with a statement; -1: all."),
    integer("log_parameter_max_length_on_error", user, "0", bytes, -1, 1073741823,
            "Bytes of each parameter that are logged with a failure; -1: all."),
    choice("log_statement", user, "none", log_statement_choices, "Which statements are logged."),
    text("log_timezone", internal, "Etc/UTC", "Time zone of times in the server's log."),
    boolean("logging_collector", internal, "off", "Files are left to who reads standard error."),
    integer("maintenance_work_mem", user, "65536", kilobytes, 1024, 2147483647,
            "Accepted; memory is bounded by the machine."),
    integer("max_connections", server, "5000", none, 1, 262143,
            "Largest number of sessions at a time."),
    integer("max_function_args", internal, "100", none, 100, 100,
            "Largest number of a function's arguments."),
    integer("max_identifier_length", internal, "63", none, 63, 63,
            "Largest length of a name in bytes."),
    integer("max_index_keys", internal, "32", none, 32, 32,
            "Largest number of an index's columns."),
    integer("max_parallel_workers", user, "8", none, 0, 1024,
            "Accepted; a statement runs on one worker."),
    integer("max_parallel_workers_per_gather", user, "0", none, 0, 1024,
            "Accepted; a statement runs on one worker."),
    integer("max_prepared_transactions", server, "0", none, 0, 0,
            "There are no prepared transactions."),
    integer("max_replication_slots", server, "10", none, 0, 262143,
            "Largest number of replication slots."),
    integer("max_slot_wal_keep_size", server, "-1", megabytes, -1, 2147483647,
            "Size of the log that a replication slot may keep before it is lost; -1: any."),
    integer("max_stack_depth", user, "2048", kilobytes, 100, 2147483647,
            "Accepted; stacks are of fixed size."),
    integer("max_wal_size", server, "1024", megabytes, 2, 2147483647,
            "Size of the log that checkpoints keep it below, as far as they can."),
    or_zero(integer("memory_limit", server, "0", megabytes, limits::least_memory_megabytes,
                    2147483647,
                    "Memory above which data may not grow; 0: two thirds of the memory there is.")),
    choice("password_encryption", user, "scram-sha-256", password_encryption_choices,
           "Accepted; there are no passwords."),
    choice("plan_cache_mode", user, "auto", plan_cache_modes,
           "Whether prepared statements run by plans for all values or for each one's."),
    integer("port", server, "5432", none, 1, 65535, "Port, also in the name of the Unix socket."),
    boolean("quote_all_identifiers", user, "off", "Accepted for PostgreSQL's sake."),
    real("random_page_cost", user, "4", 0, 1e308, "Accepted for PostgreSQL's sake."),
    boolean("recovery_accept_data_loss", server, "off",
            "Starts from the newest consistent state before a damaged place in the log."),
    boolean("recovery_skip_damaged_blocks", server, "off",
            "Starts without the rows of tables that lie in damaged blocks of the checkpoint."),
    real("recursive_worktable_factor", user, "10", 0.001, 1000000,
         "How many rows a step of WITH RECURSIVE reads, for each that it begins with."),
    integer(
        "retry_buffer_size", user, "4096", kilobytes, 64, 1048576,
        "Output of a one-shot transaction that is held back so that a conflict may be retried."),
    identity(text("role", user, "none", "Current role.", require_role_or_none)),
    boolean("row_security", user, "on", "Accepted; there are no row policies."),
    or_zero(integer("scrub_interval", server, "86400", seconds, 1, 2147483,
                    "How often the checkpoint and the log are read back and checked; 0: never.")),
    text("search_path", user, "\"$user\", public", "Schemas searched for names without one.",
         canonicalize_name_list),
    real("seq_page_cost", user, "1", 0, 1e308, "Accepted for PostgreSQL's sake."),
    reported(text("server_encoding", internal, "UTF8", "Character set of the database.")),
    reported(text("server_version", internal, server_version,
                  "Version of PostgreSQL whose behaviour this server follows.")),
    integer("server_version_num", internal, server_version_number, none, 0, 999999,
            "The same as a number."),
    identity(reported(text("session_authorization", user, bootstrap_role_name,
                           "User of the session.", require_role))),
    choice("session_balancing", server, "on", session_balancing_choices,
           "Moves sessions from workers with much to do to others; always: for tests."),
    choice("session_replication_role", user, "origin", replication_roles,
           "Accepted; there are no triggers."),
    integer("shared_buffers", server, "16384", blocks, 16, 1073741823,
            "Accepted; data lives in memory."),
    boolean("ssl", internal, "off", "There is no TLS."),
    reported(boolean("standard_conforming_strings", user, "on",
                     "Backslashes in ordinary string literals are ordinary.",
                     require_standard_strings)),
    integer("statement_timeout", user, "0", milliseconds, 0, 2147483647,
            "Longest run of a statement."),
    integer("superuser_reserved_connections", server, "3", none, 0, 262143,
            "Accepted for PostgreSQL's sake."),
    boolean("synchronize_seqscans", user, "on", "Accepted for PostgreSQL's sake."),
    choice("synchronous_commit", user, "on", synchronous_commit_choices,
           "Off: answers do not wait for the log; the others are alike."),
    integer("tcp_keepalives_count", user, "0", none, 0, 2147483647,
            "Accepted; the system's value is used."),
    integer("tcp_keepalives_idle", user, "0", seconds, 0, 2147483647,
            "Accepted; the system's value is used."),
    integer("tcp_keepalives_interval", user, "0", seconds, 0, 2147483647,
            "Accepted; the system's value is used."),
    integer("temp_buffers", user, "1024", blocks, 100, 1073741823,
            "Accepted; temporary tables are in memory like all others."),
    integer("temp_file_limit", user, "-1", kilobytes, -1, 2147483647,
            "Size of the temporary files that a session may have at a time; -1: any."),
    reported(
        text("TimeZone", user, "Etc/UTC", "Time zone of dates and times.", canonicalize_time_zone)),
    text("timezone_abbreviations", user, "Default",
         "Accepted; the standard abbreviations are known."),
    boolean("transaction_deferrable", user, "off",
            "Whether the running transaction may be deferred."),
    choice("transaction_isolation", user, "serializable", isolation_levels,
           "Isolation level of the running transaction."),
    boolean("transaction_read_only", user, "off", "Whether the running transaction may not write."),
    integer("transaction_timeout", user, "0", milliseconds, 0, 2147483647,
            "Longest time from a transaction's begin to its end."),
    boolean("transform_null_equals", user, "off", "Accepted; x = NULL is never a null test."),
    text("unix_socket_directories", server, "/tmp", "Directory of the Unix socket."),
    integer("wal_block_size", internal, page_size_text, none, page_size, page_size,
            "Kept for clients that ask."),
    choice("wal_compression", server, "off", wal_compression_methods,
           "Compresses blocks of the log; on: with lz4.", canonicalize_wal_compression),
    choice("wal_level", internal, "replica", wal_levels, "Kept for clients that ask."),
    choice(
        "wal_sync_method", server, "open_datasync", wal_sync_methods,
        "How the log is made durable; open_datasync: past the page cache where that is possible."),
    integer("work_mem", user, "4096", kilobytes, 64, 2147483647,
            "Memory a sort or hash table should use."),
    boolean("worker_batch_scheduling", server, "on",
            "Lets a worker that wakes wait for the running program instead of preempting it."),
    boolean("worker_pinning", server, "off", "Binds each worker to a CPU of its own."),
    integer(
        "worker_poll_time", server, "50", none, 0, 10000,
        "Microseconds for which a worker looks for requests before it sleeps, while the machine "
        "has free CPUs; 0: it does not."),
    integer("worker_threads", server, "0", none, 0, 1024, "Worker threads; 0: one for each CPU."),
    choice("xmlbinary", user, "base64", xmlbinary_choices, "Accepted; there is no xml type."),
    choice("xmloption", user, "content", xmloption_choices, "Accepted; there is no xml type."),
};

}  // namespace

std::span<const SettingDefinition> setting_definitions() { return table; }

}  // namespace pgsilo
