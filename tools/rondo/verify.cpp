// `rondo verify`: a kernel against the reference.
#include "engine/check/verify_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/schedule/strategies.h"
#include "engine/request/problem_text.h"
#include "engine/trust/trusted_plan.h"
#include "tools/rondo/arrays.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/saving.h"
#include "tools/rondo/session.h"

namespace rondo::tools {
namespace {

using LoadedPlans = std::vector<std::unique_ptr<runtime::LoadedPlan>>;

// In the simulator: what is chosen is what is emitted.
Result<VerifiedPass> simulate_pass(const schedule::Task& task, const engine::Overrides& overrides,
                                   std::uint64_t seed, bool arbitrary_states, const engine::Given& given,
                                   Session& session) {
  Result<engine::Choice> choice = engine::choose_with(task, overrides, {session.sources()});
  if (!choice) return choice.error();
  Result<schedule::KernelPlan> plan = engine::build_choice(task, *choice);
  if (!plan) return plan.error();
  const Result<executable::Executable> lowered = schedule::lower_plan(task, *plan);
  if (!lowered) return lowered.error();
  const auto cases = engine::cases_for(
      task, engine::coverage_of(*lowered, schedule::turn_of(choice->strategy, choice->parameters)),
      engine::simulator_budget(), arbitrary_states);
  auto simulated = engine::verify_simulated(task, *plan, cases, seed, given);
  if (!simulated) return simulated.error();
  return VerifiedPass{task.problem, *choice, std::move(simulated).value()};
}

Result<VerifiedPass> verify_pass(const Options& options, const step::Cell& cell, schedule::Pass pass,
                                 const engine::Overrides& overrides, std::uint64_t seed,
                                 const engine::Given& given, Session& session, LoadedPlans& plans) {
  Result<schedule::Problem> problem = problem_of(options, cell, pass);
  if (!problem) return problem.error();
  const schedule::Task task(cell, *problem, session.machine.profile);
  if (options.simulate) return simulate_pass(task, overrides, seed, options.arbitrary_states, given, session);
  auto verified = engine::verified_plan(task, session.machine, overrides, seed,
                                        request_of(options, session, cell, *problem, overrides, given).trust);
  if (!verified) return verified.error();
  plans.push_back(std::move(verified->ready.plan));
  return VerifiedPass{*problem, verified->ready.choice, {std::move(verified->verification), {}}};
}

// With --save every=K: the options of a part, of all of whose passes there are plans.
Result<Options> options_of_part(const Options& options, const step::Cell& cell, std::int64_t every) {
  const Result<schedule::Problem> whole = problem_of(options, cell, schedule::Pass::Backward);
  if (!whole) return whole.error();
  const char* why = options.simulate ? "--simulate runs single passes" : nullptr;
  step::Sizes sizes = whole->sizes;
  if (sizes.time <= every) why = "that is no more than one part";
  if (why != nullptr)
    return Error{ErrorKind::Input, fmt::format("--save every={} at T={}: {}", every, sizes.time, why),
                 "leave out one of them, or take shorter parts"};
  if (Status status = engine::check_parts_of_time(cell); !status) return status.error();
  sizes.time = every;
  Options part = options;
  part.shape = engine::shape_text(sizes);
  part.pass = "fw,fws,bw";
  return part;
}

// The training step of plans that were verified.
Result<VerifiedPass> verify_step(const Options& options, const step::Cell& cell, std::int64_t every,
                                 std::uint64_t seed, const engine::Given& given, const Session& session,
                                 const LoadedPlans& plans, const engine::Choice& choice) {
  Result<schedule::Problem> problem = problem_of(options, cell, schedule::Pass::Backward);
  if (!problem) return problem.error();
  auto found = engine::verify_parts({cell, *problem, session.machine.profile},
                                    {plans.at(0).get(), plans.at(1).get(), plans.at(2).get()}, every,
                                    *session.machine.device, seed, given);
  if (!found) return found.error();
  return VerifiedPass{*problem, choice, {std::move(found).value(), {}}, every};
}

engine::Said said(const VerifiedPass& pass) {
  return pass.result.faults.empty() ? pass.result.verification.said() : engine::Said::Wrong;
}

const char* verdict_of(const VerifiedPass& pass) {
  const engine::Said verdict = said(pass);
  return verdict == engine::Said::Agrees  ? "correct"
         : verdict == engine::Said::Wrong ? "WRONG"
                                          : "cannot tell";
}

// One line, and what is wrong; all of it where people ask for it.
std::string verified_text(const VerifiedPass& pass, bool verbose) {
  const engine::Verification& found = pass.result.verification;
  const std::string title = pass.every > 0 ? fmt::format("both passes in parts of {} steps", pass.every)
                                           : schedule::pass_title(pass.problem);
  std::string text = fmt::format("{} {} {}: {}, {}, {}\n", title, kernel::storage_name(pass.problem.storage),
                                 verdict_of(pass), pass.choice.strategy, found.counts(), found.extent());
  if (verbose) text += fmt::format("  parameters: {}\n", schedule::print(pass.choice.parameters));
  for (const engine::TensorCheck& check : found.checks)
    if (verbose || check.said() == engine::Said::Wrong) text += fmt::format("  {}\n", check.text());
  if (verbose)
    for (const std::string& covered : found.covered) text += fmt::format("  covered: {}\n", covered);
  for (const std::string& fault : pass.result.faults) text += fmt::format("  fault: {}\n", fault);
  return text;
}

// What the command ends with.
Status ending(bool as_json, const step::Cell& cell, const std::vector<VerifiedPass>& results,
              std::uint64_t seed) {
  const auto any = [&](engine::Said what) {
    return std::ranges::any_of(results, [&](const VerifiedPass& pass) { return said(pass) == what; });
  };
  const bool wrong = any(engine::Said::Wrong);
  if (!wrong && !any(engine::Said::CannotTell)) return success();
  if (as_json) return already_shown(wrong ? ErrorKind::Wrong : ErrorKind::Input);
  if (!wrong)
    return Error{
        ErrorKind::Input,
        fmt::format("cell {} is so ill-conditioned on these data that a right result cannot be told from "
                    "a wrong one (seed {})",
                    cell.name, seed),
        fmt::format("other rounding changes its results as much as a fault would: {}; bounds of the "
                    "recurrence (--clip-forward) or another --seed may do too",
                    engine::kOtherData)};
  return Error{ErrorKind::Wrong,
               fmt::format("results of cell {} differ from the reference (seed {})", cell.name, seed),
               "please report it with the command line and the cell file"};
}

}  // namespace

Status verify(const Options& asked) {
  const Result<LoadedCell> loaded = load_cell(asked);
  if (!loaded) return loaded.error();
  if (const auto every = engine::parse_every(asked.save); !every) return every.error();
  if (const auto memory = memory_of(asked); !memory) return memory.error();
  const Result<OwnData> own = own_data(in_one_piece(asked), loaded->cell);
  if (!own) return own.error();
  const Result<engine::Overrides> overrides = overrides_of(asked);
  if (!overrides) return overrides.error();
  Options machine_options = own->options;
  machine_options.no_gpu = asked.no_gpu || asked.simulate;
  Result<Session> session = open_session(machine_options, Use::Optional);
  if (!session) return session.error();
  Options whole = own->options;
  whole.save = asked.save;
  const Result<Options> chosen = with_chosen_save(std::move(whole), loaded->cell, *overrides, *session);
  if (!chosen) return chosen.error();
  const Result<std::int64_t> every = engine::parse_every(chosen->save);
  if (!every) return every.error();
  const Result<Options> of_part = *every > 0 ? options_of_part(own->options, loaded->cell, *every) : chosen;
  if (!of_part) return of_part.error();
  const Options& options = *of_part;
  const auto passes = engine::parse_passes(options.pass);
  if (!passes) return passes.error();
  if (!options.simulate)
    if (Status status = session->machine.need_device(); !status)
      return Error{status.error().kind, status.error().message, "--simulate verifies on the CPU"};
  const std::uint64_t seed = options.seed != 0 ? options.seed : std::random_device{}();
  std::vector<VerifiedPass> results;
  const std::string where = options.simulate ? "simulator" : session->machine.profile.name;
  const auto as_json = [&] { return verify_json(loaded->cell, where, session->machine.profile, results); };
  const auto add = [&](Result<VerifiedPass> result) -> Status {
    if (!result) return after_results(results.empty() ? "" : as_json(), result.error(), options.json);
    results.push_back(std::move(result).value());
    if (!options.json) print(fmt::format("{}, {}", where, verified_text(results.back(), options.verbose)));
    return success();
  };
  LoadedPlans plans;
  for (const schedule::Pass pass : *passes)
    if (Status status =
            add(verify_pass(options, loaded->cell, pass, *overrides, seed, own->given, *session, plans));
        !status)
      return status;
  if (*every > 0)
    if (Status status = add(verify_step(own->options, loaded->cell, *every, seed, own->given, *session, plans,
                                        results.back().choice));
        !status)
      return status;
  if (options.json) print(as_json());
  return ending(options.json, loaded->cell, results, seed);
}

}  // namespace rondo::tools
