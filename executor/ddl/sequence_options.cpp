#include "executor/ddl/sequence_options.h"

#include "sql/types/type.h"

namespace pgsilo {

namespace {

class Reader {
 public:
  explicit Reader(DdlRun& run) : run_(run) {}

  void read(const ast::DefElem& option) {
    SequenceOptions& options = clauses_.options;
    if (option.name == "as") {
      once(option, !options.type);
      options.type = type_of(option);
    } else if (option.name == "increment") {
      once(option, !options.increment);
      options.increment = number(option);
    } else if (option.name == "start") {
      once(option, !options.start);
      options.start = number(option);
    } else if (option.name == "cache") {
      once(option, !options.cache);
      options.cache = number(option);
    } else if (option.name == "cycle") {
      once(option, !options.cycles);
      options.cycles = ast::as<ast::Constant>(option.argument)->boolean;
    } else if (option.name == "maxvalue") {
      read(option, options.max_value);
    } else if (option.name == "minvalue") {
      read(option, options.min_value);
    } else if (option.name == "restart") {
      read(option, options.restart);
    } else if (option.name == "owned_by") {
      once(option, !clauses_.owner.given);
      clauses_.owner.given = true;
      read_owner(option.words);
    } else if (option.name == "generated") {
      once(option, clauses_.identity == IdentityKind::none);
      clauses_.identity = static_cast<IdentityKind>(number(option));
    } else {
      // SEQUENCE NAME; its schema can only be the table's.
      once(option, clauses_.name.empty());
      clauses_.name = option.words.back();
    }
  }

  const SequenceClauses& clauses() const { return clauses_; }

 private:
  void once(const ast::DefElem& option, bool is_first) {
    if (is_first) return;
    throw SqlError(sqlstate::syntax_error, "conflicting or redundant options")
        .at(run_.binding().position(option.location));
  }

  void read(const ast::DefElem& option, SequenceOptions::Optional& to) {
    once(option, !to.given);
    to.given = true;
    if (option.argument != nullptr) to.value = number(option);
  }

  // A number too large for int4 comes as decimal text, whole or not.
  int64_t number(const ast::DefElem& option) {
    const auto& constant = *ast::as<ast::Constant>(option.argument);
    if (constant.constant_kind == ast::ConstantKind::integer) return constant.integer;
    return type_info(type_oid::int8).parse(constant.text, no_typmod, run_.types()).i64;
  }

  static Oid type_of(const ast::DefElem& option) {
    std::string_view name = ast::as<ast::Constant>(option.argument)->text;
    if (const TypeInfo* type = find_type_by_name(name)) return type->oid;
    throw SqlError(sqlstate::undefined_object, concat("type \"", name, "\" does not exist"));
  }

  void read_owner(ast::NameList words) {
    if (words.size() == 1) {
      if (words[0] == "none") return;
      throw SqlError(sqlstate::syntax_error, "invalid OWNED BY option")
          .hint("Specify OWNED BY table.column or OWNED BY NONE.");
    }
    ast::RangeVar name;
    name.name = words[words.size() - 2];
    if (words.size() > 2) name.schema_name = words[words.size() - 3];
    const TableDescriptor& table = *run_.find_relation(name);
    if (table.kind != RelationKind::table) {
      throw SqlError(sqlstate::wrong_object_type,
                     concat("sequence cannot be owned by relation \"", table.name, "\""))
          .detail("This operation is not supported for sequences.");
    }
    const ColumnDescriptor* column = table.find_column(words.back());
    if (column == nullptr) {
      throw SqlError(
          sqlstate::undefined_column,
          concat("column \"", words.back(), "\" of relation \"", table.name, "\" does not exist"));
    }
    clauses_.owner.table = table.oid;
    clauses_.owner.column = column->number;
  }

  DdlRun& run_;
  SequenceClauses clauses_;
};

}  // namespace

SequenceClauses read_sequence_options(DdlRun& run, ast::List<ast::DefElem> options) {
  Reader reader(run);
  for (const ast::DefElem& option : options) reader.read(option);
  return reader.clauses();
}

}  // namespace pgsilo
