#include "engine/request/recorded_problem.h"

#include "compiler/frontend/frontend.h"
#include "engine/request/problem_text.h"

namespace rondo::engine {

std::optional<step::Cell> recorded_cell(const db::Cell& recorded) {
  for (const step::Cell& cell : frontend::parse(recorded.source, recorded.name).cells)
    if (step::canonical_hash(cell) == recorded.hash) return cell;
  return std::nullopt;
}

std::optional<schedule::Problem> recorded_problem(const db::Problem& recorded) {
  const auto storage = parse_dtype(recorded.dtype);
  const auto math = parse_math(recorded.math);
  if (!storage || !math) return std::nullopt;
  schedule::Problem problem;
  problem.sizes = {recorded.shape.B, recorded.shape.T, recorded.shape.H, recorded.shape.D};
  problem.storage = *storage;
  problem.math = *math;
  for (const schedule::Problem& of_pass : schedule::in_all_passes(problem))
    if (schedule::pass_key(of_pass) == recorded.pass) return of_pass;
  return std::nullopt;
}

}  // namespace rondo::engine
