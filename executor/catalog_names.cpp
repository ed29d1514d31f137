#include "executor/catalog_names.h"

#include "base/byte_buffer.h"
#include "catalog/builtin/builtin.h"
#include "catalog/catalog_view.h"
#include "catalog/named_relation.h"
#include "catalog/named_type.h"
#include "executor/domain_checks.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

[[noreturn]] void throw_invalid_name() {
  throw SqlError(sqlstate::invalid_name, "invalid name syntax");
}

bool is_blank(char byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

void append_quoted(std::string_view name, ByteBuffer& out) {
  Arena arena(256);
  out.append(quote_identifier(name, arena));
}

}  // namespace

std::vector<std::string> split_qualified_name(std::string_view text) {
  std::vector<std::string> parts;
  size_t at = 0;
  auto skip_blanks = [&] {
    while (at < text.size() && is_blank(text[at])) ++at;
  };
  for (;;) {
    skip_blanks();
    std::string part;
    if (at < text.size() && text[at] == '"') {
      for (++at;; ++at) {
        if (at == text.size()) throw_invalid_name();
        if (text[at] == '"') {
          if (at + 1 == text.size() || text[at + 1] != '"') break;
          ++at;
        }
        part.push_back(text[at]);
      }
      ++at;
    } else {
      while (at < text.size() && text[at] != '.' && !is_blank(text[at])) {
        char byte = text[at++];
        part.push_back(byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte);
      }
    }
    if (part.empty()) throw_invalid_name();
    parts.push_back(std::move(part));
    skip_blanks();
    if (at == text.size()) return parts;
    if (text[at++] != '.') throw_invalid_name();
  }
}

std::string qualified_name(std::string_view schema, std::string_view name) {
  ByteBuffer text;
  append_quoted(schema, text);
  text.append('.');
  append_quoted(name, text);
  return std::string(text.view());
}

CatalogNames::CatalogNames(CatalogView& view, Transaction& transaction)
    : view_(view), transaction_(transaction) {}

CatalogNames::~CatalogNames() = default;

void CatalogNames::set_session(ExecutionContext& session) {
  domains_ = std::make_unique<DomainChecks>(session);
}

void CatalogNames::check_domain(Oid domain, Datum value) {
  if (domains_ != nullptr) domains_->check(view_.told_by(transaction_), domain, value);
}

Oid CatalogNames::find_relation(const std::vector<std::string>& name) const {
  ast::RangeVar named;
  named.name = name.back();
  if (name.size() > 1) named.schema_name = name[name.size() - 2];
  const auto [table, index] = require_relation(view_.told_by(transaction_), {}, named);
  return table != nullptr ? table->oid : index->oid;
}

Oid CatalogNames::find_type_name(const std::vector<std::string>& name, std::string_view text,
                                 bool is_array) const {
  std::vector<std::string_view> words(name.begin(), name.end());
  if (const TypeInfo* type = find_named_type(view_.told_by(transaction_), words)) {
    if (!is_array) return type->oid;
    if (type->array != invalid_oid) return type->array;
  }
  // SQL's own names: "integer", "timestamp with time zone".
  for (const TypeInfo& type : all_types()) {
    if (type.display_name == text) return type.oid;
  }
  if (text == "int") return type_oid::int4;
  if (text == "decimal") return type_oid::numeric;
  throw SqlError(sqlstate::undefined_object, concat("type \"", text, "\" does not exist"));
}

Oid CatalogNames::find(Oid reg_type, std::string_view text) {
  switch (reg_type) {
    case type_oid::regclass:
      return find_relation(split_qualified_name(text));
    case type_oid::regtype: {
      std::vector<std::string> name;
      bool is_array = text.ends_with("[]");
      std::string_view element = text.substr(0, text.size() - (is_array ? 2 : 0));
      try {
        name = split_qualified_name(element);
      } catch (const SqlError&) {
        name = {std::string(element)};  // several words: one of SQL's own names
      }
      return find_type_name(name, text, is_array);
    }
    case type_oid::regproc: {
      std::span<const BuiltinProcedure> found = find_procedures(split_qualified_name(text).back());
      if (found.size() == 1) return found.front().oid;
      if (found.empty()) {
        throw SqlError(sqlstate::undefined_function,
                       concat("function \"", text, "\" does not exist"));
      }
      throw SqlError(sqlstate::ambiguous_function,
                     concat("more than one function named \"", text, "\""));
    }
    case type_oid::regnamespace: {
      const CatalogView& view = view_.told_by(transaction_);
      const SchemaDescriptor* schema = view.find_schema(split_qualified_name(text).back());
      if (schema != nullptr) return schema->oid;
      throw undefined_schema(text);
    }
    case type_oid::regrole: {
      constexpr Oid owner = 10;
      if (split_qualified_name(text).back() == "postgres") return owner;
      throw SqlError(sqlstate::undefined_object, concat("role \"", text, "\" does not exist"));
    }
    default:
      throw_unsupported(concat("input of names for type ", type_info(reg_type).display_name));
  }
}

bool CatalogNames::print_relation(Oid object, ByteBuffer& out) const {
  const CatalogView& view = view_.told_by(transaction_);
  const TableDescriptor* table = view.find_table(object);
  std::string_view name;
  if (table != nullptr) {
    name = table->name;
  } else if (const IndexDescriptor* index = view.snapshot().find_index(object, &table)) {
    name = index->name;
  } else {
    return false;
  }
  const TableDescriptor* visible_table = view.find_table({}, name);
  const IndexDescriptor* visible_index = view.find_index({}, name);
  bool visible = (visible_table != nullptr && visible_table->oid == object) ||
                 (visible_index != nullptr && visible_index->oid == object);
  if (!visible) {
    append_quoted(table->schema_name, out);
    out.append('.');
  }
  append_quoted(name, out);
  return true;
}

// As in messages: "character", not "bpchar".
bool CatalogNames::print_type(Oid object, ByteBuffer& out) const {
  std::shared_ptr<const UserType> values = share_user_type(object);  // held while it is asked
  if (values == nullptr) {
    if (find_type(object) == nullptr) return false;
    out.append(format_type(object));
    return true;
  }
  const CatalogView& view = view_.told_by(transaction_);
  if (view.find_type(values->type().oid) == nullptr) return false;
  out.append(shown_type(view, object));
  return true;
}

const EnumLabels* CatalogNames::find_labels(Oid type) {
  // For each value: not even a count of holders is written.
  const auto* found = view_.told_by(transaction_).snapshot().find_unowned<TypeDescriptor>(type);
  return found != nullptr ? &found->labels : nullptr;
}

bool CatalogNames::print(Oid reg_type, Oid object, ByteBuffer& out) {
  switch (reg_type) {
    case type_oid::regclass:
      return print_relation(object, out);
    case type_oid::regtype:
      return print_type(object, out);
    case type_oid::regproc:
      if (const BuiltinProcedure* procedure = find_procedure(object)) {
        append_quoted(procedure->name, out);
        return true;
      }
      return false;
    case type_oid::regnamespace:
      if (const SchemaDescriptor* schema =
              view_.told_by(transaction_).snapshot().find_schema(object)) {
        append_quoted(schema->name, out);
        return true;
      }
      return false;
    case type_oid::regrole:
      if (object != 10) return false;
      out.append("postgres");
      return true;
    default:
      return false;
  }
}

}  // namespace pgsilo
