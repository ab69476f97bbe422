#include "compiler/pipeline/passes.h"

#include <fmt/format.h>

#include "compiler/pipeline/watch.h"

namespace rondo::pipeline {

namespace {

#ifdef NDEBUG
constexpr bool kDebug = false;
#else
constexpr bool kDebug = true;
#endif

template <class Row, std::size_t n>
Result<decltype(Row::value)> parse(const Row (&table)[n], const char* kind, const std::string& text) {
  std::string known;
  for (const Row& row : table) {
    if (row.text == text) return row.value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.text);
  }
  return Error{ErrorKind::Input, fmt::format("unknown {} '{}'", kind, text), "known: " + known};
}

}  // namespace

Result<Pass> parse_pass(const std::string& text) { return parse(kPasses, "pass", text); }
Result<Stage> parse_stage(const std::string& text) { return parse(kStages, "stage", text); }

BrokenPass::BrokenPass(Pass broken, const std::string& defect)
    : std::logic_error(fmt::format("pass {}: {}", info(broken).text, defect)), pass(broken) {}

bool always_verified(Pass pass) { return kDebug || info(pass).always; }

void finish_pass(PassWatcher* watcher, Pass pass, const Made& made) {
  if (watcher != nullptr) watcher->ends(pass, made);
  const bool wanted = always_verified(pass) || (watcher != nullptr && watcher->verifies());
  if (!wanted || !made.verify) return;
  const std::vector<std::string> defects = made.verify();
  if (watcher != nullptr) watcher->verified(pass);
  if (!defects.empty()) throw BrokenPass(pass, defects.front());
}

}  // namespace rondo::pipeline
