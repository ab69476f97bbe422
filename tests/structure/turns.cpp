#include "tests/structure/turns.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "tests/structure/functions.h"

namespace rondo::structure {
namespace {

constexpr std::array<const char*, 1> kWaits = {"waits_for_its_turn"};
constexpr std::array<const char*, 2> kTakesTurns = {"has_turn", "with_turns"};
constexpr const char* kInstantiates = "INSTANTIATE_TEST_SUITE_P";

// The first word of a test's name: "Suite" of "TEST_P(Suite, Name)". "" of what is no test.
std::string suite_of(const Body& body) {
  if (!body.name.starts_with("TEST")) return "";
  const std::size_t open = body.name.find('(');
  return open == std::string::npos ? "" : body.name.substr(open + 1, body.name.find(',') - open - 1);
}

// Instantiations of suites, as bodies that have the name of the suite.
std::vector<Body> instantiations_of(const std::vector<Token>& tokens) {
  std::vector<Body> found;
  for (auto token = tokens.begin(); token != tokens.end(); ++token) {
    if (token->text != kInstantiates || tokens.end() - token < 5) continue;
    const auto end = std::ranges::find(token, tokens.end(), ";", &Token::text);
    found.push_back({std::string(token[4].text), token->line, {token, end}});
  }
  return found;
}

class File {
 public:
  explicit File(const SourceFile& file)
      : bodies_(bodies_of(file.text)), instantiations_(instantiations_of(tokens(file.text))) {}

  // Of a test: what runs for it. It names its fixture, and so the constructor.
  std::vector<const Body*> run_by(const Body& test) const {
    std::vector<const Body*> run{&test};
    std::set<const Body*> seen{&test};
    const auto add = [&](const Body& body) {
      if (seen.insert(&body).second) run.push_back(&body);
    };
    for (const Body& body : instantiations_)
      if (body.name == suite_of(test)) add(body);
    for (const Body& body : bodies_)
      if (last_name(body.name) == "SetUp") add(body);  // of its fixture, or of one behind that
    for (std::size_t i = 0; i < run.size(); ++i)
      for (const Body& body : bodies_)
        if (run[i]->mentions(last_name(body.name))) add(body);
    return run;
  }

  const std::vector<Body>& bodies() const { return bodies_; }

 private:
  std::vector<Body> bodies_, instantiations_;
};

template <class Names>
bool any_mentions(const std::vector<const Body*>& bodies, const Names& names) {
  return std::ranges::any_of(bodies, [&](const Body* body) {
    return std::ranges::any_of(names, [&](const char* name) { return body->mentions(name); });
  });
}

}  // namespace

Findings check_turns(const std::vector<SourceFile>& files) {
  Findings findings;
  for (const SourceFile& source : files) {
    if (source.text.find(kWaits[0]) == std::string::npos) continue;
    const File file(source);
    for (const Body& body : file.bodies()) {
      if (suite_of(body).empty()) continue;
      const std::vector<const Body*> run = file.run_by(body);
      if (any_mentions(run, kWaits) && any_mentions(run, kTakesTurns))
        findings.push_back(
            {source.path, body.line, "turns",
             body.name + " waits for its turn, and its cases take turns: most would never run"});
    }
  }
  return findings;
}

}  // namespace rondo::structure
