// The limits of SQL, all in one place. Those marked [PostgreSQL] are its own and visible to users;
// the others are ours.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pgsilo::limits {

// Names are cut to this many bytes, at a character boundary. [PostgreSQL: NAMEDATALEN - 1]
inline constexpr size_t max_identifier_bytes = 63;
// [PostgreSQL: MaxHeapAttributeNumber, INDEX_MAX_KEYS, FUNC_MAX_ARGS, MaxTupleAttributeNumber]
inline constexpr int max_table_columns = 1600;
inline constexpr int max_index_columns = 32;
inline constexpr int max_function_arguments = 100;
inline constexpr int max_target_columns = 1664;
// Of an array. [PostgreSQL: MAXDIM, MaxArraySize]
inline constexpr int max_array_dimensions = 6;
inline constexpr size_t max_array_elements = 134217727;
// One value in memory. [PostgreSQL: MaxAllocSize less the header]
inline constexpr size_t max_value_bytes = (size_t{1} << 30) - 5;
// Largest n in char(n) and varchar(n). [PostgreSQL: MaxAttrSize]
inline constexpr int max_char_length = 10485760;
// numeric(p, s) as declared, and what a value may reach. [PostgreSQL]
inline constexpr int max_numeric_precision = 1000;
inline constexpr int max_numeric_scale = 1000;
inline constexpr int min_numeric_scale = -1000;
inline constexpr int max_numeric_integer_digits = 131072;
inline constexpr int max_numeric_fraction_digits = 16383;
inline constexpr int max_time_precision = 6;
// A time zone by its offset is less than so many hours from UTC; and the text of one that says its
// rules itself. [PostgreSQL: HOURS_PER_DAY * DAYS_PER_WEEK, TZ_STRLEN_MAX]
inline constexpr int time_zone_hours = 168;
inline constexpr size_t max_time_zone_bytes = 255;
// Parameters of one statement. [PostgreSQL: the protocol's uint16]
inline constexpr int max_parameters = 65535;
// A greater $n is refused when the statement's parameters are known, as one without a type, one
// beyond this at once. [PostgreSQL: an Oid for each fits in an int's worth of bytes]
inline constexpr int max_parameter_number = INT32_MAX / 4;
// Texts of statements that are longer are parsed if memory_limit admits what that takes, about: so
// much for each byte, token and statement. (Measured: 29 bytes a byte for a list of numbers, 137
// for one of columns, 2 for a long string, 63 for `select 1;` again and again.)
inline constexpr size_t text_parsed_unasked = size_t{256} << 10;
inline constexpr size_t parsing_bytes_per_byte = 4;
inline constexpr size_t parsing_bytes_per_token = 140;
inline constexpr size_t parsing_bytes_per_statement = 300;
// Depth of nested expressions, subqueries and set operations; beyond it 54001, long before any
// stack ends.
inline constexpr int max_nesting_depth = 1000;

// Domains over domains, beneath each other, and constraints of one domain, of which each change of
// the domain copies the list; beyond them 54001 and 54000.
inline constexpr int max_domain_depth = 100;
inline constexpr size_t max_domain_constraints = 500;

// A foreign key's action that others have disturbed so often keeps them out of the table.
inline constexpr uint32_t disturbed_referential_rounds = 4;

// Plans of foreign keys' actions that a session keeps, more while memory_limit admits them; what
// one takes, about.
inline constexpr size_t free_referential_plans = 256;
inline constexpr size_t referential_plan_bytes = size_t{16} << 10;

// ORs under an AND under an OR are multiplied out, to be looked up in indexes, up to so many.
inline constexpr size_t most_multiplied_alternatives = 64;
// Of all ways in which indexes may answer an OR of a table's conditions so many are compared.
inline constexpr size_t most_union_paths = 32;

// A plan is made again when one of its tables has more than this many times the rows that it was
// made for, or less than one in so many; with so many rows on both sides nobody minds. Whether it
// is so is looked at no more often than this.
inline constexpr double plan_size_factor = 2;
inline constexpr double plan_size_slack_rows = 50;
inline constexpr int64_t plan_size_check_us = 100'000;
// A plan longer than this, mostly for what was computed while it was made, is not kept for others.
inline constexpr size_t max_kept_plan_bytes = size_t{1} << 20;
// What a worker keeps of parsed texts and their plans: so many texts, none longer than this, and so
// many bytes, if that is no more than this part of memory_limit for all workers together. One text
// gets no more than an eighth of them.
inline constexpr size_t kept_texts = 1024;
inline constexpr size_t kept_text_bytes = size_t{16} << 10;
inline constexpr size_t kept_plans_bytes = size_t{32} << 20;
inline constexpr size_t kept_plans_fraction = 16;
inline constexpr size_t kept_plans_text_fraction = 8;
// When memory_limit leaves no more room, what a worker keeps goes, unless that is less than this
// fraction of its part of memory_limit.
inline constexpr size_t given_back_plans_fraction = 64;

// What sizes in pages are counted in, though nothing here has pages. [PostgreSQL: BLCKSZ]
inline constexpr size_t page_bytes = 8192;

// What VACUUM's PARALLEL may ask for (PostgreSQL: MAX_PARALLEL_WORKER_LIMIT).
inline constexpr int64_t max_parallel_workers = 1024;

// Rows of a table that the planner's sample looks at, those of smaller tables all, and how many
// bytes of rows at most: these and what follows but sampled_value_bytes for a statistics target of
// 100, and as many times as much for a larger one.
inline constexpr size_t sampled_rows = 2048;
inline constexpr size_t wholly_sampled_rows = 8192;
inline constexpr size_t sampled_bytes = 16 << 20;
// Of a table with so many columns that its rows have more values than this, fewer rows, but these.
inline constexpr size_t sampled_values = size_t{1} << 18;
inline constexpr size_t least_sampled_rows = 512;
// Longer values are neither common ones nor bounds.
inline constexpr size_t sampled_value_bytes = 1024;
// So many common values and intervals between bounds of a column, unless it or
// default_statistics_target says otherwise, and no more than that; but no more bytes of either than
// half of this of a column, or its share of what a table may have.
inline constexpr int32_t statistics_target = 100;
inline constexpr int32_t most_statistics_target = 10'000;
inline constexpr size_t column_statistics_bytes = 4096;
inline constexpr size_t table_statistics_bytes = size_t{1} << 20;

}  // namespace pgsilo::limits
