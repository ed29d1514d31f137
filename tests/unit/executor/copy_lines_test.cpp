#include <gtest/gtest.h>

#include <string>

#include "executor/copy/copy_fields.h"
#include "executor/copy/copy_lines.h"
#include "executor/execution_context.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

class Pieces final : public CopySource {
 public:
  Pieces(std::string text, size_t size) : text_(std::move(text)), size_(size) {}
  void begin(uint32_t) override {}
  bool read(std::string_view* piece) override {
    if (at_ >= text_.size()) return false;
    piece_ = text_.substr(at_, size_);
    at_ += piece_.size();
    *piece = piece_;
    return true;
  }
  bool exhausted() const { return at_ >= text_.size(); }

 private:
  std::string text_;
  std::string piece_;
  size_t size_;
  size_t at_ = 0;
};

// All lines, each in brackets, or the error's message.
std::string cut(const std::string& text, const CopyOptions& options, size_t piece_bytes) {
  Pieces pieces(text, piece_bytes);
  CopyLines lines(pieces, options);
  std::string all;
  try {
    std::string_view line;
    while (lines.next(&line)) all += std::to_string(lines.number()) + "[" + std::string(line) + "]";
  } catch (const SqlError& error) {
    return all + error.what();
  }
  EXPECT_TRUE(pieces.exhausted());
  return all;
}

// The same for every way of cutting the stream into pieces.
std::string cut_all_ways(const std::string& text, const CopyOptions& options = {}) {
  std::string whole = cut(text, options, text.size() + 1);
  for (size_t size = 1; size <= text.size(); ++size)
    EXPECT_EQ(cut(text, options, size), whole) << size;
  return whole;
}

CopyOptions csv() {
  CopyOptions options;
  options.csv = true;
  options.delimiter = ',';
  options.null_text = "";
  return options;
}

TEST(CopyLines, EndAtNewlines) {
  EXPECT_EQ(cut_all_ways("a\tb\nc\n\nlast"), "1[a\tb]2[c]3[]4[last]");
  EXPECT_EQ(cut_all_ways(""), "");
  EXPECT_EQ(cut_all_ways("\n"), "1[]");
}

TEST(CopyLines, KeepEscapedNewlines) {
  EXPECT_EQ(cut_all_ways("a\\\nb\nc\n"), "1[a\\\nb]2[c]");
  EXPECT_EQ(cut_all_ways("a\\\\\nb\n"), "1[a\\\\]2[b]");
}

TEST(CopyLines, TakeTheFirstLinesEndForAll) {
  EXPECT_EQ(cut_all_ways("a\r\nb\r\n"), "1[a]2[b]");
  EXPECT_EQ(cut_all_ways("a\rb\r"), "1[a]2[b]");
  EXPECT_EQ(cut_all_ways("a\nb\rc\n"), "1[a]literal carriage return found in data");
  EXPECT_EQ(cut_all_ways("a\r\nb\n"), "1[a]literal newline found in data");
}

TEST(CopyLines, StopAtTheEndMark) {
  EXPECT_EQ(cut_all_ways("a\n\\.\nignored\n"), "1[a]");
  EXPECT_EQ(cut_all_ways("a,b\n\\.\nignored\n", csv()), "1[a,b]");
  EXPECT_EQ(cut_all_ways("a\r\n\\.\r\nignored"), "1[a]");
  EXPECT_EQ(cut_all_ways("a\r\\.\rignored"), "1[a]");
  EXPECT_EQ(cut_all_ways("\\.\n"), "");
}

// Each as PostgreSQL 15 has it.
TEST(CopyLines, KnowTheEndMarkInALine) {
  std::string corrupt = "end-of-copy marker corrupt";
  std::string mismatch = "end-of-copy marker does not match previous newline style";
  EXPECT_EQ(cut_all_ways("a\nbc\\.\nignored"), "1[a]2[bc]");
  EXPECT_EQ(cut_all_ways("a\\\\.\nb\n"), "1[a\\\\.]2[b]");
  EXPECT_EQ(cut_all_ways("a\\\n\\.\nb\n"), "1[a\\\n]");
  EXPECT_EQ(cut_all_ways("a\n\\.b\n"), "1[a]" + corrupt);
  EXPECT_EQ(cut_all_ways("a\n\\."), "1[a]" + corrupt);
  EXPECT_EQ(cut_all_ways("a\\.b"), corrupt);
  EXPECT_EQ(cut_all_ways("a\r\n\\.\rb"), "1[a]" + corrupt);
  EXPECT_EQ(cut_all_ways("a\r\n\\.\nb"), "1[a]" + mismatch);
  EXPECT_EQ(cut_all_ways("a\n\\.\r\nb"), "1[a]" + mismatch);
  EXPECT_EQ(cut_all_ways("a\rb\\.\nc\r"), "1[a]" + mismatch);
}

