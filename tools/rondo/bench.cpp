// `rondo bench`: time beside the copy bandwidth of the same run.
#include "tuner/bench.h"

#include <fmt/format.h>

#include "runtime/problem_text.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/session.h"

namespace rondo::tools {
namespace {

std::string bench_text(const tuner::BenchRow& row) {
  return fmt::format(
      "{} {} {} {}: {:.4f} ms, spread {:.1f}%, {:.3f} GB, {:.0f}% of a copy at {:.2f} TB/s, {} {} ({})\n",
      row.cell, runtime::shape_text(row.problem.sizes), kernel::storage_name(row.problem.storage),
      schedule::pass_key(row.problem), row.timing.median_s * 1e3, row.timing.decile_spread * 100,
      static_cast<double>(row.bytes) * 1e-9, row.share() * 100, row.copy_bytes_per_s * 1e-12,
      row.choice.strategy, schedule::print(row.choice.parameters), runtime::origin_name(row.choice.origin));
}

}  // namespace

Status bench(const Options& options) {
  const Result<LoadedCell> loaded = load_cell(options);
  if (!loaded) return loaded.error();
  const auto passes = runtime::parse_passes(options.pass);
  if (!passes) return passes.error();
  const Result<runtime::Wish> wish = wish_of(options);
  if (!wish) return wish.error();
  Result<Session> session = open_session(options, Use::Optional);
  if (!session) return session.error();
  std::vector<tuner::BenchRow> rows;
  for (const schedule::Pass pass : *passes) {
    const Result<schedule::Problem> problem = problem_of(options, loaded->cell, pass, *session);
    if (!problem) return problem.error();
    const double copy = rows.empty() ? 0 : rows.front().copy_bytes_per_s;
    Result<tuner::BenchRow> row =
        tuner::bench(loaded->cell, *problem, session->machine, *wish, session->db(), options.samples, copy);
    if (!row) return row.error();
    rows.push_back(std::move(row).value());
    if (!options.json) print(bench_text(rows.back()));
  }
  if (options.json) print(bench_json(session->machine.profile.name, rows));
  return success();
}

}  // namespace rondo::tools
