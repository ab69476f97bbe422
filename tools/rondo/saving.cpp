#include "tools/rondo/saving.h"

#include <fmt/format.h>

#include "engine/request/problem_text.h"
#include "tools/rondo/report.h"

namespace rondo::tools {

Result<std::int64_t> memory_of(const Options& options) {
  if (options.memory.empty()) return 0;
  const Result<std::int64_t> bytes = engine::parse_memory(options.memory);
  if (!bytes || options.save == "auto") return bytes;
  return Error{
      ErrorKind::Input,
      fmt::format("--memory {} decides what is saved, and --save {} says it", options.memory, options.save),
      "leave out one of them, or take --save auto"};
}

std::string way_text(const engine::SavingWay& way) {
  return fmt::format("{}: {} saved, {} of workspace", way.text(), size_text(way.memory.saved_bytes),
                     size_text(way.memory.workspace_bytes));
}

namespace {

// As --save takes it.
struct Chosen {
  std::string save = "states", text = "states";
};

Result<Chosen> chosen_save(const Options& options, engine::Request request, const engine::Machine& machine) {
  const Result<std::int64_t> memory = memory_of(options);
  if (!memory) return memory.error();
  request.outline = true;
  request.trust.note = nullptr;  // the plans tell it
  if (*memory == 0) {
    const auto training = engine::answer_training(request, machine, engine::Save::Faster);
    if (!training) return training.error();
    const char* save = training->save == engine::Save::Products ? "products" : "states";
    return Chosen{save, save};
  }
  const Result<engine::FittingWays> ways = engine::ways_within(request, machine, *memory);
  if (!ways) return ways.error();
  if (ways->best() == nullptr) return Chosen();
  return Chosen{ways->best()->text(), way_text(*ways->best())};
}

}  // namespace

Options in_one_piece(Options options) {
  if (options.save == "auto" || options.save.starts_with("every=")) options.save = "states";
  return options;
}

Result<Options> with_chosen_save(Options options, const step::Cell& cell, const engine::Overrides& overrides,
                                 Session& session) {
  if (options.save != "auto") return options;
  const Options plain = in_one_piece(options);
  const Result<schedule::Problem> problem = problem_of(plain, cell, schedule::Pass::Backward);
  if (!problem) return problem.error();
  const Result<Chosen> chosen =
      chosen_save(options, request_of(plain, session, cell, *problem, overrides), session.machine);
  if (!chosen) return chosen.error();
  note(fmt::format("--save auto takes {}", chosen->text));
  options.save = chosen->save;
  return options;
}

}  // namespace rondo::tools
