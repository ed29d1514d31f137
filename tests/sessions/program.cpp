#include "tests/sessions/program.h"

#include "tests/protocol/wire_messages.h"
#include "tests/sessions/sql_author.h"

namespace pgsilo::sessions {
namespace {

namespace wire = protocol_test;

class ProgramAuthor {
 public:
  ProgramAuthor(Random& random, const Vocabulary& vocabulary, World& world, size_t sessions)
      : random_(random),
        vocabulary_(vocabulary),
        sql_(random, vocabulary, world),
        sessions_(sessions) {}

  Batch batch();
  std::vector<std::pair<std::string, std::string>> startup();
  std::vector<std::string> preparation();

 private:
  bool chance(uint64_t percent) { return random_.below(100) < percent; }
  Batch simple();
  Batch copy();
  Batch extended();
  Batch disturbance();
  Batch garbage();
  Batch function_call();
  std::string parse();
  std::string bind();
  std::string one_extended(std::string* text);
  std::string statement_name();
  std::string portal_name();
  std::string parameter_value();
  std::vector<int> formats(size_t count);
  static std::string formats_text(const std::vector<int>& formats);
  TypeOid parameter_type();

  Random& random_;
  const Vocabulary& vocabulary_;
  SqlAuthor sql_;
  const size_t sessions_;
  int parameters_ = 0;
};

std::vector<std::pair<std::string, std::string>> ProgramAuthor::startup() {
  std::vector<std::pair<std::string, std::string>> parameters = {{"user", "postgres"},
                                                                 {"database", "postgres"}};
  if (chance(20)) parameters.emplace_back("application_name", garbage_text(random_).substr(0, 60));
  if (chance(30)) {
    static constexpr const char* levels[] = {"read committed", "repeatable read", "serializable"};
    parameters.emplace_back("default_transaction_isolation", any_of(random_, levels));
  }
  for (auto& [name, value] : parameters) std::erase(value, '\0');
  return parameters;
}

std::vector<std::string> ProgramAuthor::preparation() {
  sql_.be_calm();
  std::vector<std::string> statements;
  for (int i = 0; i < 6; ++i) statements.push_back(sql_.create_table());
  for (int i = 0; i < 20; ++i) statements.push_back(sql_.insert());
  return statements;
}

std::string ProgramAuthor::statement_name() {
  static constexpr const char* names[] = {"", "", "", "a", "b", "p1", "nosuch"};
  return any_of(random_, names);
}

std::string ProgramAuthor::portal_name() {
  static constexpr const char* names[] = {"", "", "", "", "x", "y", "c1", "nosuch"};
  return any_of(random_, names);
}

TypeOid ProgramAuthor::parameter_type() {
  switch (random_.below(6)) {
    case 0:
      return 0;
    case 1:
      return any_of(random_, vocabulary_.types);
    case 2:
      return static_cast<TypeOid>(16 + random_.below(6000));
    case 3:
      return chance(20) ? static_cast<TypeOid>(random_.next()) : column_type(random_);
    default:
      return column_type(random_);
  }
}

std::string ProgramAuthor::parse() {
  parameters_ = chance(60) ? 1 + static_cast<int>(random_.below(4)) : 0;
  std::vector<uint32_t> types;
  for (int i = 0; i < parameters_; ++i) {
    if (chance(70)) types.push_back(parameter_type());
  }
  if (chance(2)) types.resize(random_.below(300), 23);
  std::string text = sql_.statement(parameters_);
  std::erase(text, '\0');
  return wire::parse(statement_name(), text, types);
}

std::vector<int> ProgramAuthor::formats(size_t count) {
  switch (random_.below(6)) {
    case 0:
      return {};
    case 1:
      return {1};
    case 2:
      return {0};
    case 3:
      return {static_cast<int>(random_.below(70000)) - 3};
    case 4:
      return std::vector<int>(random_.below(6), 1);
    default: {
      std::vector<int> each(count);
      for (int& format : each) format = static_cast<int>(random_.below(2));
      return each;
    }
  }
}

std::string ProgramAuthor::formats_text(const std::vector<int>& formats) {
  std::string text = wire::int16(static_cast<int>(formats.size()));
  for (int each : formats) text += wire::int16(each);
  return text;
}

std::string ProgramAuthor::parameter_value() {
  std::string bytes;
  switch (random_.below(8)) {
    case 0:
      return wire::int32(-1);
    case 1:
      bytes = wire::int32(static_cast<int64_t>(random_.below(50)));
      break;
    case 2:
      for (uint64_t i = random_.below(40); i > 0; --i) bytes += static_cast<char>(random_.next());
      break;
    case 3:  // an array, or what looks like one
      for (uint64_t i = 2 + random_.below(8); i > 0; --i)
        bytes += wire::int32(static_cast<int64_t>(random_.below(3) * (chance(80) ? 1 : 12345678)));
      break;
    case 4:
      bytes = std::string(random_.below(3) * 4, static_cast<char>(random_.next()));
      break;
    default:
      bytes = value_text(random_, column_type(random_));
  }
  return wire::int32(static_cast<int64_t>(bytes.size())) + bytes;
}

std::string ProgramAuthor::bind() {
  size_t count = static_cast<size_t>(parameters_);
  if (chance(6)) count = random_.below(6);
  std::string body = wire::cstring(portal_name()) + wire::cstring(statement_name()) +
                     formats_text(formats(count)) + wire::int16(static_cast<int>(count));
  for (size_t i = 0; i < count; ++i) body += parameter_value();
  body += formats_text(formats(random_.below(4)));
  if (chance(3)) body.resize(random_.below(body.size() + 1));
  if (chance(2)) body += garbage_text(random_);
  return wire::message('B', body);
}

std::string ProgramAuthor::one_extended(std::string* text) {
  switch (random_.below(12)) {
    case 0:
    case 1:
    case 2: {
      std::string message = parse();
      if (chance(1))
        message = wire::message('P', message.substr(5, random_.below(message.size() - 5)));
      *text += " Parse(" + message.substr(5) + ")";
      return message;
    }
    case 3:
    case 4:
    case 5:
      *text += " Bind";
      return bind();
    case 6: {
      *text += " Describe";
      bool is_portal = chance(50);
      return wire::describe(chance(97) ? (is_portal ? 'P' : 'S') : 'Q',
                            is_portal ? portal_name() : statement_name());
    }
    case 7:
    case 8:
    case 9: {
      *text += " Execute";
      static constexpr int limits[] = {0, 0, 0, 1, 2, 1000, -1, 2147483647};
      return wire::execute(portal_name(), any_of(random_, limits));
    }
    case 10:
      *text += " Close";
      return wire::close_message(chance(50)   ? 'P'
                                 : chance(97) ? 'S'
                                              : 'x',
                                 chance(50) ? portal_name() : statement_name());
    default:
      *text += " Flush";
      return wire::flush();
  }
}

// A whole cycle, or messages as they come.
Batch ProgramAuthor::extended() {
  Batch made;
  made.text = "extended:";
  if (chance(70)) {
    for (uint64_t cycles = 1 + (chance(20) ? random_.below(6) : 0); cycles > 0; --cycles) {
      std::string text = sql_.statement(parameters_ = static_cast<int>(random_.below(4)));
      std::erase(text, '\0');
      made.text += " " + text;
      std::vector<uint32_t> types;
      for (int i = 0; i < parameters_; ++i) types.push_back(parameter_type());
      std::string body = wire::cstring("") + wire::cstring("") +
                         formats_text(formats(types.size())) + wire::int16(parameters_);
      made.text += " types";
      for (int i = 0; i < parameters_; ++i) {
        made.text += " " + std::to_string(types[static_cast<size_t>(i)]);
        std::string value = chance(50) ? (chance(70) ? plain_text : value_text)(
                                             random_, types[static_cast<size_t>(i)])
                                       : "";
        body += value.empty() ? parameter_value()
                              : wire::int32(static_cast<int64_t>(value.size())) + value;
      }
      body += formats_text({static_cast<int>(random_.below(2))});
      made.messages.push_back(wire::parse("", text, types));
      if (chance(30)) made.messages.push_back(wire::describe('S', ""));
      made.messages.push_back(wire::message('B', body));
      if (chance(60)) made.messages.push_back(wire::describe('P', ""));
      int limit = chance(80) ? 0 : 1;
      made.messages.push_back(wire::execute("", limit));
      if (limit == 1) made.messages.push_back(wire::execute("", 0));
      if (chance(10)) made.messages.push_back(wire::sync());
    }
  } else {
    for (uint64_t i = 1 + random_.below(12); i > 0; --i)
      made.messages.push_back(one_extended(&made.text));
  }
  if (chance(4)) {
    made.waits = false;  // its Sync comes with a later batch, if ever
  } else {
    made.messages.push_back(wire::sync());
  }
  return made;
}

Batch ProgramAuthor::simple() {
  Batch made;
  made.text = sql_.statement();
  while (chance(12))
    made.text += "; " + (chance(40) ? sql_.transaction_command() : sql_.statement());
  std::erase(made.text, '\0');
  if (chance(1)) made.text.insert(random_.below(made.text.size() + 1), "\xff\xc0");
  made.messages.push_back(wire::query(made.text));
  if (chance(1)) made.messages.back() = wire::message('Q', made.text);  // without its end
  made.waits = chance(94);
  return made;
}

Batch ProgramAuthor::copy() {
  Batch made;
  made.text = sql_.copy_in();
  std::erase(made.text, '\0');
  bool is_simple = chance(60);
  if (is_simple) {
    made.messages.push_back(wire::query(made.text));
  } else {
    made.messages = {wire::parse("", made.text), wire::bind("", ""), wire::execute("", 0)};
  }
  for (uint64_t i = random_.below(4); i > 0; --i)
    made.messages.push_back(wire::copy_data(sql_.copy_lines()));
  switch (random_.below(12)) {
    case 0:
      made.messages.push_back(wire::message('f', wire::cstring("enough")));
      break;
    case 1:
      made.messages.push_back(wire::query("select 1"));
      break;
    case 2:
      made.messages.push_back(wire::message('f', "no end"));
      break;
    case 3:
      made.messages.push_back(wire::sync());
      made.messages.push_back(wire::flush());
      made.messages.push_back(wire::copy_done());
      break;
    default:
      made.messages.push_back(wire::copy_done());
  }
  if (!is_simple || chance(10)) made.messages.push_back(wire::sync());
  return made;
}

Batch ProgramAuthor::function_call() {
  Batch made;
  std::string body = wire::int32(chance(50) ? 1299 : static_cast<int64_t>(random_.below(6000))) +
                     formats_text(formats(2));
  size_t count = random_.below(4);
  body += wire::int16(static_cast<int>(count));
  for (size_t i = 0; i < count; ++i) body += parameter_value();
  body += wire::int16(static_cast<int>(random_.below(3)));
  made.messages.push_back(wire::message('F', body));
  made.text = "FunctionCall";
  return made;
}

Batch ProgramAuthor::garbage() {
  Batch made = chance(50) ? simple() : extended();
  made.kind = Batch::Kind::garbage;
  std::string bytes;
  switch (random_.below(4)) {
    case 0:
      for (uint64_t i = 1 + random_.below(60); i > 0; --i)
        bytes += static_cast<char>(random_.next());
      break;
    case 1:
      bytes = std::string(1, any_of(random_, "QPBEDSXdcfF")) +
              wire::int32(static_cast<int64_t>(random_.below(5)) - 1);
      break;
    case 2:
      bytes = std::string(1, any_of(random_, "QPBEDSXdcfF")) + wire::int32(1 << 30) +
              garbage_text(random_);
      break;
    default:
      bytes = std::string(1, static_cast<char>(random_.next())) + wire::int32(4);
  }
  made.waits = true;  // for the end: it may have begun a message that swallows what is sent next
  made.text += " garbage";
  made.messages.push_back(bytes);
  return made;
}

Batch ProgramAuthor::disturbance() {
  Batch made;
  switch (random_.below(4)) {
    case 0:
      made = chance(50) ? simple() : chance(50) ? copy() : extended();
      made.kind = Batch::Kind::disconnect;
      made.target = random_.below(400);
      return made;
    case 1:
      return garbage();
    case 2:
      made.kind = Batch::Kind::terminate;
      break;
    default:
      made.kind = Batch::Kind::cancel;
  }
  made.target = random_.below(sessions_);
  made.text = made.kind == Batch::Kind::cancel ? "cancel" : "terminate";
  return made;
}

Batch ProgramAuthor::batch() {
  uint64_t kind = random_.below(1000);
  if (kind < 20) return disturbance();
  if (kind < 60) return copy();
  if (kind < 70) return function_call();
  return kind < 560 ? simple() : extended();
}

}  // namespace

Round write_round(uint64_t seed, uint64_t number, const Vocabulary& vocabulary, RoundSize size) {
  Random random(seed * 1000003 + number);
  World world;
  Round round;
  ProgramAuthor author(random, vocabulary, world, size.sessions);
  round.preparation = author.preparation();
  round.programs.resize(size.sessions);
  for (Program& each : round.programs) each.startup = author.startup();
  // In turns, as they will be run: what one session makes the others use soon after.
  for (size_t i = 0; i < size.batches; ++i) {
    for (Program& each : round.programs) each.batches.push_back(author.batch());
  }
  return round;
}

}  // namespace pgsilo::sessions
