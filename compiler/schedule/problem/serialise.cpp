#include "compiler/schedule/problem/serialise.h"

namespace rondo::schedule {

namespace {

constexpr auto kProblem = [](auto& archive, auto& problem) {
  archive(problem.sizes.batch, problem.sizes.time, problem.sizes.heads, problem.sizes.dim);
  archive.one_of(problem.storage, kernel::Storage::F64);
  archive.one_of(problem.pass, Pass::Backward);
  archive.one_of(problem.math, kernel::Math::Tf32);
  archive.map(problem.constants, 12, kValue);
  archive(problem.save_products);
};

}  // namespace

void write_problem(ByteWriter& writer, const Problem& problem) { kProblem(writer, problem); }

Problem read_problem(ByteReader& reader) {
  Problem problem;
  kProblem(reader, problem);
  return problem;
}

}  // namespace rondo::schedule
