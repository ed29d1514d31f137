// Checks and canonical forms of the settings whose text has a grammar of its own.
// Each takes a value, replaces it by its canonical form, or throws SqlError 22023.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/types/type_context.h"

namespace pgsilo {

void canonicalize_date_style(std::string& value);
void canonicalize_time_zone(std::string& value);
void canonicalize_client_encoding(std::string& value);
void canonicalize_table_access_method(std::string& value);
void canonicalize_application_name(std::string& value);
void canonicalize_name_list(std::string& value);  // search_path
void require_role(std::string& value);
void require_role_or_none(std::string& value);
void require_standard_strings(std::string& value);
void canonicalize_wal_compression(std::string& value);  // "on" is a method

// From the canonical form "ISO, MDY".
void read_date_style(std::string_view canonical, DateStyle* style, DateOrder* order);
// The names of `"$user", public`, unquoted and case-folded. False when it is no list.
bool split_name_list(std::string_view text, std::vector<std::string>* names);

}  // namespace pgsilo
