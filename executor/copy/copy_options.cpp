#include "executor/copy/copy_options.h"

#include <optional>

#include "sql/ast/option_value.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

class OptionReader {
 public:
  OptionReader(const ast::CopyStmt& statement, std::string_view text)
      : statement_(statement), text_(text) {}

  CopyOptions read() {
    for (const ast::DefElem& option : statement_.options) read(option);
    settle();
    return options_;
  }

 private:
  int position(const ast::DefElem& option) const {
    if (option.location < 0) return -1;
    int characters = 1;
    for (char byte : text_.substr(0, static_cast<size_t>(option.location))) {
      if ((static_cast<unsigned char>(byte) & 0xC0) != 0x80) ++characters;
    }
    return characters;
  }

  [[noreturn]] static void refuse(std::string message) {
    throw SqlError(sqlstate::feature_not_supported, std::move(message));
  }
  [[noreturn]] static void reject(std::string message) {
    throw SqlError(sqlstate::invalid_parameter_value, std::move(message));
  }

  template <typename T>
  void once(std::optional<T>& place, const ast::DefElem& option, T value) {
    if (place.has_value()) {
      throw SqlError(sqlstate::syntax_error, "conflicting or redundant options")
          .at(position(option));
    }
    place = std::move(value);
  }

  static std::string text_of(const ast::DefElem& option) {
    const auto* constant = ast::try_as<ast::Constant>(option.argument);
    if (constant == nullptr) {
      throw SqlError(sqlstate::syntax_error, concat(option.name, " requires a parameter"));
    }
    switch (constant->constant_kind) {
      case ast::ConstantKind::integer:
        return concat(constant->integer);
      case ast::ConstantKind::boolean:
        return constant->boolean ? "true" : "false";
      default:
        return std::string(constant->text);
    }
  }

  static std::vector<std::string> names_of(const ast::DefElem& option) {
    return {option.words.begin(), option.words.end()};
  }

  void read(const ast::DefElem& option) {
    std::string_view name = option.name;
    if (name == "format") {
      std::string format = text_of(option);
      if (format == "binary") refuse("COPY in binary format is not supported");
      if (format != "csv" && format != "text") {
        throw SqlError(sqlstate::invalid_parameter_value,
                       concat("COPY format \"", format, "\" not recognized"))
            .at(position(option));
      }
      once(csv_, option, format == "csv");
    } else if (name == "freeze") {
      once(freeze_, option, ast::require_boolean_option(option));
    } else if (name == "header") {
      once(header_, option, header_of(option));
    } else if (name == "delimiter") {
      once(delimiter_, option, text_of(option));
    } else if (name == "null") {
      once(null_, option, text_of(option));
    } else if (name == "quote") {
      once(quote_, option, text_of(option));
    } else if (name == "escape") {
      once(escape_, option, text_of(option));
    } else if (name == "force_quote") {
      bool all = option.words.empty();
      once(force_quote_, option, names_of(option));
      options_.force_quote_all = all;
    } else if (name == "force_not_null") {
      once(force_not_null_, option, names_of(option));
    } else if (name == "force_null") {
      once(force_null_, option, names_of(option));
    } else if (name == "encoding") {
      once(encoding_, option, text_of(option));
    } else {
      throw SqlError(sqlstate::syntax_error, concat("option \"", name, "\" not recognized"))
          .at(position(option));
    }
  }

  CopyHeader header_of(const ast::DefElem& option) const {
    if (std::optional<bool> value = ast::boolean_option(option)) {
      return *value ? CopyHeader::present : CopyHeader::none;
    }
    if (text_of(option) == "match") {
      if (!statement_.is_from) refuse("cannot use \"match\" with HEADER in COPY TO");
      return CopyHeader::match;
    }
    throw SqlError(sqlstate::syntax_error, "header requires a Boolean value or \"match\"");
  }

