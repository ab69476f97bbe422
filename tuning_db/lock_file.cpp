#include "tuning_db/lock_file.h"

#include "compiler/support/text_file.h"
#include "tuning_db/json_fields.h"

namespace rondo::db {
using nlohmann::ordered_json;
namespace {

constexpr const char* kLockFormat = "rondo-lock";
constexpr int kLockVersion = 1;

PinnedChoice choice_from_json(const JsonNode& node) {
  PinnedChoice choice{.problem = problem_from_json(node),
                      .cell_name = node.text("cell_name"),
                      .strategy = node.text("strategy"),
                      .parameters = node.object("parameters"),
                      .rondo_version = node.text("rondo_version")};
  if (choice.strategy.empty()) node.member("strategy").fail("is empty");
  return choice;
}

}  // namespace

Result<std::string> to_lock_text(const std::vector<PinnedChoice>& choices) {
  ordered_json list = ordered_json::array();
  for (const PinnedChoice& choice : choices) {
    const Result<std::string> parameters =
        canonical_object(choice.parameters, "parameters of a pinned choice");
    if (!parameters.ok()) return parameters.error();
    ordered_json item = problem_to_json(choice.problem);
    item["cell_name"] = choice.cell_name;
    item["strategy"] = choice.strategy;
    item["parameters"] = ordered_json::parse(*parameters);
    item["rondo_version"] = choice.rondo_version;
    list.push_back(std::move(item));
  }
  try {
    return print_document({{"format", kLockFormat}, {"version", kLockVersion}, {"choices", std::move(list)}});
  } catch (const Failure& failure) {
    return failure.error();
  }
}

Result<PinnedChoices> PinnedChoices::parse(const std::string& text, const std::string& origin) {
  try {
    const nlohmann::json document = parse_document(text, origin, "lock file", kLockFormat, kLockVersion);
    PinnedChoices pinned;
    pinned.origin_ = origin;
    JsonNode(document, origin).each("choices", [&](const JsonNode& node) {
      PinnedChoice choice = choice_from_json(node);
      const PinnedChoice* other = pinned.find(choice.problem);
      if (other == nullptr) {
        pinned.choices_.push_back(std::move(choice));
      } else if (other->strategy != choice.strategy || other->parameters != choice.parameters) {
        node.fail("another choice is pinned for the same problem, " + describe(choice.problem));
      }
    });
    return pinned;
  } catch (const Failure& failure) {
    return failure.error();
  }
}

Result<PinnedChoices> PinnedChoices::load(const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text.ok()) return text.error();
  return parse(*text, path);
}

const PinnedChoice* PinnedChoices::find(const Problem& problem) const {
  for (const PinnedChoice& choice : choices_)
    if (choice.problem == problem) return &choice;
  return nullptr;
}

const PinnedChoice* PinnedChoices::nearest(const Problem& problem) const {
  const PinnedChoice* found = nullptr;
  for (const PinnedChoice& choice : choices_) {
    if (!alike(choice.problem, problem)) continue;
    if (found == nullptr || distance(choice.problem, problem) < distance(found->problem, problem))
      found = &choice;
  }
  return found;
}

}  // namespace rondo::db
