// `rondo emit`: any stage on the way from cell to CUDA.
#include "engine/commands/emit_stages.h"

#include "engine/arrays/staged_files.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/session.h"

namespace rondo::tools {
namespace {

Result<engine::EmitRequest> emit_request(const Options& options, const LoadedCell& loaded, Session& session) {
  const Result<schedule::Pass> pass = single_pass(options);
  if (!pass) return pass.error();
  Result<schedule::Problem> problem = problem_of(options, loaded.cell, *pass);
  if (!problem) return problem.error();
  Result<engine::Overrides> overrides = overrides_of(options);
  if (!overrides) return overrides.error();
  return engine::EmitRequest{&loaded.file,
                             {loaded.cell, std::move(problem).value(), session.machine.profile},
                             std::move(overrides).value(),
                             {session.sources()}};
}

}  // namespace

Status emit(const Options& options) {
  const Result<engine::Stage> stage = engine::parse_stage(options.stage);
  if (!stage) return stage.error();
  const Result<LoadedCell> loaded = load_cell(options);
  if (!loaded) return loaded.error();
  Result<Session> session = open_session(options, Use::Optional);
  if (!session) return session.error();
  const Result<engine::EmitRequest> request = emit_request(options, *loaded, *session);
  if (!request) return request.error();
  const Result<std::string> text = engine::emit_stage(*stage, *request);
  if (!text) return text.error();
  const std::string contents = options.json ? emit_json(loaded->cell, options.stage, *text) : *text;
  if (options.output != "-") return engine::write_output(options.output, contents);
  print(contents);
  return success();
}

}  // namespace rondo::tools
