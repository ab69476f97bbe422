// `rondo emit`: any stage on the way from cell to CUDA, and the passes on that way.
#include "engine/emit/emit_stages.h"

#include <chrono>

#include "compiler/pipeline/record.h"
#include "engine/arrays/staged_files.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/session.h"

namespace rondo::tools {
namespace {

Result<engine::EmitRequest> emit_request(const Options& options, const LoadedCell& loaded, Session& session,
                                         pipeline::PassWatcher* watcher) {
  const Result<schedule::Pass> pass = single_pass(options);
  if (!pass) return pass.error();
  Result<schedule::Problem> problem = problem_of(options, loaded.cell, *pass);
  if (!problem) return problem.error();
  Result<engine::Overrides> overrides = overrides_of(options);
  if (!overrides) return overrides.error();
  return engine::EmitRequest{&loaded.file,
                             {loaded.cell, std::move(problem).value(), session.machine.profile, watcher},
                             std::move(overrides).value(),
                             {session.sources()}};
}

struct Emitted {
  step::Cell cell;
  std::string text;
};

Result<Emitted> emitted(const Options& options, pipeline::Stage stage, pipeline::PassWatcher* watcher) {
  const Result<LoadedCell> loaded = load_cell(options, watcher);
  if (!loaded) return loaded.error();
  Result<Session> session = open_session(options, Use::Optional);
  if (!session) return session.error();
  const Result<engine::EmitRequest> request = emit_request(options, *loaded, *session, watcher);
  if (!request) return request.error();
  Result<std::string> text = engine::emit_stage(stage, *request);
  if (!text) return text.error();
  return Emitted{loaded->cell, std::move(text).value()};
}

}  // namespace

Status emit(const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const Result<pipeline::Stage> stage = pipeline::parse_stage(options.stage);
  if (!stage) return stage.error();
  const Result<std::vector<pipeline::Pass>> kept = pipeline::passes_named(options.print_after);
  if (!kept) return kept.error();
  pipeline::PassRecord record(*kept);
  const bool watch = options.time_passes || !kept->empty();
  const Result<Emitted> result = emitted(options, *stage, watch ? &record : nullptr);
  if (!result) return result.error();
  const auto passes = record.texts();
  if (!passes) return passes.error();
  const auto times = record.rows();
  std::string contents = kept->empty() ? result->text : pipeline::print_texts(*passes);
  if (options.json)
    contents = emit_json(result->cell, options.stage, result->text, kept->empty() ? nullptr : &*passes,
                         options.time_passes ? &times : nullptr);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  if (options.time_passes && !options.json)
    std::fputs(pipeline::print_times(times, took.count()).c_str(), stderr);
  if (options.output == "-") {
    print(contents);
    return success();
  }
  if (Status status = engine::write_output(options.output, contents, input_files_of(options)); !status)
    return status;
  if (options.json) print(written_json({options.output}));
  return success();
}

}  // namespace rondo::tools
