#include "tests/isolation/spec.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace pgsilo::isolation {
namespace {

struct Token {
  enum class Kind { word, block, end } kind = Kind::end;
  std::string text;  // of a block: what stands between the braces, without blanks around it
};

std::string trimmed(const std::string& text) {
  size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\n") + 1 - first);
}

class Tokens {
 public:
  explicit Tokens(const std::string& path) : path_(path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error(path + ": cannot be read");
    std::ostringstream text;
    text << file.rdbuf();
    text_ = text.str();
    advance();
  }

  const Token& next() const { return next_; }
  Token take() {
    Token token = next_;
    advance();
    return token;
  }
  std::string block() {
    if (next_.kind != Token::Kind::block) fail("a block { ... } is missing");
    return take().text;
  }
  std::string name() {
    if (next_.kind != Token::Kind::word) fail("a name is missing");
    return take().text;
  }
  [[noreturn]] void fail(const std::string& what) const {
    auto line = std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(begin_), '\n');
    throw std::runtime_error(path_ + ":" + std::to_string(line + 1) + ": " + what);
  }

 private:
  void advance() {
    for (;; ++at_) {
      if (at_ < text_.size() && text_[at_] == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      if (at_ >= text_.size() || std::isspace(static_cast<unsigned char>(text_[at_])) == 0) break;
    }
    begin_ = at_;
    if (at_ >= text_.size()) {
      next_ = {};
    } else if (text_[at_] == '{') {
      size_t close = text_.find('}', at_);
      if (close == std::string::npos) fail("the block does not end");
      next_ = {Token::Kind::block, trimmed(text_.substr(at_ + 1, close - at_ - 1))};
      at_ = close + 1;
    } else {
      at_ = std::min(text_.find_first_of(" \t\n{#", at_), text_.size());
      next_ = {Token::Kind::word, text_.substr(begin_, at_ - begin_)};
    }
  }

  const std::string path_;
  std::string text_;
  size_t at_ = 0;
  size_t begin_ = 0;
  Token next_;
};

class Parser {
 public:
  explicit Parser(const std::string& path) : tokens_(path) {
    spec_.path = path;
    spec_.name = std::filesystem::path(path).stem();
  }

  Spec parse() {
    while (tokens_.next().kind != Token::Kind::end) declaration(tokens_.name());
    if (spec_.levels.empty()) spec_.levels = {read_committed, repeatable_read, serializable};
    if (spec_.state.empty()) tokens_.fail("state { ... } is missing");
    if (spec_.permutations.empty()) {
      std::vector<size_t> done(spec_.sessions.size());
      add_interleavings(done, {});
    }
    return std::move(spec_);
  }

 private:
  void declaration(const std::string& keyword) {
    bool in_session = !spec_.sessions.empty();
    if (keyword == "setup") {
      (in_session ? spec_.sessions.back().setup : spec_.setup) += tokens_.block();
    } else if (keyword == "teardown") {
      (in_session ? spec_.sessions.back().teardown : spec_.teardown) += tokens_.block();
    } else if (keyword == "state") {
      spec_.state = tokens_.block();
    } else if (keyword == "anomaly") {
      spec_.anomalies = levels();
    } else if (keyword == "level") {
      spec_.levels = levels();
    } else if (keyword == "session") {
      spec_.sessions.push_back({tokens_.name(), "", "", {}});
    } else if (keyword == "step" && in_session) {
      std::string name = tokens_.name();
      spec_.sessions.back().steps.push_back(spec_.steps.size());
      spec_.steps.push_back({name, tokens_.block(), spec_.sessions.size() - 1});
    } else if (keyword == "permutation") {
      permutation();
    } else {
      tokens_.fail("'" + keyword + "' begins nothing");
    }
  }

  std::set<std::string> levels() {
    std::set<std::string> found;
    std::istringstream names(tokens_.block());
    for (std::string name; std::getline(names, name, ',');) {
      name = trimmed(name);
      if (name != read_committed && name != repeatable_read && name != serializable)
        tokens_.fail("'" + name + "' is no isolation level");
      found.insert(name);
    }
    return found;
  }

  // Names up to the next keyword; each of them is a step.
  void permutation() {
    Permutation permutation;
    while (tokens_.next().kind == Token::Kind::word && tokens_.next().text != "permutation") {
      std::string name = tokens_.name();
      auto step = std::find_if(spec_.steps.begin(), spec_.steps.end(),
                               [&](const Step& each) { return each.name == name; });
      if (step == spec_.steps.end()) tokens_.fail("there is no step '" + name + "'");
      permutation.push_back(static_cast<size_t>(step - spec_.steps.begin()));
    }
    spec_.permutations.push_back(std::move(permutation));
  }

  void add_interleavings(std::vector<size_t>& done, Permutation begun) {
    if (begun.size() == spec_.steps.size()) {
      spec_.permutations.push_back(std::move(begun));
      return;
    }
    for (size_t i = 0; i < spec_.sessions.size(); ++i) {
      const std::vector<size_t>& steps = spec_.sessions[i].steps;
      if (done[i] == steps.size()) continue;
      begun.push_back(steps[done[i]++]);
      add_interleavings(done, begun);
      begun.pop_back();
      --done[i];
    }
  }

  Tokens tokens_;
  Spec spec_;
};

}  // namespace

std::string Spec::text(const Permutation& permutation) const {
  std::string text;
  for (size_t step : permutation) text += (text.empty() ? "" : " ") + steps[step].name;
  return text;
}

bool Spec::one_session_after_another(const Permutation& permutation) const {
  size_t changes = 0;
  for (size_t i = 1; i < permutation.size(); ++i)
    changes += steps[permutation[i]].session != steps[permutation[i - 1]].session ? 1 : 0;
  return changes + 1 == sessions.size();
}

Spec read_spec(const std::string& path) { return Parser(path).parse(); }

}  // namespace pgsilo::isolation
