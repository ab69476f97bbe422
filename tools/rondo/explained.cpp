#include "tools/rondo/explained.h"

#include "tools/rondo/arrays.h"
#include "tools/rondo/session.h"

namespace rondo::tools {
namespace {

constexpr int kRounds = 11;  // samples of the whole and of each part

}  // namespace

Result<Explained> explained(const Options& asked) {
  const Result<LoadedCell> loaded = load_cell(asked);
  if (!loaded) return loaded.error();
  const Result<OwnData> own = own_data(asked, loaded->cell);
  if (!own) return own.error();
  const Options& options = own->options;
  const Result<schedule::Pass> pass = single_pass(options);
  if (!pass) return pass.error();
  const Result<schedule::Problem> problem = problem_of(options, loaded->cell, *pass);
  if (!problem) return problem.error();
  const Result<engine::Overrides> overrides = overrides_of(options);
  if (!overrides) return overrides.error();
  Result<Session> session = open_session(options, Use::Optional);
  if (!session) return session.error();
  const engine::Machine& machine = session->machine;
  engine::Request request = request_of(options, *session, loaded->cell, *problem, *overrides, own->given);
  request.outline = options.by_model || !machine.device;
  const Result<engine::Answer> found = engine::answer(request, machine);
  if (!found) return found.error();
  schedule::Task task(loaded->cell, *problem, machine.profile);
  Result<tuner::Explanation> why = tuner::explain(task, machine, *found->kernel, kRounds, own->given);
  if (!why) return why.error();
  return Explained{std::move(task), std::move(why).value(), std::move(session->database)};
}

}  // namespace rondo::tools