  void settle() {
    options_.csv = csv_.value_or(false);
    options_.freeze = freeze_.value_or(false);
    options_.header = header_.value_or(CopyHeader::none);
    std::string delimiter = delimiter_.value_or(options_.csv ? "," : "\t");
    options_.null_text = null_.value_or(options_.csv ? "" : "\\N");
    std::string quote = quote_.value_or("\"");
    std::string escape = escape_.value_or(quote);
    if (delimiter.size() != 1) refuse("COPY delimiter must be a single one-byte character");
    if (delimiter == "\n" || delimiter == "\r")
      reject("COPY delimiter cannot be newline or carriage return");
    if (options_.null_text.find_first_of("\r\n") != std::string::npos) {
      reject("COPY null representation cannot use newline or carriage return");
    }
    constexpr std::string_view reserved = "\\.abcdefghijklmnopqrstuvwxyz0123456789";
    if (!options_.csv && reserved.find(delimiter[0]) != std::string_view::npos) {
      reject(concat("COPY delimiter cannot be \"", delimiter, "\""));
    }
    if (quote_ && !options_.csv) refuse("COPY quote available only in CSV mode");
    if (options_.csv && quote.size() != 1) refuse("COPY quote must be a single one-byte character");
    if (options_.csv && delimiter[0] == quote[0])
      reject("COPY delimiter and quote must be different");
    if (escape_ && !options_.csv) refuse("COPY escape available only in CSV mode");
    if (options_.csv && escape.size() != 1)
      refuse("COPY escape must be a single one-byte character");
    settle_forces();
    if (options_.null_text.find(delimiter) != std::string::npos) {
      refuse("COPY delimiter must not appear in the NULL specification");
    }
    if (options_.csv && options_.null_text.find(quote) != std::string::npos) {
      refuse("CSV quote character must not appear in the NULL specification");
    }
    settle_encoding();
    options_.delimiter = delimiter[0];
    options_.quote = quote[0];
    options_.escape = escape[0];
  }

  void settle_forces() {
    if (force_quote_ && !options_.csv) refuse("COPY force quote available only in CSV mode");
    if (force_quote_ && statement_.is_from) refuse("COPY force quote only available using COPY TO");
    if (force_not_null_ && !options_.csv) refuse("COPY force not null available only in CSV mode");
    if (force_not_null_ && !statement_.is_from)
      refuse("COPY force not null only available using COPY FROM");
    if (force_null_ && !options_.csv) refuse("COPY force null available only in CSV mode");
    if (force_null_ && !statement_.is_from)
      refuse("COPY force null only available using COPY FROM");
    options_.force_quote = force_quote_.value_or(std::vector<std::string>());
    options_.force_not_null = force_not_null_.value_or(std::vector<std::string>());
    options_.force_null = force_null_.value_or(std::vector<std::string>());
  }

  void settle_encoding() const {
    if (!encoding_) return;
    std::string plain;
    for (char byte : *encoding_) {
      if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
      if (byte != '-' && byte != '_') plain.push_back(byte);
    }
    if (plain != "utf8" && plain != "unicode")
      refuse(concat("encoding \"", *encoding_, "\" is not supported"));
  }

  const ast::CopyStmt& statement_;
  std::string_view text_;
  CopyOptions options_;
  std::optional<bool> csv_;
  std::optional<bool> freeze_;
  std::optional<CopyHeader> header_;
  std::optional<std::string> delimiter_;
  std::optional<std::string> null_;
  std::optional<std::string> quote_;
  std::optional<std::string> escape_;
  std::optional<std::string> encoding_;
  std::optional<std::vector<std::string>> force_quote_;
  std::optional<std::vector<std::string>> force_not_null_;
  std::optional<std::vector<std::string>> force_null_;
};

}  // namespace

CopyOptions CopyOptions::parse(const ast::CopyStmt& statement, std::string_view text) {
  return OptionReader(statement, text).read();
}

}  // namespace pgsilo