TEST(CopyLines, OfCsvMayBeginLikeTheEndMark) {
  EXPECT_EQ(cut_all_ways("a\n\\.b\nc\\.\n", csv()), "1[a]2[\\.b]3[c\\.]");
  EXPECT_EQ(cut_all_ways("\\.", csv()), "1[\\.]");
  EXPECT_EQ(cut_all_ways("\"\n\\.\n\"\n", csv()), "1[\"\n\\.\n\"]");
  EXPECT_EQ(cut_all_ways("a\r\n\\.\nb", csv()), "1[a]unquoted newline found in data");
  EXPECT_EQ(cut_all_ways("a\n\\.\r\nb", csv()),
            "1[a]end-of-copy marker does not match previous newline style");
}

// Which lines have no backslash is known of many at once.
TEST(CopyLines, KnowWhereNoBackslashIs) {
  std::string text = "one\ntwo\nth\\tree\nfour\n\\five\nsix\\\\\nseven\neight\n";
  for (size_t size = 1; size <= text.size(); ++size) {
    Pieces pieces(text, size);
    CopyLines lines(pieces, CopyOptions());
    int plain = 0;
    for (std::string_view line; lines.next(&line);) {
      EXPECT_FALSE(lines.is_plain() && line.find('\\') != line.npos) << line;
      plain += lines.is_plain();
    }
    // Of one piece all that are but the first, which tells how lines end.
    EXPECT_TRUE(size < text.size() || plain == 4) << plain;
  }
}

TEST(CopyLines, HoldLineEndsInsideQuotes) {
  EXPECT_EQ(cut_all_ways("1,\"a\nb\"\n2,c\n", csv()), "1[1,\"a\nb\"]3[2,c]");
  EXPECT_EQ(cut_all_ways("1,\"a\"\"\nb\"\n2\n", csv()), "1[1,\"a\"\"\nb\"]3[2]");
  CopyOptions escaped = csv();
  escaped.escape = '\\';
  EXPECT_EQ(cut_all_ways("\"a\\\"\nb\"\n2\n", escaped), "1[\"a\\\"\nb\"]3[2]");
}

std::string fields(std::string_view line, const CopyOptions& options = {}) {
  CopyFieldSplitter splitter(options);
  std::string all;
  try {
    for (const CopyField& field : splitter.split(line)) {
      all += field.null          ? "<null>"
             : field.quoted_null ? "<quoted>"
                                 : "[" + std::string(field.text) + "]";
    }
  } catch (const SqlError& error) {
    return error.what();
  }
  return all;
}

TEST(CopyFields, OfTextUndoEscapes) {
  EXPECT_EQ(fields("a\tb\t"), "[a][b][]");
  EXPECT_EQ(fields("\\N\t\\\\N\tx\\N"), "<null>[\\N][xN]");
  EXPECT_EQ(fields("a\\tb\\\tc\\101\\x41\\q"), "[a\tb\tcAAq]");
  EXPECT_EQ(fields("a\t\\"), "[a][]");
  EXPECT_EQ(fields("\\xc3\\xa9"), "[\xc3\xa9]");
  EXPECT_EQ(fields("\\xff"), "invalid byte sequence for encoding \"UTF8\": 0xff");
}

TEST(CopyFields, OfCsvKnowQuotes) {
  EXPECT_EQ(fields("a,,\"\",\"b,c\",d\"e\"f", csv()), "[a]<null><quoted>[b,c][def]");
  EXPECT_EQ(fields("\"a\"\"b\"", csv()), "[a\"b]");
  EXPECT_EQ(fields("\"a", csv()), "unterminated CSV quoted field");
}

}  // namespace
}  // namespace pgsilo
