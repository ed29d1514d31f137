// Every recorded text reads, prints, sends and is received as on PostgreSQL 15, or is refused with
// its error.
#include <gtest/gtest.h>

#include "tests/unit/sql/types/type_test_support.h"

namespace pgsilo {
namespace {

struct Forms {
  std::string text;
  std::string binary;
};

Forms forms_of(const std::string& type_name, const std::string& settings,
               const std::string& input) {
  TypeTester tester;
  tester.set(settings);
  try {
    TypeAndModifier target = tester.type(type_name);
    Datum value = tester.cast(unescape(input), target);
    std::string binary = tester.send(value, *target.type);
    return {tester.print(value, *target.type), binary};
  } catch (const SqlError& error) {
    return {error_text(error), ""};
  }
}

TEST(TextForms, ReadAndPrintAsRecorded) {
  for (const std::vector<std::string>& line : recorded_lines("text_forms.txt")) {
    ASSERT_EQ(line.size(), 5u) << line[0];
    Forms forms = forms_of(line[0], line[1], line[2]);
    EXPECT_EQ(forms.text, unescape(line[3]))
        << line[0] << " [" << line[1] << "] '" << line[2] << "'";
    EXPECT_EQ(forms.binary, line[4]) << line[0] << " '" << line[2] << "'";
  }
}

TEST(TextForms, ReceivedBinaryPrintsTheSame) {
  for (const std::vector<std::string>& line : recorded_lines("text_forms.txt")) {
    if (line[4].empty()) continue;
    TypeTester tester;
    tester.set(line[1]);
    const TypeInfo& type = *tester.type(line[0]).type;
    std::string bytes = from_hex(line[4]);
    Datum value = type.receive(bytes, no_typmod, tester.context);
    EXPECT_EQ(tester.print(value, type), unescape(line[3])) << line[0] << " " << line[4];
  }
}

// A value that was printed in ISO style reads back as the same value. (Other styles leave out what
// this needs.)
TEST(TextForms, PrintedTextReadsBack) {
  for (const std::vector<std::string>& line : recorded_lines("text_forms.txt")) {
    bool lossy = line[0] == "\"char\"" || line[0] == "xid" ||
                 line[1].find("datestyle") != std::string::npos ||
                 line[1].starts_with("extra_float_digits") ||
                 line[4].starts_with("8000000000000000");  // more hours than a text may have
    if (line[4].empty() || lossy) continue;
    TypeTester tester;
    tester.set(line[1]);
    const TypeInfo& type = *tester.type(line[0]).type;
    std::string bytes = from_hex(line[4]);
    Datum value = type.receive(bytes, no_typmod, tester.context);
    std::string printed = tester.print(value, type);
    Datum again = type.parse(printed, no_typmod, tester.context);
    EXPECT_TRUE(type.equal(value, again)) << line[0] << " [" << line[1] << "] " << printed;
  }
}

}  // namespace
}  // namespace pgsilo
